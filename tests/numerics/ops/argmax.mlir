func.func @static(%x: tensor<3x40xELEM>) -> tensor<3xi64> {
  %0 = attn.argmax %x : tensor<3x40xELEM> -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
func.func @dynamic(%x: tensor<?x?x?xELEM> {attn.shape = ["a", "b", "n"]}) -> tensor<?x?xi64> attributes {attn.require = ["n >= 1"]} {
  %0 = attn.argmax %x : tensor<?x?x?xELEM> -> tensor<?x?xi64>
  return %0 : tensor<?x?xi64>
}
