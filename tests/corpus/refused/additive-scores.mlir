// CHECK: remark: [not-a-score-op] not fused: expected an operation on one score at a time, but got attn.additive_scores
// CHECK: note: attn.additive_scores is here
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>, %u: tensor<8xf32>) -> tensor<2x4x5x8xf32> {
  %0 = attn.additive_scores %q, %k, %u : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>, tensor<8xf32>) -> tensor<2x4x5x7xf32>
  %w = attn.softmax %0 : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
