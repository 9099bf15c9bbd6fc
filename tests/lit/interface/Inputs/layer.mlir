// A layer whose weight the caller packs once.
module @layer {
  func.func @layer(%x: tensor<?x24xf32> {attn.name = "x", attn.shape = ["rows", 24]},
                   %weight: tensor<20x24xf32> {attn.name = "weight", attn.packed})
      -> (tensor<?x20xf32> {attn.name = "y"}) {
    %0 = attn.linear %x, %weight : tensor<?x24xf32>, tensor<20x24xf32> -> tensor<?x20xf32>
    return %0 : tensor<?x20xf32>
  }
}
