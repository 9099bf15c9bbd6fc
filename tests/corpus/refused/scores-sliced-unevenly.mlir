// CHECK: remark: [not-a-score-op] not fused: expected an operation on one score at a time, but got tensor.pad
// CHECK: note: tensor.pad is here
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>, %ks: tensor<2x4x6x8xf32>) -> tensor<2x4x5x8xf32> {
  %z = arith.constant 0.0 : f32
  %p0 = attn.matmul %q, %ks transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x5x6xf32>
  %0 = tensor.pad %p0 low[0, 0, 0, 0] high[0, 0, 0, 1] {
  ^bb0(%a: index, %b: index, %c: index, %e: index):
    tensor.yield %z : f32
  } : tensor<2x4x5x6xf32> to tensor<2x4x5x7xf32>
  %w = attn.softmax %0 : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
