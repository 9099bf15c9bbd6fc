// CHECK: remark: [scores-misplaced] not fused: expected a product of queries and keys in the order of the values
// CHECK: note: attn.matmul is here
func.func @attend(%q: tensor<4x2x5x8xf32>, %k: tensor<4x2x7x8xf32>, %v: tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<4x2x5x8xf32>, tensor<4x2x7x8xf32>) -> tensor<4x2x5x7xf32>
  %e = tensor.empty() : tensor<2x4x5x7xf32>
  %1 = linalg.transpose ins(%0 : tensor<4x2x5x7xf32>) outs(%e : tensor<2x4x5x7xf32>) permutation = [1, 0, 2, 3]
  %w = attn.softmax %1 : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
