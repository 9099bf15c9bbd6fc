// CHECK: remark: [no-products] not fused: expected scores that come from a matmul, but got an argument
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>, %s: tensor<2x4x5x7xf32>) -> tensor<2x4x5x8xf32> {
  %w = attn.softmax %s : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
