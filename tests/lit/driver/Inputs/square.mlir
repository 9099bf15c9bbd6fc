// Attention with a bottom-right triangle: of as many keys as queries, and of any number, through a call.
module @square {
  func.func @square(%q: tensor<?x2x?x16xf32> {attn.name = "q", attn.shape = ["batch", 2, "seq", 16]},
                    %k: tensor<?x2x?x16xf32> {attn.name = "k", attn.shape = ["batch", 2, "seq", 16]},
                    %v: tensor<?x2x?x16xf32> {attn.name = "v", attn.shape = ["batch", 2, "seq", 16]})
      -> (tensor<?x2x?x16xf32> {attn.name = "y"}) {
    %0 = attn.attention %q, %k, %v keep(%b, %h, %i, %j, %query_len, %key_len) {
      %kept = attn.causal %i, %j bottom_right(%query_len, %key_len)
      attn.yield %kept : i1
    } : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32> -> tensor<?x2x?x16xf32>
    return %0 : tensor<?x2x?x16xf32>
  }

  func.func @called(%q: tensor<?x16xf32> {attn.name = "q", attn.shape = ["seq", 16]},
                    %k: tensor<?x16xf32> {attn.name = "k", attn.shape = ["seq", 16]},
                    %v: tensor<?x16xf32> {attn.name = "v", attn.shape = ["seq", 16]})
      -> (tensor<?x16xf32> {attn.name = "y"}) {
    %0 = attn.attention %q, %k, %v layout("qd,kd,ke->qe") keep(%b, %h, %i, %j, %query_len, %key_len) {
      %kept = attn.causal %i, %j bottom_right(%query_len, %key_len)
      attn.yield %kept : i1
    } : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
    return %0 : tensor<?x16xf32>
  }

  func.func @caller(%q: tensor<?x16xf32> {attn.name = "q", attn.shape = ["queries", 16]},
                    %k: tensor<?x16xf32> {attn.name = "k", attn.shape = ["keys", 16]},
                    %v: tensor<?x16xf32> {attn.name = "v", attn.shape = ["keys", 16]})
      -> (tensor<?x16xf32> {attn.name = "y", attn.shape = ["queries", 16]}) {
    %0 = call @called(%q, %k, %v) : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
    return %0 : tensor<?x16xf32>
  }
}
