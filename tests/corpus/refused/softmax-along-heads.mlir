// CHECK: remark: [softmax-axis] not fused: expected softmax along the keys, over which the values are summed, but got axis 1
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %w = attn.softmax %0 axis(1) : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
