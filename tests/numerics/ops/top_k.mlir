func.func @static(%x: tensor<3x40xELEM>) -> (tensor<3x5xELEM>, tensor<3x5xi64>) {
  %v, %i = attn.top_k %x k(5) : tensor<3x40xELEM> -> tensor<3x5xELEM>, tensor<3x5xi64>
  return %v, %i : tensor<3x5xELEM>, tensor<3x5xi64>
}
func.func @dynamic(%x: tensor<?x?xELEM> {attn.shape = ["m", "n"]}) -> (tensor<?x3xELEM>, tensor<?x3xi64>) attributes {attn.require = ["n >= 3"]} {
  %v, %i = attn.top_k %x k(3) : tensor<?x?xELEM> -> tensor<?x3xELEM>, tensor<?x3xi64>
  return %v, %i : tensor<?x3xELEM>, tensor<?x3xi64>
}
