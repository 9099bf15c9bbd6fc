func.func @heads(%x: tensor<?x4x?x?xELEM> {attn.shape = ["b", 4, "q", "k"]}, %b: tensor<4x?x?xELEM> {attn.shape = [4, "q", "k"]}) -> tensor<?x4x?x?xELEM> {
  %0 = attn.bias %x, %b : tensor<?x4x?x?xELEM>, tensor<4x?x?xELEM>
  return %0 : tensor<?x4x?x?xELEM>
}
func.func @broadcast(%x: tensor<2x3x5x17xELEM>, %b: tensor<2x1x1x17xELEM>) -> tensor<2x3x5x17xELEM> {
  %0 = attn.bias %x, %b : tensor<2x3x5x17xELEM>, tensor<2x1x1x17xELEM>
  return %0 : tensor<2x3x5x17xELEM>
}
