// CHECK-NOT: attn.softmax
// CHECK: attn.attention
// CHECK: maps
// CHECK: keep
// CHECK-NOT: attn.softmax
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>, %p: tensor<2x7xi1>) -> tensor<2x4x5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %e = tensor.empty() : tensor<2x4x5x7xi1>
  %m = linalg.broadcast ins(%p : tensor<2x7xi1>) outs(%e : tensor<2x4x5x7xi1>) dimensions = [1, 2]
  %inf = arith.constant dense<0xFF800000> : tensor<2x4x5x7xf32>
  %1 = arith.select %m, %0, %inf : tensor<2x4x5x7xi1>, tensor<2x4x5x7xf32>
  %w = attn.softmax %1 : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
