// CHECK: remark: [scores-used-elsewhere] not fused: expected scores used only on the way to the softmax
// CHECK: note: attn.matmul is here
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %w = attn.softmax %0 : tensor<2x4x5x7xf32>
  %1 = attn.scale %0 by 0.5 : tensor<2x4x5x7xf32>
  %y = attn.softmax %1 : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  %t = attn.matmul %y, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r, %t : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>
}
