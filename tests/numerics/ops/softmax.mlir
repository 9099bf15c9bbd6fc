func.func @last(%x: tensor<?x?xELEM>) -> tensor<?x?xELEM> {
  %0 = attn.softmax %x : tensor<?x?xELEM>
  return %0 : tensor<?x?xELEM>
}
func.func @static(%x: tensor<2x3x40xELEM>) -> tensor<2x3x40xELEM> {
  %0 = attn.softmax %x axis(2) : tensor<2x3x40xELEM>
  return %0 : tensor<2x3x40xELEM>
}
func.func @middle(%x: tensor<?x?x5xELEM>) -> tensor<?x?x5xELEM> {
  %0 = attn.softmax %x axis(1) : tensor<?x?x5xELEM>
  return %0 : tensor<?x?x5xELEM>
}
func.func @first(%x: tensor<?x?xELEM>) -> tensor<?x?xELEM> {
  %0 = attn.softmax %x axis(0) empty_rows(nan) : tensor<?x?xELEM>
  return %0 : tensor<?x?xELEM>
}
func.func @vector(%x: tensor<?xELEM>) -> tensor<?xELEM> {
  %0 = attn.softmax %x : tensor<?xELEM>
  return %0 : tensor<?xELEM>
}
func.func @nothing(%x: tensor<2x3x0xELEM>) -> tensor<2x3x0xELEM> {
  %0 = attn.softmax %x : tensor<2x3x0xELEM>
  return %0 : tensor<2x3x0xELEM>
}
