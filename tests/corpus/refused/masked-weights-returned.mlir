// CHECK: remark: [weights-used-elsewhere] not fused: expected weights used by one matmul, but got 3 uses
func.func @attend(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x?x40xf32>, %turned: tensor<2x2x24x?xf32>)
    -> (tensor<2x4x?x40xf32>, tensor<2x4x?x24xf32>, tensor<2x4x?x?xf32>) {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>) -> tensor<2x4x?x?xf32>
  %masked = attn.mask %0 keep(%b, %h, %i, %j, %queries, %keys) {
    %keep = attn.causal %i, %j
    attn.yield %keep : i1
  } : tensor<2x4x?x?xf32>
  %w = attn.softmax %masked : tensor<2x4x?x?xf32>
  %r = attn.matmul %w, %v : (tensor<2x4x?x?xf32>, tensor<2x2x?x40xf32>) -> tensor<2x4x?x40xf32>
  %t = attn.matmul %w, %turned transpose_rhs : (tensor<2x4x?x?xf32>, tensor<2x2x24x?xf32>) -> tensor<2x4x?x24xf32>
  return %r, %t, %w : tensor<2x4x?x40xf32>, tensor<2x4x?x24xf32>, tensor<2x4x?x?xf32>
}
