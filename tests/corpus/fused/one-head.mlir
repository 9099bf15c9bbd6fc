// CHECK-NOT: attn.softmax
// CHECK: attn.attention
// CHECK: layout("qd,kd,ke->qe")
// CHECK-NOT: attn.softmax
func.func @attend(%q: tensor<?x8xf32> {attn.shape = ["q", 8]}, %k: tensor<?x8xf32> {attn.shape = ["k", 8]}, %v: tensor<?x8xf32> {attn.shape = ["k", 8]}) -> tensor<?x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x?xf32>
  %w = attn.softmax %0 : tensor<?x?xf32>
  %r = attn.matmul %w, %v : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
