// CHECK-NOT: attn.softmax
// CHECK: attn.attention
// CHECK: keep
// CHECK: attn.causal
// CHECK-NOT: attn.softmax
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %1 = attn.mask %0 keep(%b, %h, %i, %j, %ql, %kl) {
    %c = attn.causal %i, %j
    attn.yield %c : i1
  } : tensor<2x4x5x7xf32>
  %w = attn.softmax %1 : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
