// RUN: heed-opt %s --attn-tile-attention --canonicalize --cse | FileCheck %s

// Keys are packed once, outside of the loop over tiles of queries; tiles of keys are walked inside of it.
// CHECK-LABEL: @QueriesInParallelKeysInTurn
//       CHECK:   scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (2, 4, %{{.*}})
//       CHECK:     linalg.transpose
//       CHECK:   scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (2, 4, %{{.*}})
//       CHECK:     scf.for
//       CHECK:       attn.online_attention {{.*}} base2
//       CHECK:     arith.divf
//       CHECK:     tensor.parallel_insert_slice
//   CHECK-NOT:   attn.attention
func.func @QueriesInParallelKeysInTurn(%q: tensor<2x4x?x16xf32>, %k: tensor<2x4x?x16xf32>, %v: tensor<2x4x?x16xf32>) -> tensor<2x4x?x16xf32> {
  %0 = attn.attention %q, %k, %v scale(0.25) : tensor<2x4x?x16xf32>, tensor<2x4x?x16xf32>, tensor<2x4x?x16xf32> -> tensor<2x4x?x16xf32>
  return %0 : tensor<2x4x?x16xf32>
}

// Nothing as large as queries times keys is made.
// CHECK-LABEL: @NothingQuadratic
//   CHECK-NOT:   tensor<{{.*}}4096x4096
//       CHECK:   return
func.func @NothingQuadratic(%q: tensor<1x1x4096x16xf32>, %k: tensor<1x1x4096x16xf32>, %v: tensor<1x1x4096x16xf32>) -> tensor<1x1x4096x16xf32> {
  %0 = attn.attention %q, %k, %v : tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32> -> tensor<1x1x4096x16xf32>
  return %0 : tensor<1x1x4096x16xf32>
}
