// CHECK-NOT: attn.softmax
// CHECK: attn.attention
// CHECK: layout("bqhd,bkhd,bkhe->bqhe")
// CHECK-NOT: attn.softmax
func.func @attend(%q: tensor<2x5x32xf32>, %k: tensor<2x7x32xf32>, %v: tensor<2x7x32xf32>) -> tensor<2x5x32xf32> {
  %qh = attn.split_heads %q heads(4) : tensor<2x5x32xf32> -> tensor<2x4x5x8xf32>
  %kh = attn.split_heads %k heads(4) : tensor<2x7x32xf32> -> tensor<2x4x7x8xf32>
  %vh = attn.split_heads %v heads(4) : tensor<2x7x32xf32> -> tensor<2x4x7x8xf32>
  %0 = attn.matmul %qh, %kh transpose_rhs : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %w = attn.softmax %0 : tensor<2x4x5x7xf32>
  %r = attn.matmul %w, %vh : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  %o = attn.merge_heads %r : tensor<2x4x5x8xf32> -> tensor<2x5x32xf32>
  return %o : tensor<2x5x32xf32>
}
