func.func @causal(%x: tensor<?x?xELEM>) -> tensor<?x?xELEM> {
  %0 = attn.mask %x keep {
  ^bb0(%batch: index, %head: index, %i: index, %j: index, %ql: index, %kl: index):
    %c = attn.causal %i, %j
    attn.yield %c : i1
  } : tensor<?x?xELEM>
  return %0 : tensor<?x?xELEM>
}
func.func @read(%x: tensor<?x2x?x?xELEM> {attn.shape = ["b", 2, "q", "k"]}, %m: tensor<?x?xi1> {attn.shape = ["b", "k"]}) -> tensor<?x2x?x?xELEM> {
  %0 = attn.mask %x reads(%m : tensor<?x?xi1>) maps [affine_map<(b, h, q, k) -> (b, k)>] keep {
  ^bb0(%batch: index, %head: index, %i: index, %j: index, %ql: index, %kl: index, %e: i1):
    attn.yield %e : i1
  } : tensor<?x2x?x?xELEM>
  return %0 : tensor<?x2x?x?xELEM>
}
