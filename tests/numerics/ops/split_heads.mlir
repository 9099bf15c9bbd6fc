func.func @static(%x: tensor<2x5x12xELEM>) -> tensor<2x3x5x4xELEM> {
  %0 = attn.split_heads %x heads(3) : tensor<2x5x12xELEM> -> tensor<2x3x5x4xELEM>
  return %0 : tensor<2x3x5x4xELEM>
}
func.func @dynamic(%x: tensor<?x?x12xELEM>) -> tensor<?x3x?x4xELEM> {
  %0 = attn.split_heads %x heads(3) : tensor<?x?x12xELEM> -> tensor<?x3x?x4xELEM>
  return %0 : tensor<?x3x?x4xELEM>
}
