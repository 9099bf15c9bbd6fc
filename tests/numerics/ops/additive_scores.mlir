func.func @static(%q: tensor<5x12xELEM>, %k: tensor<9x12xELEM>, %v: tensor<12xELEM>) -> tensor<5x9xELEM> {
  %0 = attn.additive_scores %q, %k, %v : (tensor<5x12xELEM>, tensor<9x12xELEM>, tensor<12xELEM>) -> tensor<5x9xELEM>
  return %0 : tensor<5x9xELEM>
}
func.func @dynamic(%q: tensor<?x?x?xELEM> {attn.shape = ["b", "q", "u"]}, %k: tensor<?x?x?xELEM> {attn.shape = ["b", "k", "u"]}, %v: tensor<?xELEM> {attn.shape = ["u"]}) -> tensor<?x?x?xELEM> {
  %0 = attn.additive_scores %q, %k, %v : (tensor<?x?x?xELEM>, tensor<?x?x?xELEM>, tensor<?xELEM>) -> tensor<?x?x?xELEM>
  return %0 : tensor<?x?x?xELEM>
}
