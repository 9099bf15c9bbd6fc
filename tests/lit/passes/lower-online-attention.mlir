// RUN: heed-opt %s --attn-lower-online-attention | FileCheck %s

// Two products, and between them the running maximum and sum; the scale joins the first product's epilogue.
// CHECK-LABEL: @StepIsTwoProducts
//       CHECK:   attn.tile_matmul ins(%arg0, %arg1 :
//       CHECK:     arith.mulf
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
//       CHECK:     arith.maximumf
//       CHECK:   math.exp
//       CHECK:   %[[WEIGHTS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x?xf32>)
//       CHECK:     math.exp
//       CHECK:   attn.tile_matmul ins(%[[WEIGHTS]], %arg2 : {{.*}} accumulate
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
