func.func @halves(%x: tensor<2x3x9x16xELEM>) -> tensor<2x3x9x16xELEM> {
  %0 = attn.rotary %x pairing(halves) : tensor<2x3x9x16xELEM>
  return %0 : tensor<2x3x9x16xELEM>
}
func.func @interleaved(%x: tensor<?x?x2x16xELEM> {attn.shape = ["b", "s", 2, 16]}, %o: tensor<?xi32> {attn.shape = ["b"], attn.range = [0, 5000]}) -> tensor<?x?x2x16xELEM> {
  %0 = attn.rotary %x pairing(interleaved) offset(%o : tensor<?xi32>) base(500000.0) axis(1) width(8) : tensor<?x?x2x16xELEM>
  return %0 : tensor<?x?x2x16xELEM>
}
