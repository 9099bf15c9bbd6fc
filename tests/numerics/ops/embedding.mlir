func.func @static(%t: tensor<11x20xELEM>, %ids: tensor<3x5xi64> {attn.range = [0, 10]}) -> tensor<3x5x20xELEM> {
  %0 = attn.embedding %t, %ids : (tensor<11x20xELEM>, tensor<3x5xi64>) -> tensor<3x5x20xELEM>
  return %0 : tensor<3x5x20xELEM>
}
func.func @dynamic(%t: tensor<11x?xELEM>, %ids: tensor<?xi32> {attn.range = [0, 10]}) -> tensor<?x?xELEM> {
  %0 = attn.embedding %t, %ids : (tensor<11x?xELEM>, tensor<?xi32>) -> tensor<?x?xELEM>
  return %0 : tensor<?x?xELEM>
}
