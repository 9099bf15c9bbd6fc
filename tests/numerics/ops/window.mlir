func.func @static(%q: tensor<1x2x19x8xELEM>, %k: tensor<1x2x33x8xELEM>, %v: tensor<1x2x33x8xELEM>) -> tensor<1x2x19x8xELEM> {
  %0 = attn.attention %q, %k, %v scale(0.35)  keep {
  ^bb0(%batch: index, %head: index, %i: index, %j: index, %ql: index, %kl: index):
    %keep = attn.window %i, %j before(3) after(1)
    attn.yield %keep : i1
  } : tensor<1x2x19x8xELEM>, tensor<1x2x33x8xELEM>, tensor<1x2x33x8xELEM> -> tensor<1x2x19x8xELEM>
  return %0 : tensor<1x2x19x8xELEM>
}
func.func @dynamic(%q: tensor<?x2x?x8xELEM> {attn.shape = ["b", 2, "q", 8]}, %k: tensor<?x2x?x8xELEM> {attn.shape = ["b", 2, "k", 8]}, %v: tensor<?x2x?x8xELEM> {attn.shape = ["b", 2, "k", 8]}) -> tensor<?x2x?x8xELEM> {
  %0 = attn.attention %q, %k, %v scale(0.35)  keep {
  ^bb0(%batch: index, %head: index, %i: index, %j: index, %ql: index, %kl: index):
    %keep = attn.window %i, %j before(3) after(1)
    attn.yield %keep : i1
  } : tensor<?x2x?x8xELEM>, tensor<?x2x?x8xELEM>, tensor<?x2x?x8xELEM> -> tensor<?x2x?x8xELEM>
  return %0 : tensor<?x2x?x8xELEM>
}
