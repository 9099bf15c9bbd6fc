// Causal attention with a score operation that heed does not have; Kerple.cpp defines it.
!heads = tensor<?x4x?x32xf32>
!scores = tensor<?x4x?x?xf32>

module @attention {
  func.func @attention(
      %q: !heads {attn.name = "q", attn.shape = ["batch", 4, "queries", 32]},
      %k: !heads {attn.name = "k", attn.shape = ["batch", 4, "keys", 32]},
      %v: !heads {attn.name = "v", attn.shape = ["batch", 4, "keys", 32]},
      %r1: tensor<4xf32> {attn.name = "r1"}, %r2: tensor<4xf32> {attn.name = "r2"})
      -> (!heads {attn.name = "y"}) {
    %0 = attn.matmul %q, %k transpose_rhs : (!heads, !heads) -> !scores
    %1 = attn.scale %0 by 0.17677669529663687 : !scores
    %2 = kerple.log_bias %1, %r1, %r2 : !scores, tensor<4xf32>, tensor<4xf32>
    %3 = attn.mask %2 keep(%batch, %head, %query, %key, %query_len, %key_len) {
      %keep = attn.causal %query, %key
      attn.yield %keep : i1
    } : !scores
    %4 = attn.softmax %3 {attn.expect_fused} : !scores
    %5 = attn.matmul %4, %v : (!scores, !heads) -> !heads
    return %5 : !heads
  }
}
