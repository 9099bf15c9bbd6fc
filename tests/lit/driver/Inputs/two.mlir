// Two kernels with a buffer between them.
module @two {
  func.func @two(%x: tensor<6x24xf32> {attn.name = "x"}, %weight: tensor<20x24xf32> {attn.name = "weight"})
      -> (tensor<6x20xf32> {attn.name = "y"}) {
    %0 = attn.linear %x, %weight : tensor<6x24xf32>, tensor<20x24xf32> -> tensor<6x20xf32>
    %1 = attn.softmax %0 : tensor<6x20xf32>
    return %1 : tensor<6x20xf32>
  }
}
