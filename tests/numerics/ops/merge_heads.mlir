func.func @static(%x: tensor<2x3x5x4xELEM>) -> tensor<2x5x12xELEM> {
  %0 = attn.merge_heads %x : tensor<2x3x5x4xELEM> -> tensor<2x5x12xELEM>
  return %0 : tensor<2x5x12xELEM>
}
func.func @dynamic(%x: tensor<?x3x?x4xELEM>) -> tensor<?x?x12xELEM> {
  %0 = attn.merge_heads %x : tensor<?x3x?x4xELEM> -> tensor<?x?x12xELEM>
  return %0 : tensor<?x?x12xELEM>
}
