func.func @sigmoid(%gate: tensor<?x?xELEM> {attn.shape = ["m", "n"]}, %up: tensor<?x?xELEM> {attn.shape = ["m", "n"]}) -> tensor<?x?xELEM> {
  %0 = attn.gated %gate, %up activation(sigmoid) : tensor<?x?xELEM>
  return %0 : tensor<?x?xELEM>
}
func.func @relu(%gate: tensor<3x5xELEM> , %up: tensor<3x5xELEM> ) -> tensor<3x5xELEM> {
  %0 = attn.gated %gate, %up activation(relu) : tensor<3x5xELEM>
  return %0 : tensor<3x5xELEM>
}
func.func @gelu(%gate: tensor<?x?xELEM> {attn.shape = ["m", "n"]}, %up: tensor<?x?xELEM> {attn.shape = ["m", "n"]}) -> tensor<?x?xELEM> {
  %0 = attn.gated %gate, %up activation(gelu) : tensor<?x?xELEM>
  return %0 : tensor<?x?xELEM>
}
func.func @gelu_tanh(%gate: tensor<3x17xELEM> , %up: tensor<3x17xELEM> ) -> tensor<3x17xELEM> {
  %0 = attn.gated %gate, %up activation(gelu_tanh) : tensor<3x17xELEM>
  return %0 : tensor<3x17xELEM>
}
func.func @silu(%gate: tensor<?x?xELEM> {attn.shape = ["m", "n"]}, %up: tensor<?x?xELEM> {attn.shape = ["m", "n"]}) -> tensor<?x?xELEM> {
  %0 = attn.gated %gate, %up activation(silu) : tensor<?x?xELEM>
  return %0 : tensor<?x?xELEM>
}
func.func @nothing(%gate: tensor<3x0xELEM>, %up: tensor<3x0xELEM>) -> tensor<3x0xELEM> {
  %0 = attn.gated %gate, %up activation(relu) : tensor<3x0xELEM>
  return %0 : tensor<3x0xELEM>
}
