func.func @static(%x: tensor<2x3x5x17xELEM>, %s: tensor<3xELEM>) -> tensor<2x3x5x17xELEM> {
  %0 = attn.alibi %x, %s : tensor<2x3x5x17xELEM>, tensor<3xELEM>
  return %0 : tensor<2x3x5x17xELEM>
}
func.func @dynamic(%x: tensor<?x?x?x?xELEM> {attn.shape = ["b", "h", "q", "k"]}, %s: tensor<?xELEM> {attn.shape = ["h"]}) -> tensor<?x?x?x?xELEM> {
  %0 = attn.alibi %x, %s : tensor<?x?x?x?xELEM>, tensor<?xELEM>
  return %0 : tensor<?x?x?x?xELEM>
}
func.func @after_mask(%x: tensor<2x3x5x17xELEM>, %s: tensor<3xELEM>) -> tensor<2x3x5x17xELEM> {
  %0 = attn.mask %x keep(%batch, %head, %i, %j, %lq, %lk) {
    %keep = attn.causal %i, %j
    attn.yield %keep : i1
  } : tensor<2x3x5x17xELEM>
  %1 = attn.alibi %0, %s : tensor<2x3x5x17xELEM>, tensor<3xELEM>
  return %1 : tensor<2x3x5x17xELEM>
}
