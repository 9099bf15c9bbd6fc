func.func @heads(%x: tensor<?x4x?x?xELEM> {attn.shape = ["b", 4, "q", "k"]}, %b: tensor<4x?x?xELEM> {attn.shape = [4, "q", "k"]}) -> tensor<?x4x?x?xELEM> {
  %0 = attn.bias %x, %b : tensor<?x4x?x?xELEM>, tensor<4x?x?xELEM>
  return %0 : tensor<?x4x?x?xELEM>
}
func.func @broadcast(%x: tensor<2x3x5x17xELEM>, %b: tensor<2x1x1x17xELEM>) -> tensor<2x3x5x17xELEM> {
  %0 = attn.bias %x, %b : tensor<2x3x5x17xELEM>, tensor<2x1x1x17xELEM>
  return %0 : tensor<2x3x5x17xELEM>
}
// A pair that the mask drops stays dropped, also where the bias is NaN or +inf.
func.func @after_mask(%x: tensor<2x3x5x17xELEM>, %b: tensor<2x3x5x17xELEM>) -> tensor<2x3x5x17xELEM> {
  %0 = attn.mask %x keep(%batch, %head, %i, %j, %lq, %lk) {
    %keep = attn.causal %i, %j
    attn.yield %keep : i1
  } : tensor<2x3x5x17xELEM>
  %1 = attn.bias %0, %b : tensor<2x3x5x17xELEM>, tensor<2x3x5x17xELEM>
  return %1 : tensor<2x3x5x17xELEM>
}
func.func @after_mask_fused(%q: tensor<1x1x17x8xELEM>, %k: tensor<1x1x17x8xELEM>, %v: tensor<1x1x17x8xELEM>, %b: tensor<17x17xELEM>) -> tensor<1x1x17x8xELEM> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<1x1x17x8xELEM>, tensor<1x1x17x8xELEM>) -> tensor<1x1x17x17xELEM>
  %1 = attn.mask %0 keep(%batch, %head, %i, %j, %lq, %lk) {
    %keep = attn.causal %i, %j
    attn.yield %keep : i1
  } : tensor<1x1x17x17xELEM>
  %2 = attn.bias %1, %b : tensor<1x1x17x17xELEM>, tensor<17x17xELEM>
  %3 = attn.softmax %2 {attn.expect_fused} : tensor<1x1x17x17xELEM>
  %4 = attn.matmul %3, %v : (tensor<1x1x17x17xELEM>, tensor<1x1x17x8xELEM>) -> tensor<1x1x17x8xELEM>
  return %4 : tensor<1x1x17x8xELEM>
}
