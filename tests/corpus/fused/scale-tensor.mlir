// CHECK-NOT: attn.softmax
// CHECK: attn.attention
// CHECK: arith.mulf %score, %read
// CHECK-NOT: attn.softmax
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>, %sc: tensor<f32>) -> tensor<2x4x5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %sv = tensor.extract %sc[] : tensor<f32>
  %e = tensor.empty() : tensor<2x4x5x7xf32>
  %f = linalg.fill ins(%sv : f32) outs(%e : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  %1 = arith.mulf %0, %f : tensor<2x4x5x7xf32>
  %w = attn.softmax %1 : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
