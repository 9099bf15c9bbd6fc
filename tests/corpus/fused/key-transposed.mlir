// CHECK-NOT: attn.softmax
// CHECK: attn.attention
// CHECK-NOT: attn.softmax
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32> {
  %e = tensor.empty() : tensor<2x4x8x7xf32>
  %kt = linalg.transpose ins(%k : tensor<2x4x7x8xf32>) outs(%e : tensor<2x4x8x7xf32>) permutation = [0, 1, 3, 2]
  %0 = attn.matmul %q, %kt : (tensor<2x4x5x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x5x7xf32>
  %w = attn.softmax %0 : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
