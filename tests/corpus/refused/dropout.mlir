// CHECK: remark: [dropout] not fused: expected a model for inference, but got dropout
// CHECK: note: func.call is here
func.func private @dropout(%x: tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32> {
  return %x : tensor<2x4x5x7xf32>
}
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %w = attn.softmax %0 : tensor<2x4x5x7xf32>
  %m = call @dropout(%w) : (tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  %r = attn.matmul %m, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
