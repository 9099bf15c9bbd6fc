// RUN: heed-opt %s --attn-lower-positions | FileCheck %s
// RUN: heed-opt %s --attn-lower-positions --canonicalize --cse | FileCheck %s --check-prefix=CSE

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

// CHECK-LABEL: @HeadsShareOneTable
//       CHECK:   %[[TABLES:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<9x8xf32>, tensor<9x8xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%arg0 :
//   CHECK-DAG:     %[[POSITION:.*]] = linalg.index 2
//   CHECK-DAG:     tensor.extract %[[TABLES]]#0[%[[POSITION]], %[[PAIR:.*]]]
//   CHECK-DAG:     tensor.extract %[[TABLES]]#1[%[[POSITION]], %[[PAIR]]]
func.func @HeadsShareOneTable(%x: tensor<2x3x9x16xf32>) -> tensor<2x3x9x16xf32> {
  %0 = attn.rotary %x pairing(interleaved) : tensor<2x3x9x16xf32>
  return %0 : tensor<2x3x9x16xf32>
}

// CHECK-LABEL: @EntriesWithOffsetsHaveTheirOwnTables
//       CHECK:   %[[TABLES:.*]]:2 = linalg.generic {{.*}} : tensor<2x9x8xf32>, tensor<2x9x8xf32>)
//       CHECK:     tensor.extract %arg1[
//       CHECK:   %[[ENTRY:.*]] = linalg.index 0
//       CHECK:     tensor.extract %[[TABLES]]#0[%[[ENTRY]], %{{.*}}, %{{.*}}]
func.func @EntriesWithOffsetsHaveTheirOwnTables(%x: tensor<2x9x16xf32>, %offset: tensor<2xi64>) -> tensor<2x9x16xf32> {
  %0 = attn.sinusoidal_positions %x offset(%offset : tensor<2xi64>) : tensor<2x9x16xf32>
  return %0 : tensor<2x9x16xf32>
}

// CSE-LABEL: @QueriesAndKeysShareTables
//       CSE:   math.cos
//   CSE-NOT:   math.cos
//       CSE:   return
func.func @QueriesAndKeysShareTables(%q: tensor<2x4x9x16xf32>, %k: tensor<2x1x9x16xf32>) -> (tensor<2x4x9x16xf32>, tensor<2x1x9x16xf32>) {
  %0 = attn.rotary %q pairing(halves) : tensor<2x4x9x16xf32>
  %1 = attn.rotary %k pairing(halves) : tensor<2x1x9x16xf32>
  return %0, %1 : tensor<2x4x9x16xf32>, tensor<2x1x9x16xf32>
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
