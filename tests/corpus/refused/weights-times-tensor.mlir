// CHECK: remark: [weights-changed] not fused: expected weights that reach a matmul unchanged, but got arith.mulf
// CHECK: note: arith.mulf is here
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>, %f: tensor<2x4x5x7xf32>) -> tensor<2x4x5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %w = attn.softmax %0 : tensor<2x4x5x7xf32>
  %m = arith.mulf %w, %f : tensor<2x4x5x7xf32>
  %r = attn.matmul %m, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
