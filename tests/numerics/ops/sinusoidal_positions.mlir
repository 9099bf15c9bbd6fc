func.func @static(%x: tensor<2x9x10xELEM>) -> tensor<2x9x10xELEM> {
  %0 = attn.sinusoidal_positions %x : tensor<2x9x10xELEM>
  return %0 : tensor<2x9x10xELEM>
}
func.func @dynamic(%x: tensor<?x?x?xELEM> {attn.shape = ["b", "s", "d"]}, %o: tensor<?xi32> {attn.shape = ["b"], attn.range = [0, 1000]}) -> tensor<?x?x?xELEM> attributes {attn.require = ["d >= 2"]} {
  %0 = attn.sinusoidal_positions %x offset(%o : tensor<?xi32>) base(500.0) : tensor<?x?x?xELEM>
  return %0 : tensor<?x?x?xELEM>
}
