func.func @static(%x: tensor<2x9x10xELEM>, %t: tensor<9x10xELEM>) -> tensor<2x9x10xELEM> {
  %0 = attn.learned_positions %x, %t : tensor<2x9x10xELEM>, tensor<9x10xELEM>
  return %0 : tensor<2x9x10xELEM>
}
func.func @dynamic(%x: tensor<?x?x20xELEM> {attn.shape = ["b", "s", 20]}, %t: tensor<100x20xELEM>, %o: tensor<?xi64> {attn.shape = ["b"], attn.range = [0, 30]}) -> tensor<?x?x20xELEM> attributes {attn.require = ["s <= 70"]} {
  %0 = attn.learned_positions %x, %t offset(%o : tensor<?xi64>) : tensor<?x?x20xELEM>, tensor<100x20xELEM>
  return %0 : tensor<?x?x20xELEM>
}
