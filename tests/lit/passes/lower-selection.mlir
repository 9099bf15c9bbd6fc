// RUN: heed-opt %s --attn-lower-selection | FileCheck %s

// A larger value wins, or a NaN over a number; among equals the lower index.
// CHECK-LABEL: @ArgmaxIsOneReduction
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
//       CHECK:     arith.cmpf uno, %[[IN:.*]], %[[IN]]
//       CHECK:     arith.cmpf ogt, %[[IN]], %[[BEST:.*]] : f32
//       CHECK:     arith.cmpf oeq, %[[IN]], %[[BEST]]
//       CHECK:     arith.cmpi slt
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @ArgmaxIsOneReduction(%x: tensor<3x40xf32>) -> tensor<3xi64> {
  %0 = attn.argmax %x : tensor<3x40xf32> -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// CHECK-LABEL: @TopKIsAReductionPerElement
//       CHECK:   linalg.generic
//       CHECK:   scf.for
//       CHECK:     linalg.generic
//   CHECK-NOT:   attn.top_k
//       CHECK:   return
func.func @TopKIsAReductionPerElement(%x: tensor<3x40xf32>) -> (tensor<3x5xf32>, tensor<3x5xi64>) {
  %values, %indices = attn.top_k %x k(5) : tensor<3x40xf32> -> tensor<3x5xf32>, tensor<3x5xi64>
  return %values, %indices : tensor<3x5xf32>, tensor<3x5xi64>
}
