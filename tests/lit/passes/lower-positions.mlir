// RUN: heed-opt %s --attn-lower-positions | FileCheck %s

// CHECK-LABEL: @LearnedPositionsReadTheirTable
//       CHECK:   linalg.generic {{.*}} ins(%arg0 :
//   CHECK-DAG:     %[[POSITION:.*]] = linalg.index 1
//   CHECK-DAG:     %[[UNIT:.*]] = linalg.index 2
//       CHECK:     tensor.extract %arg1[%[[POSITION]], %[[UNIT]]]
//       CHECK:     arith.addf
func.func @LearnedPositionsReadTheirTable(%x: tensor<2x9x10xf32>, %table: tensor<12x10xf32>) -> tensor<2x9x10xf32> {
  %0 = attn.learned_positions %x, %table : tensor<2x9x10xf32>, tensor<12x10xf32>
  return %0 : tensor<2x9x10xf32>
}

// Whole turns are taken off in f64, so that f32 functions of the angle stay exact at any position.
// CHECK-LABEL: @AnglesAreReducedInF64
//       CHECK:   %[[ANGLE:.*]] = arith.truncf %{{.*}} : f64 to f32
//   CHECK-DAG:   math.cos %[[ANGLE]] : f32
//   CHECK-DAG:   math.sin %[[ANGLE]] : f32
//   CHECK-NOT:   attn.rotary
func.func @AnglesAreReducedInF64(%x: tensor<2x9x16xf32>) -> tensor<2x9x16xf32> {
  %0 = attn.rotary %x pairing(halves) : tensor<2x9x16xf32>
  return %0 : tensor<2x9x16xf32>
}
