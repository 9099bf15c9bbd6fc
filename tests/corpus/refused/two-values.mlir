// CHECK: remark: [weights-used-elsewhere] not fused: expected weights used by one matmul, but got 2 uses
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>, %x: tensor<2x4x7x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %w = attn.softmax %0 : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  %t = attn.matmul %w, %x : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r, %t : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>
}
