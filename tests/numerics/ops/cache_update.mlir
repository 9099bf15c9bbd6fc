func.func @state(%new: tensor<?x2x?x8xELEM> {attn.shape = ["b", 2, "s", 8]}, %p: tensor<?xi64> {attn.shape = ["b"], attn.range = [0, 20]}, %cache: tensor<?x2x90x8xELEM> {attn.shape = ["b", 2, 90, 8], attn.state = 0}) -> tensor<?x2x90x8xELEM> attributes {attn.require = ["s <= 70"]} {
  %0 = attn.cache_update %cache, %new at %p : tensor<?x2x90x8xELEM>, tensor<?x2x?x8xELEM>, tensor<?xi64>
  return %0 : tensor<?x2x90x8xELEM>
}
func.func @copied(%cache: tensor<2x20x8xELEM>, %new: tensor<2x3x8xELEM>) -> tensor<2x20x8xELEM> {
  %p = arith.constant 4 : index
  %0 = attn.cache_update %cache, %new at %p axis(1) : tensor<2x20x8xELEM>, tensor<2x3x8xELEM>, index
  return %0 : tensor<2x20x8xELEM>
}
