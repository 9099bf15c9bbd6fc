// A cache, a strided input, an output, weights and a workspace.
module @append attributes {heed.params = "weights.safetensors"} {
  func.func @append(%entries: tensor<?x1x4xf32> {attn.name = "entries", attn.shape = ["batch", 1, 4], attn.strided},
      %position: tensor<?xi64> {attn.name = "position", attn.shape = ["batch"], attn.range = [0, "capacity - 1"]},
      %cache: tensor<?x?x4xf32> {attn.name = "cache", attn.shape = ["batch", "capacity", 4], attn.strided,
                                 attn.state = 0})
      -> (tensor<?x?x4xf32>, tensor<?x1x4xf32> {attn.name = "weights"}) {
    %appended = attn.cache_update %cache, %entries at %position
      : tensor<?x?x4xf32>, tensor<?x1x4xf32>, tensor<?xi64>
    %weight = attn.param "weight" : tensor<4x4xf32>
    %0 = attn.linear %entries, %weight : tensor<?x1x4xf32>, tensor<4x4xf32> -> tensor<?x1x4xf32>
    %1 = attn.softmax %0 : tensor<?x1x4xf32>
    return %appended, %1 : tensor<?x?x4xf32>, tensor<?x1x4xf32>
  }
}
