func.func @static(%x: tensor<3x17xELEM>) -> tensor<3x17xELEM> {
  %0 = attn.silu %x : tensor<3x17xELEM>
  return %0 : tensor<3x17xELEM>
}
func.func @dynamic(%x: tensor<?x?xELEM>) -> tensor<?x?xELEM> {
  %0 = attn.silu %x : tensor<?x?xELEM>
  return %0 : tensor<?x?xELEM>
}
