// CHECK-NOT: attn.softmax
// CHECK: attn.attention
// CHECK: tensor.extract
// CHECK-NOT: attn.softmax
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>, %t: tensor<8x4xf32>) -> tensor<2x4x5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %1 = attn.relative_bias %0, %t bidirectional max_distance(32) : tensor<2x4x5x7xf32>, tensor<8x4xf32>
  %w = attn.softmax %1 : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
