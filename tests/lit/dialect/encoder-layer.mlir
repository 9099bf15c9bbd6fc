// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// An encoder layer as a person reads it (Vaswani et al. 2017, figure 1, left): values have the names of the paper.
!x = tensor<?x?x512xf32>
!heads = tensor<?x8x?x64xf32>
!scores = tensor<?x8x?x?xf32>
!w = tensor<512x512xf32>
!b = tensor<512xf32>

// CHECK-LABEL: @EncoderLayer
//       CHECK:   %query = attn.linear %arg0, %query_weight, %query_bias
//  CHECK-NEXT:   %heads = attn.split_heads %query heads(8)
//       CHECK:   %key = attn.linear %arg0, %key_weight, %key_bias
//  CHECK-NEXT:   %heads_0 = attn.split_heads %key heads(8)
//       CHECK:   %value = attn.linear %arg0, %value_weight, %value_bias
//  CHECK-NEXT:   %heads_1 = attn.split_heads %value heads(8)
//  CHECK-NEXT:   %scores = attn.matmul %heads, %heads_0 transpose_rhs
//  CHECK-NEXT:   %scores_2 = attn.scale %scores by 1.250000e-01
//  CHECK-NEXT:   %scores_3 = attn.mask %scores_2 reads(%arg1 : tensor<?x?xi1>) maps [#{{.*}}] keep(%batch, %head, %query_{{.*}}, %key_{{.*}}, %query_len, %key_len, %read) {
//  CHECK-NEXT:     attn.yield %read : i1
//  CHECK-NEXT:   } : tensor<?x8x?x?xf32>
//  CHECK-NEXT:   %weights = attn.softmax %scores_3
//  CHECK-NEXT:   %product = attn.matmul %weights, %heads_1
//  CHECK-NEXT:   %merged = attn.merge_heads %product
//       CHECK:   %output = attn.linear %merged, %output_weight, %output_bias
//       CHECK:   %normalized = attn.layer_norm
//       CHECK:   %inner = attn.linear %normalized, %inner_weight, %inner_bias
//  CHECK-NEXT:   %activated = attn.relu %inner
//       CHECK:   %outer = attn.linear %activated, %outer_weight, %outer_bias
//       CHECK:   return %normalized_{{[0-9]+}}
func.func @EncoderLayer(%x: !x, %valid: tensor<?x?xi1>) -> !x {
  %wq = attn.param "attention.query.weight" : !w
  %bq = attn.param "attention.query.bias" : !b
  %q = attn.linear %x, %wq, %bq : !x, !w, !b -> !x
  %qh = attn.split_heads %q heads(8) : !x -> !heads
  %wk = attn.param "attention.key.weight" : !w
  %bk = attn.param "attention.key.bias" : !b
  %k = attn.linear %x, %wk, %bk : !x, !w, !b -> !x
  %kh = attn.split_heads %k heads(8) : !x -> !heads
  %wv = attn.param "attention.value.weight" : !w
  %bv = attn.param "attention.value.bias" : !b
  %v = attn.linear %x, %wv, %bv : !x, !w, !b -> !x
  %vh = attn.split_heads %v heads(8) : !x -> !heads
  %dots = attn.matmul %qh, %kh transpose_rhs : (!heads, !heads) -> !scores
  %scaled = attn.scale %dots by 0.125 : !scores
  %masked = attn.mask %scaled reads(%valid : tensor<?x?xi1>) maps [affine_map<(b, h, q, k) -> (b, k)>]
    keep(%batch, %head, %i, %j, %query_len, %key_len, %flag) {
    attn.yield %flag : i1
  } : !scores
  %weights = attn.softmax %masked : !scores
  %sums = attn.matmul %weights, %vh : (!scores, !heads) -> !heads
  %merged = attn.merge_heads %sums : !heads -> !x
  %wo = attn.param "attention.output.weight" : !w
  %bo = attn.param "attention.output.bias" : !b
  %o = attn.linear %merged, %wo, %bo : !x, !w, !b -> !x
  %residual = arith.addf %x, %o : !x
  %g = attn.param "attention.norm.weight" : !b
  %c = attn.param "attention.norm.bias" : !b
  %n = attn.layer_norm %residual, %g, %c epsilon(1.0e-5) : !x, !b, !b
  %w1 = attn.param "feed_forward.inner.weight" : tensor<2048x512xf32>
  %b1 = attn.param "feed_forward.inner.bias" : tensor<2048xf32>
  %h1 = attn.linear %n, %w1, %b1 : !x, tensor<2048x512xf32>, tensor<2048xf32> -> tensor<?x?x2048xf32>
  %a = attn.relu %h1 : tensor<?x?x2048xf32>
  %w2 = attn.param "feed_forward.outer.weight" : tensor<512x2048xf32>
  %b2 = attn.param "feed_forward.outer.bias" : !b
  %h2 = attn.linear %a, %w2, %b2 : tensor<?x?x2048xf32>, tensor<512x2048xf32>, !b -> !x
  %residual2 = arith.addf %n, %h2 : !x
  %g2 = attn.param "feed_forward.norm.weight" : !b
  %c2 = attn.param "feed_forward.norm.bias" : !b
  %n2 = attn.layer_norm %residual2, %g2, %c2 epsilon(1.0e-5) : !x, !b, !b
  return %n2 : !x
}
