// CHECK: remark: [softmax-without-maximum] not fused: expected exponentials of scores less their maximum, but got exponentials that may overflow
func.func @attend(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<2x4x5xf32>
  %e1 = tensor.empty() : tensor<2x4x5x7xf32>
  %x = math.exp %0 : tensor<2x4x5x7xf32>
  %zs = linalg.fill ins(%z : f32) outs(%e0 : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<2x4x5x7xf32>) outs(%zs : tensor<2x4x5xf32>) dimensions = [3]
  %sb = linalg.broadcast ins(%s : tensor<2x4x5xf32>) outs(%e1 : tensor<2x4x5x7xf32>) dimensions = [3]
  %w = arith.divf %x, %sb : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}
