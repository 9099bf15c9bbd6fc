// Multi-head attention (Vaswani et al. 2017, section 3.2.2): width 512, 8 heads of width 64.
!hidden = tensor<?x?x512xf32>
!heads = tensor<?x8x?x64xf32>
!scores = tensor<?x8x?x?xf32>
!matrix = tensor<512x512xf32>
!vector = tensor<512xf32>

module @attention attributes {heed.params = "attention.safetensors"} {
  // From every position of x to every position of y.
  func.func @attention(
      %x: !hidden {attn.name = "x", attn.shape = ["batch", "queries", 512]},
      %y: !hidden {attn.name = "y", attn.shape = ["batch", "keys", 512]})
      -> (!hidden {attn.name = "output", attn.shape = ["batch", "queries", 512]}) {
    %w_q = attn.param "query.weight" : !matrix
    %b_q = attn.param "query.bias" : !vector
    %w_k = attn.param "key.weight" : !matrix
    %b_k = attn.param "key.bias" : !vector
    %w_v = attn.param "value.weight" : !matrix
    %b_v = attn.param "value.bias" : !vector
    %w_o = attn.param "output.weight" : !matrix
    %b_o = attn.param "output.bias" : !vector

    %query = attn.linear %x, %w_q, %b_q : !hidden, !matrix, !vector -> !hidden
    %key = attn.linear %y, %w_k, %b_k : !hidden, !matrix, !vector -> !hidden
    %value = attn.linear %y, %w_v, %b_v : !hidden, !matrix, !vector -> !hidden
    %q = attn.split_heads %query heads(8) : !hidden -> !heads
    %k = attn.split_heads %key heads(8) : !hidden -> !heads
    %v = attn.split_heads %value heads(8) : !hidden -> !heads

    %scores = attn.matmul %q, %k transpose_rhs : (!heads, !heads) -> !scores
    %scaled = attn.scale %scores by 0.125 : !scores
    %weights = attn.softmax %scaled : !scores
    %attended = attn.matmul %weights, %v : (!scores, !heads) -> !heads

    %concat = attn.merge_heads %attended : !heads -> !hidden
    %output = attn.linear %concat, %w_o, %b_o : !hidden, !matrix, !vector -> !hidden
    return %output : !hidden
  }
}
