// RUN: heed-opt %s --attn-tile-attention --canonicalize --cse | FileCheck %s

// What is read of a tile's queries and keys says whether it is skipped, asked, or full.
// CHECK-LABEL: @DocumentsBoundTiles
//       CHECK:   arith.minsi %out, %in : i32
//       CHECK:   arith.maxsi %out, %in : i32
//       CHECK:   %[[SAME:.+]] = arith.andi
//       CHECK:   %[[KEPT:.+]] = arith.andi
//       CHECK:   %[[DROPPED:.+]] = arith.xori %[[SAME]]
//       CHECK:   scf.if %[[KEPT]] -> (tensor<
//       CHECK:     scf.if %[[SAME]] -> (index, index)
//       CHECK:     attn.online_attention {{.*}} asks(%[[DROPPED]]) ahead({{.*}}) reads({{.*}}) maps {{.*}} keep
//   CHECK-NOT:     attn.online_attention
//       CHECK:   } else {
//  CHECK-NEXT:     scf.yield
func.func @DocumentsBoundTiles(%q: tensor<1x1x64x8xf32>, %k: tensor<1x1x300x8xf32>, %v: tensor<1x1x300x8xf32>,
    %x: tensor<64xi32>, %y: tensor<300xi32>) -> tensor<1x1x64x8xf32> {
  %0 = attn.attention %q, %k, %v reads(%x, %y : tensor<64xi32>, tensor<300xi32>)
    maps [affine_map<(b, h, q, k) -> (q)>, affine_map<(b, h, q, k) -> (k)>] keep(%b, %h, %i, %j, %lq, %lk, %a, %c) {
    %keep = attn.same_document %a, %c : i32
    attn.yield %keep : i1
  } : tensor<1x1x64x8xf32>, tensor<1x1x300x8xf32>, tensor<1x1x300x8xf32> -> tensor<1x1x64x8xf32>
  return %0 : tensor<1x1x64x8xf32>
}
