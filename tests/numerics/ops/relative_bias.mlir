func.func @static(%x: tensor<1x3x40x41xELEM>, %t: tensor<32x3xELEM>) -> tensor<1x3x40x41xELEM> {
  %0 = attn.relative_bias %x, %t bidirectional max_distance(128) : tensor<1x3x40x41xELEM>, tensor<32x3xELEM>
  return %0 : tensor<1x3x40x41xELEM>
}
func.func @dynamic(%x: tensor<?x3x?x?xELEM>, %t: tensor<32x3xELEM>) -> tensor<?x3x?x?xELEM> {
  %0 = attn.relative_bias %x, %t max_distance(20) : tensor<?x3x?x?xELEM>, tensor<32x3xELEM>
  return %0 : tensor<?x3x?x?xELEM>
}
