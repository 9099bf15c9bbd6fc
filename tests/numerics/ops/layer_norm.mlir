func.func @static(%x: tensor<3x40xELEM>, %w: tensor<40xELEM>, %b: tensor<40xELEM>) -> tensor<3x40xELEM> {
  %0 = attn.layer_norm %x, %w, %b epsilon(1.0e-5) : tensor<3x40xELEM>, tensor<40xELEM>, tensor<40xELEM>
  return %0 : tensor<3x40xELEM>
}
func.func @dynamic(%x: tensor<?x?x?xELEM> {attn.shape = ["b", "s", "d"]}, %w: tensor<?xELEM> {attn.shape = ["d"]}) -> tensor<?x?x?xELEM> {
  %0 = attn.layer_norm %x, %w epsilon(1.0e-5) : tensor<?x?x?xELEM>, tensor<?xELEM>
  return %0 : tensor<?x?x?xELEM>
}
func.func @plain(%x: tensor<?x33xELEM>) -> tensor<?x33xELEM> {
  %0 = attn.layer_norm %x epsilon(1.0e-5) : tensor<?x33xELEM>
  return %0 : tensor<?x33xELEM>
}
func.func @nothing(%x: tensor<3x0xELEM>, %w: tensor<0xELEM>, %b: tensor<0xELEM>) -> tensor<3x0xELEM> {
  %0 = attn.layer_norm %x, %w, %b epsilon(1.0e-5) : tensor<3x0xELEM>, tensor<0xELEM>, tensor<0xELEM>
  return %0 : tensor<3x0xELEM>
}
