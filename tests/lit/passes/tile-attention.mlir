// RUN: heed-opt %s --attn-tile-attention --canonicalize --cse | FileCheck %s

// Keys are packed once, outside of the loop over tiles of queries; tiles of keys are walked inside of it.
// CHECK-LABEL: @QueriesInParallelKeysInTurn
//       CHECK:   scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (2, 4, {{.*}})
//       CHECK:     linalg.transpose
//       CHECK:   scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (2, 4, {{.*}})
//       CHECK:     scf.for
//       CHECK:       attn.online_attention {{.*}} base2
//       CHECK:     arith.divf
//       CHECK:     tensor.parallel_insert_slice
//   CHECK-NOT:   attn.attention
func.func @QueriesInParallelKeysInTurn(%q: tensor<2x4x1000x16xf32>, %k: tensor<2x4x?x16xf32>, %v: tensor<2x4x?x16xf32>) -> tensor<2x4x1000x16xf32> {
  %0 = attn.attention %q, %k, %v scale(0.25) : tensor<2x4x1000x16xf32>, tensor<2x4x?x16xf32>, tensor<2x4x?x16xf32> -> tensor<2x4x1000x16xf32>
  return %0 : tensor<2x4x1000x16xf32>
}

// Nothing as large as queries times keys is made.
// CHECK-LABEL: @NothingQuadratic
//   CHECK-NOT:   tensor<{{.*}}4096x4096
//       CHECK:   return
func.func @NothingQuadratic(%q: tensor<1x1x4096x16xf32>, %k: tensor<1x1x4096x16xf32>, %v: tensor<1x1x4096x16xf32>) -> tensor<1x1x4096x16xf32> {
  %0 = attn.attention %q, %k, %v : tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32> -> tensor<1x1x4096x16xf32>
  return %0 : tensor<1x1x4096x16xf32>
}

// Whole tiles below the diagonal are computed without the region, those across it for fewer queries at a time.
// CHECK-LABEL: @CausalSkipsAndTrims
//       CHECK:   scf.for %{{.*}} = %c0 to %[[FULL:[a-z0-9_]+]] step %[[STEP:[a-z0-9]+]]
//       CHECK:     attn.online_attention {{.*}}tensor<4x16x16xf32>, tensor<64x16xf32>
//   CHECK-NOT:     keep
//       CHECK:   scf.for %{{.*}} = %c0 to %{{.*}} step %c24
//       CHECK:     scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[STEP]]
//       CHECK:       attn.online_attention ins({{.*}} : tensor<?x16xf32>, tensor<?x16x16xf32>, tensor<?x16xf32>) {{.*}} keep
//       CHECK:     tensor.insert_slice
//   CHECK-NOT:   scf.for %
//       CHECK:   return
func.func @CausalSkipsAndTrims(%q: tensor<1x1x1000x16xf32>, %k: tensor<1x1x?x16xf32>, %v: tensor<1x1x?x16xf32>) -> tensor<1x1x1000x16xf32> {
  %0 = attn.attention %q, %k, %v keep(%b, %h, %i, %j, %lq, %lk) {
    %keep = attn.causal %i, %j
    attn.yield %keep : i1
  } : tensor<1x1x1000x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x1000x16xf32>
  return %0 : tensor<1x1x1000x16xf32>
}

// A length read per batch entry is no more than the end of the loop.
// CHECK-LABEL: @PaddingIsABound
//       CHECK:   %[[LENGTH:.*]] = tensor.extract %arg3
//       CHECK:   scf.for %
//       CHECK:     attn.online_attention
//   CHECK-NOT:     keep
//   CHECK-NOT:   scf.for %
//       CHECK:   return
func.func @PaddingIsABound(%q: tensor<2x1x1000x16xf32>, %k: tensor<2x1x?x16xf32>, %v: tensor<2x1x?x16xf32>, %n: tensor<2xi32>) -> tensor<2x1x1000x16xf32> {
  %0 = attn.attention %q, %k, %v reads(%n : tensor<2xi32>) maps [affine_map<(b, h, q, k) -> (b)>] keep(%b, %h, %i, %j, %lq, %lk, %valid) {
    %length = arith.index_cast %valid : i32 to index
    %keep = attn.prefix %j, %length
    attn.yield %keep : i1
  } : tensor<2x1x1000x16xf32>, tensor<2x1x?x16xf32>, tensor<2x1x?x16xf32> -> tensor<2x1x1000x16xf32>
  return %0 : tensor<2x1x1000x16xf32>
}

// Two intervals, the first keys and a window, share one copy of the code.
// CHECK-LABEL: @SinkAndWindowShareTheirCode
//       CHECK:   scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK-COUNT-2:   attn.online_attention
//   CHECK-NOT:   attn.online_attention
//       CHECK:   return
func.func @SinkAndWindowShareTheirCode(%q: tensor<1x1x1000x16xf32>, %k: tensor<1x1x?x16xf32>, %v: tensor<1x1x?x16xf32>) -> tensor<1x1x1000x16xf32> {
  %0 = attn.attention %q, %k, %v keep(%b, %h, %i, %j, %lq, %lk) {
    %four = arith.constant 4 : index
    %first = attn.prefix %j, %four
    %near = attn.window %i, %j before(255) after(0)
    %keep = arith.ori %first, %near : i1
    attn.yield %keep : i1
  } : tensor<1x1x1000x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x1000x16xf32>
  return %0 : tensor<1x1x1000x16xf32>
}
