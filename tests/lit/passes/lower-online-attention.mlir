// RUN: heed-opt %s --attn-lower-online-attention | FileCheck %s

// Two products, and between them, row by row, the running maximum and sum; the scale joins the first product's
// epilogue. What was summed up is scaled in a branch.
// CHECK-LABEL: @StepIsTwoProducts
//       CHECK:   attn.tile_matmul ins(%arg0, %arg1 :
//       CHECK:     arith.mulf
//       CHECK:   %[[ROWS:.*]]:4 = scf.for
//       CHECK:     arith.cmpf ogt
//       CHECK:     vector.reduction <or>
//       CHECK:     scf.if
//       CHECK:       math.exp2 {{.*}} : f32
//       CHECK:     } else {
//       CHECK:     math.exp2 {{.*}} fastmath<afn> : vector<16xf32>
//       CHECK:     vector.reduction <add>, {{.*}} fastmath<reassoc>
//       CHECK:   attn.tile_matmul ins(%[[ROWS]]#0, %arg2 : {{.*}} accumulate
//   CHECK-NOT:   attn.online_attention
func.func @StepIsTwoProducts(%q: tensor<?x16xf32>, %k: tensor<?x16x16xf32>, %v: tensor<?x24xf32>,
    %batch: index, %head: index, %query: index, %key: index, %query_len: index, %key_len: index,
    %acc: tensor<?x24xf32>, %max: tensor<?xf32>, %sum: tensor<?xf32>) -> (tensor<?x24xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<?x16xf32>, tensor<?x16x16xf32>, tensor<?x24xf32>)
    origin(%batch, %head, %query, %key, %query_len, %key_len)
    outs(%acc, %max, %sum : tensor<?x24xf32>, tensor<?xf32>, tensor<?xf32>) scale(0.25)
    : tensor<?x24xf32>, tensor<?xf32>, tensor<?xf32>
  return %0#0, %0#1, %0#2 : tensor<?x24xf32>, tensor<?xf32>, tensor<?xf32>
}

// Keys that lie row after row are read once, for all queries.
// CHECK-LABEL: @RowsOfKeysAreNotPacked
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 :
//       CHECK:   scf.for
//       CHECK:   attn.tile_matmul {{.*}} accumulate
func.func @RowsOfKeysAreNotPacked(%q: tensor<2x16xf32>, %k: tensor<?x16xf32>, %v: tensor<?x24xf32>, %i: index,
    %acc: tensor<2x24xf32>, %row: tensor<2xf32>) -> tensor<2x24xf32> {
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<2x16xf32>, tensor<?x16xf32>, tensor<?x24xf32>)
    origin(%i, %i, %i, %i, %i, %i) outs(%acc, %row, %row : tensor<2x24xf32>, tensor<2xf32>, tensor<2xf32>) base2
    : tensor<2x24xf32>, tensor<2xf32>, tensor<2xf32>
  return %0#0 : tensor<2x24xf32>
}
