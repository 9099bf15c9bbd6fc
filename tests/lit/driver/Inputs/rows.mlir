// Layers, of one function, between whose operations rows of their width must be kept.
func.func @rows(%x: tensor<?x64xf32> {attn.shape = ["rows", 64]}, %w: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %0 = call @layer(%x, %w) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %1 = call @layer(%0, %w) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}

func.func private @layer(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %0 = attn.linear %x, %w : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
  %1 = attn.softmax %0 : tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
