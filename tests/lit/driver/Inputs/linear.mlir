module @layer attributes {heed.params = "layer.safetensors"} {
  func.func @layer(%x: tensor<?x24xf32> {attn.name = "x", attn.shape = ["rows", 24]})
      -> (tensor<?x20xf32> {attn.name = "y"}) {
    %weight = attn.param "weight" : tensor<20x24xf32>
    %bias = attn.param "bias" : tensor<20xf32>
    %0 = attn.linear %x, %weight, %bias
        : tensor<?x24xf32>, tensor<20x24xf32>, tensor<20xf32> -> tensor<?x20xf32>
    return %0 : tensor<?x20xf32>
  }
  func.func @twice(%x: tensor<?x20xf32> {attn.name = "x", attn.shape = ["rows", 20]})
      -> (tensor<?x20xf32> {attn.name = "y"}) {
    %0 = arith.addf %x, %x : tensor<?x20xf32>
    return %0 : tensor<?x20xf32>
  }
}
