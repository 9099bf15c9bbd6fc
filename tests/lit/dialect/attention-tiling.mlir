// RUN: heed-opt %s --attn-apply-schedule=file=%S/Inputs/tile-attention.mlir --canonicalize --cse | FileCheck %s

!q = tensor<2x4x35x8xf32>
!k = tensor<2x4x?x8xf32>

// Regions see positions in the whole: query indices count from the tile's first, which is their offset.
// CHECK-LABEL: @PositionsGoOn
//       CHECK:   scf.forall (%[[B:.*]], %{{.*}}, %[[TILE:.*]]) in (2, 2, 3)
//   CHECK-DAG:     %[[H:.*]] = affine.apply
//   CHECK-DAG:     %[[Q:.*]] = affine.apply #{{.*}}(%[[TILE]])
//   CHECK-DAG:     %[[ROWS:.*]] = affine.min #{{.*}}(%[[TILE]])
//   CHECK-DAG:     %[[QUERIES:.*]] = tensor.extract_slice %arg0[%[[B]], %[[H]], %[[Q]], 0] [1, 2, %[[ROWS]], 8]
//   CHECK-DAG:     %[[KEYS:.*]] = tensor.extract_slice %arg1[%[[B]], %[[H]], 0, 0]
//       CHECK:     %[[PART:.*]] = attn.attention %[[QUERIES]], %[[KEYS]], %{{.*}} query_offset(%[[Q]] : index) keep
//  CHECK-NEXT:       attn.causal %query, %key
//       CHECK:     tensor.parallel_insert_slice %[[PART]] into %{{.*}}[%[[B]], %[[H]], %[[Q]], 0] [1, 2, %[[ROWS]], 8]
func.func @PositionsGoOn(%q: !q, %k: !k, %v: !k) -> !q {
  %0 = attn.attention %q, %k, %v keep(%b, %h, %i, %j, %query_len, %key_len) {
    %keep = attn.causal %i, %j
    attn.yield %keep : i1
  } : !q, !k, !k -> !q
  return %0 : !q
}

// The query length is that of the whole: a constant, or a read where only run time knows it.
// CHECK-LABEL: @LengthsOfTheWhole
//       CHECK:     attn.attention %{{.*}} query_offset(%{{.*}} : index) keep
//       CHECK:       %[[LENGTH:.*]] = arith.constant 35 : index
//       CHECK:       attn.causal %query, %key bottom_right(%[[LENGTH]], %key_len)
//       CHECK:     %[[ALL:.*]] = tensor.dim %arg3
//       CHECK:     %[[NUMBER:.*]] = arith.index_cast %[[ALL]] : index to i64
//       CHECK:     %[[SCALAR:.*]] = tensor.from_elements %[[NUMBER]]
//       CHECK:     attn.attention %{{.*}} reads(%[[SCALAR]] : tensor<i64>) maps {{.*}} keep({{.*}}, %[[READ:.*]]) {
//       CHECK:       %[[LENGTH:.*]] = arith.index_cast %[[READ]] : i64 to index
//       CHECK:       attn.causal %query, %key bottom_right(%[[LENGTH]], %key_len)
func.func @LengthsOfTheWhole(%q: !q, %k: !k, %v: !k, %r: !k, %s: !k) -> (!q, !k) {
  %0 = attn.attention %q, %k, %v keep(%b, %h, %i, %j, %query_len, %key_len) {
    %keep = attn.causal %i, %j bottom_right(%query_len, %key_len)
    attn.yield %keep : i1
  } : !q, !k, !k -> !q
  %1 = attn.attention %r, %k, %v keep(%b, %h, %i, %j, %query_len, %key_len) {
    %keep = attn.causal %i, %j bottom_right(%query_len, %key_len)
    attn.yield %keep : i1
  } : !k, !k, !k -> !k
  return %0, %1 : !q, !k
}

// CHECK-LABEL: @ReadsByBatchAndHeadAreSliced
//   CHECK-DAG:     %[[SLOPES:.*]] = tensor.extract_slice %arg3[%[[H:.*]]] [2] [1]
//   CHECK-DAG:     %[[BIAS:.*]] = tensor.extract_slice %arg4[%{{.*}}, %{{.*}}, 0, 0] [1, 2, 35, %{{.*}}]
//       CHECK:     attn.attention %{{.*}} reads(%[[SLOPES]], %[[BIAS]] : tensor<2xf32>, tensor<1x2x35x?xf32>)
func.func @ReadsByBatchAndHeadAreSliced(%q: !q, %k: !k, %v: !k, %slopes: tensor<4xf32>, %bias: tensor<2x4x35x?xf32>) -> !q {
  %0 = attn.attention %q, %k, %v reads(%slopes, %bias : tensor<4xf32>, tensor<2x4x35x?xf32>)
    maps [affine_map<(b, h, q, k) -> (h)>, affine_map<(b, h, q, k) -> (b, h, q, k)>]
    score(%s, %b, %h, %i, %j, %query_len, %key_len, %slope, %add) {
    %0 = arith.mulf %s, %slope : f32
    %1 = arith.addf %0, %add : f32
    attn.yield %1 : f32
  } : !q, !k, !k -> !q
  return %0 : !q
}

// CHECK-LABEL: @HeadsAreNumberedAsInTheWhole
//       CHECK:     %[[NUMBER:.*]] = arith.index_cast %{{.*}} : index to i64
//       CHECK:     %[[FIRST:.*]] = tensor.from_elements %[[NUMBER]]
//       CHECK:     attn.attention %{{.*}} reads(%arg3, %[[FIRST]] : tensor<32x4xf32>, tensor<i64>) {{.*}}, %[[TABLE:.*]], %[[READ:.*]]) {
//       CHECK:       %[[BEGIN:.*]] = arith.index_cast %[[READ]] : i64 to index
//       CHECK:       %[[HEAD:.*]] = arith.addi %head, %[[BEGIN]]
//       CHECK:       tensor.extract %[[TABLE]][%{{.*}}, %[[HEAD]]]
func.func @HeadsAreNumberedAsInTheWhole(%q: !q, %k: !k, %v: !k, %table: tensor<32x4xf32>) -> !q {
  %0 = attn.attention %q, %k, %v reads(%table : tensor<32x4xf32>) maps [affine_map<(b, h, q, k) -> ()>]
    score(%s, %b, %h, %i, %j, %query_len, %key_len, %bias) {
    %row = arith.constant 3 : index
    %0 = tensor.extract %bias[%row, %h] : tensor<32x4xf32>
    %1 = arith.addf %s, %0 : f32
    attn.yield %1 : f32
  } : !q, !k, !k -> !q
  return %0 : !q
}
