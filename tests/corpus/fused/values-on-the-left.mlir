// CHECK-NOT: attn.softmax
// CHECK: attn.attention
// CHECK: layout("bhqd,bhkd,bhke->bheq")
// CHECK-NOT: attn.softmax
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>) -> tensor<2x4x8x5xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %w = attn.softmax %0 : tensor<2x4x5x7xf32>
  %e = tensor.empty() : tensor<2x4x8x7xf32>
  %vt = linalg.transpose ins(%v : tensor<2x4x7x8xf32>) outs(%e : tensor<2x4x8x7xf32>) permutation = [0, 1, 3, 2]
  %r = attn.matmul %vt, %w transpose_rhs : (tensor<2x4x8x7xf32>, tensor<2x4x5x7xf32>) -> tensor<2x4x8x5xf32>
  return %r : tensor<2x4x8x5xf32>
}
