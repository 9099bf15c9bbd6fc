// RUN: heed-opt %s --attn-lower-online-attention | FileCheck %s

// The scale joins the first product's epilogue. While scores are computed, the values come into the cache.
// CHECK-LABEL: @StepIsTwoProducts
//       CHECK:   attn.tile_matmul ins(%arg0, %arg1 : {{.*}} ahead(%arg2 : tensor<?x24xf32>)
//       CHECK:     arith.mulf
//       CHECK:   %[[SOFTMAX:.*]]:4 = attn.tile_softmax outs(%{{.*}}, %arg9, %arg10, %arg11 :
//       CHECK:   attn.tile_matmul ins(%[[SOFTMAX]]#0, %arg2 : {{.*}} outs(%[[SOFTMAX]]#1 : {{.*}} accumulate
//   CHECK-NOT:   attn.online_attention
func.func @StepIsTwoProducts(%q: tensor<?x16xf32>, %k: tensor<?x16x16xf32>, %v: tensor<?x24xf32>,
    %batch: index, %head: index, %query: index, %key: index, %query_len: index, %key_len: index,
    %acc: tensor<?x24xf32>, %max: tensor<?xf32>, %sum: tensor<?x16xf32>) -> (tensor<?x24xf32>, tensor<?xf32>, tensor<?x16xf32>) {
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<?x16xf32>, tensor<?x16x16xf32>, tensor<?x24xf32>)
    origin(%batch, %head, %query, %key, %query_len, %key_len)
    outs(%acc, %max, %sum : tensor<?x24xf32>, tensor<?xf32>, tensor<?x16xf32>) scale(0.25)
    : tensor<?x24xf32>, tensor<?xf32>, tensor<?x16xf32>
  return %0#0, %0#1, %0#2 : tensor<?x24xf32>, tensor<?xf32>, tensor<?x16xf32>
}

// Whether pairs are asked is known when the code runs: of the step, only that is in the condition.
// CHECK-LABEL: @MayKeepAll
//       CHECK:   %[[SCORES:.*]] = attn.tile_matmul ins(%arg0, %arg1 :
//       CHECK:   %[[CHOSEN:.*]] = scf.if %arg12
//       CHECK:     %[[MASKED:.*]] = linalg.generic
//       CHECK:       attn.causal
//       CHECK:     scf.yield %[[MASKED]]
//       CHECK:   } else {
//  CHECK-NEXT:     scf.yield %[[SCORES]]
//       CHECK:   attn.tile_softmax outs(%[[CHOSEN]], {{.*}} masked
//       CHECK:   attn.tile_matmul {{.*}} accumulate masked
func.func @MayKeepAll(%q: tensor<6x16xf32>, %k: tensor<4x16x16xf32>, %v: tensor<64x24xf32>,
    %batch: index, %head: index, %query: index, %key: index, %query_len: index, %key_len: index,
    %acc: tensor<6x24xf32>, %max: tensor<6xf32>, %sum: tensor<6x16xf32>, %asks: i1) -> tensor<6x24xf32> {
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<6x16xf32>, tensor<4x16x16xf32>, tensor<64x24xf32>)
    origin(%batch, %head, %query, %key, %query_len, %key_len)
    outs(%acc, %max, %sum : tensor<6x24xf32>, tensor<6xf32>, tensor<6x16xf32>) asks(%asks) keep(%b, %h, %i, %j, %lq, %lk) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    } : tensor<6x24xf32>, tensor<6xf32>, tensor<6x16xf32>
  return %0#0 : tensor<6x24xf32>
}

// While values are multiplied, the keys of the next step do.
// CHECK-LABEL: @KeysComeAhead
//       CHECK:   attn.tile_matmul {{.*}} ahead(%arg2 : tensor<64x24xf32>)
//       CHECK:   attn.tile_matmul {{.*}} accumulate ahead(%arg3 : tensor<?x16xf32>)
func.func @KeysComeAhead(%q: tensor<6x16xf32>, %k: tensor<4x16x16xf32>, %v: tensor<64x24xf32>, %next: tensor<?x16xf32>,
    %i: index, %acc: tensor<6x24xf32>, %max: tensor<6xf32>, %sum: tensor<6x16xf32>) -> tensor<6x24xf32> {
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<6x16xf32>, tensor<4x16x16xf32>, tensor<64x24xf32>)
    origin(%i, %i, %i, %i, %i, %i) outs(%acc, %max, %sum : tensor<6x24xf32>, tensor<6xf32>, tensor<6x16xf32>)
    ahead(%next : tensor<?x16xf32>) : tensor<6x24xf32>, tensor<6xf32>, tensor<6x16xf32>
  return %0#0 : tensor<6x24xf32>
}

// Keys that lie row after row are read once, for all queries.
// CHECK-LABEL: @RowsOfKeysAreNotPacked
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 :
//       CHECK:   attn.tile_softmax {{.*}} base2
//       CHECK:   attn.tile_matmul {{.*}} accumulate
func.func @RowsOfKeysAreNotPacked(%q: tensor<2x16xf32>, %k: tensor<?x16xf32>, %v: tensor<?x24xf32>, %i: index,
    %acc: tensor<2x24xf32>, %row: tensor<2xf32>, %sum: tensor<2x16xf32>) -> tensor<2x24xf32> {
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<2x16xf32>, tensor<?x16xf32>, tensor<?x24xf32>)
    origin(%i, %i, %i, %i, %i, %i) outs(%acc, %row, %sum : tensor<2x24xf32>, tensor<2xf32>, tensor<2x16xf32>) base2
    : tensor<2x24xf32>, tensor<2xf32>, tensor<2x16xf32>
  return %0#0 : tensor<2x24xf32>
}
