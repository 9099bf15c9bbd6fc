// RUN: heed-opt %s --attn-lower-layers | FileCheck %s

// CHECK-LABEL: @HalfIsComputedInF32
//       CHECK:   linalg.generic
//       CHECK:     %[[X:.*]] = arith.extf %{{.*}} : bf16 to f32
//       CHECK:     %[[Y:.*]] = arith.maximumf %[[X]], %{{.*}} : f32
//       CHECK:     arith.truncf %[[Y]] : f32 to bf16
func.func @HalfIsComputedInF32(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %0 = attn.relu %x : tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}

// A bias of NaN or +inf leaves a pair alone that is not kept; a scale cannot but leave it.
// CHECK-LABEL: @MinusInfinityStays
//       CHECK:   arith.mulf
//   CHECK-NOT:   arith.select
//       CHECK:   linalg.generic
//       CHECK:     %[[SUM:.*]] = arith.addf %[[X:.*]], %{{.*}}
//       CHECK:     %[[NONE:.*]] = arith.cmpf oeq, %[[X]], %[[INF:.*]] :
//       CHECK:     arith.select %[[NONE]], %[[INF]], %[[SUM]]
func.func @MinusInfinityStays(%x: tensor<?x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = attn.scale %x by 0.5 : tensor<?x8xf32>
  %1 = attn.bias %0, %b : tensor<?x8xf32>, tensor<8xf32>
  return %1 : tensor<?x8xf32>
}

// The maximum is subtracted, save where it is −inf; a score of −inf has no weight, a sum of zero gives zeros.
// CHECK-LABEL: @SoftmaxOfAnEmptyRowIsZeros
//   CHECK-DAG:   %[[ZERO:.*]] = arith.constant 0.0
//   CHECK-DAG:   %[[INF:.*]] = arith.constant 0xFF800000
//       CHECK:   arith.maximumf
//       CHECK:   %[[EMPTY:.*]] = arith.cmpf oeq, %{{.*}}, %[[INF]]
//       CHECK:   arith.select %[[EMPTY]], %[[ZERO]]
//       CHECK:   math.exp
//       CHECK:   arith.addf
//       CHECK:   %[[QUOTIENT:.*]] = arith.divf
//       CHECK:   %[[DROPPED:.*]] = arith.cmpf oeq, %{{.*}}, %[[INF]]
//       CHECK:   %[[WEIGHT:.*]] = arith.select %[[DROPPED]], %{{.*}}, %[[QUOTIENT]]
//       CHECK:   %[[NONE:.*]] = arith.cmpf oeq, %{{.*}}, %[[ZERO]]
//       CHECK:   arith.select %[[NONE]], %[[ZERO]], %[[WEIGHT]]
func.func @SoftmaxOfAnEmptyRowIsZeros(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = attn.softmax %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
