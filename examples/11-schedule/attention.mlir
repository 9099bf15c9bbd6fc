// Causal attention whose result is gated element by element.
!heads = tensor<?x8x?x64xf32>

module @attention {
  func.func @attention(
      %q: !heads {attn.name = "q", attn.shape = ["batch", 8, "length", 64]},
      %k: !heads {attn.name = "k", attn.shape = ["batch", 8, "length", 64]},
      %v: !heads {attn.name = "v", attn.shape = ["batch", 8, "length", 64]},
      %gate: !heads {attn.name = "gate", attn.shape = ["batch", 8, "length", 64]})
      -> (!heads {attn.name = "y"}) {
    %0 = attn.attention %q, %k, %v scale(0.125) keep(%b, %h, %i, %j, %query_len, %key_len) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    } : !heads, !heads, !heads -> !heads
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %batch = tensor.dim %q, %zero : !heads
    %length = tensor.dim %q, %two : !heads
    %empty = tensor.empty(%batch, %length) : !heads
    %1 = linalg.mul ins(%0, %gate : !heads, !heads) outs(%empty : !heads) -> !heads
    return %1 : !heads
  }
}
