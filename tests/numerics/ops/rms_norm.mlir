func.func @static(%x: tensor<3x40xELEM>, %w: tensor<40xELEM>) -> tensor<3x40xELEM> {
  %0 = attn.rms_norm %x, %w epsilon(1.0e-5) offset(1.0) : tensor<3x40xELEM>, tensor<40xELEM>
  return %0 : tensor<3x40xELEM>
}
func.func @dynamic(%x: tensor<?x?xELEM> {attn.shape = ["s", "d"]}, %w: tensor<?xELEM> {attn.shape = ["d"]}) -> tensor<?x?xELEM> {
  %0 = attn.rms_norm %x, %w epsilon(1.0e-5) : tensor<?x?xELEM>, tensor<?xELEM>
  return %0 : tensor<?x?xELEM>
}
