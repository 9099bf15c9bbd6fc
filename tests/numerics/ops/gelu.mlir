func.func @exact(%x: tensor<?x?xELEM>) -> tensor<?x?xELEM> {
  %0 = attn.gelu %x : tensor<?x?xELEM>
  return %0 : tensor<?x?xELEM>
}
func.func @tanh(%x: tensor<5x33xELEM>) -> tensor<5x33xELEM> {
  %0 = attn.gelu %x form(tanh) : tensor<5x33xELEM>
  return %0 : tensor<5x33xELEM>
}
