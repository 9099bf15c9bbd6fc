// The kernel to embed: causal attention of any batch, head count and length, width 64.
!heads = tensor<?x?x?x64xf32>
!scores = tensor<?x?x?x?xf32>

module @attention {
  func.func @attention(
      %query: !heads {attn.name = "query", attn.shape = ["batch", "heads", "length", 64]},
      %key: !heads {attn.name = "key", attn.shape = ["batch", "heads", "length", 64]},
      %value: !heads {attn.name = "value", attn.shape = ["batch", "heads", "length", 64]})
      -> (!heads {attn.name = "output", attn.shape = ["batch", "heads", "length", 64]}) {
    %scores = attn.matmul %query, %key transpose_rhs : (!heads, !heads) -> !scores
    %scaled = attn.scale %scores by 0.125 : !scores
    %masked = attn.mask %scaled keep {
    ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys: index):
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    } : !scores
    %weights = attn.softmax %masked : !scores
    %output = attn.matmul %weights, %value : (!scores, !heads) -> !heads
    return %output : !heads
  }
}
