// A scale and causal masks of both alignments, in steps and fused.
!t = tensor<1x2x50x8xf32>
!s = tensor<1x2x50x50xf32>
module @masks {
  func.func @steps(%q: !t {attn.name = "q"}, %k: !t {attn.name = "k"},
      %v: !t {attn.name = "v"}) -> (!t {attn.name = "y"}) {
    %0 = attn.matmul %q, %k transpose_rhs : (!t, !t) -> !s
    %1 = attn.scale %0 by 0.35355339059327373 : !s
    %2 = attn.mask %1 keep(%b, %h, %i, %j, %queries, %keys) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    } : !s
    %3 = attn.softmax %2 : !s
    %4 = attn.matmul %3, %v : (!s, !t) -> !t
    return %4 : !t
  }
  func.func @fused(%q: !t {attn.name = "q"}, %k: !t {attn.name = "k"},
      %v: !t {attn.name = "v"}) -> (!t {attn.name = "y"}) {
    %0 = attn.attention %q, %k, %v scale(0.1) empty_rows(nan) keep(%b, %h, %i, %j, %queries, %keys) {
      %causal = attn.causal %i, %j bottom_right(%queries, %keys)
      %near = attn.window %i, %j before(40) after(20)
      %keep = arith.andi %causal, %near : i1
      attn.yield %keep : i1
    } : !t, !t, !t -> !t
    return %0 : !t
  }
}
