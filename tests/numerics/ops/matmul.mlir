func.func @static(%a: tensor<7x19xELEM>, %b: tensor<19x21xELEM>) -> tensor<7x21xELEM> {
  %0 = attn.matmul %a, %b : (tensor<7x19xELEM>, tensor<19x21xELEM>) -> tensor<7x21xELEM>
  return %0 : tensor<7x21xELEM>
}
func.func @transposed(%a: tensor<?x?x?xELEM> {attn.shape = ["b", "m", "k"]}, %b: tensor<?x?x?xELEM> {attn.shape = ["b", "n", "k"]}) -> tensor<?x?x?xELEM> {
  %0 = attn.matmul %a, %b transpose_rhs : (tensor<?x?x?xELEM>, tensor<?x?x?xELEM>) -> tensor<?x?x?xELEM>
  return %0 : tensor<?x?x?xELEM>
}
func.func @groups(%a: tensor<?x6x?x8xELEM> {attn.shape = ["b", 6, "m", 8]}, %b: tensor<?x2x?x8xELEM> {attn.shape = ["b", 2, "n", 8]}) -> tensor<?x6x?x?xELEM> {
  %0 = attn.matmul %a, %b transpose_rhs : (tensor<?x6x?x8xELEM>, tensor<?x2x?x8xELEM>) -> tensor<?x6x?x?xELEM>
  return %0 : tensor<?x6x?x?xELEM>
}
func.func @dynamic(%a: tensor<?x?x?x?xELEM> {attn.shape = ["b", "h", "m", "k"]}, %b: tensor<?x?x?x?xELEM> {attn.shape = ["b", "h", "k", "n"]}) -> tensor<?x?x?x?xELEM> {
  %0 = attn.matmul %a, %b : (tensor<?x?x?x?xELEM>, tensor<?x?x?x?xELEM>) -> tensor<?x?x?x?xELEM>
  return %0 : tensor<?x?x?x?xELEM>
}
