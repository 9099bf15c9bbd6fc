module @soft {
  func.func @soft(%x: tensor<?x?xf32> {attn.name = "x", attn.shape = ["rows", "cols"]})
      -> (tensor<?x?xf32> {attn.name = "y"}) {
    %0 = attn.softmax %x axis(-1) : tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
}
