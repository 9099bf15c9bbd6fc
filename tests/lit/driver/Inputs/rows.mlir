// A layer between whose operations rows of its width must be kept.
func.func @rows(%x: tensor<?x64xf32> {attn.shape = ["rows", 64]}, %w: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %0 = attn.linear %x, %w : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
  %1 = attn.softmax %0 : tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
