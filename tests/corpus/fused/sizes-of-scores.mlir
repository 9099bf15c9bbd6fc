// CHECK-NOT: attn.softmax
// CHECK: attn.attention %arg0, %arg1, %arg2 keep(
// CHECK-NEXT: %{{.*}} = attn.causal %query, %key
// CHECK-NOT: attn.softmax
#s = affine_map<(b, h, q, k) -> (b, h, q, k)>
#t = affine_map<(b, h, q, k) -> (q, k)>
func.func @attend(%q: tensor<1x2x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32> {
  %c2 = arith.constant 2 : index
  %scores = attn.matmul %q, %k transpose_rhs : (tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>) -> tensor<1x2x?x?xf32>
  %c3 = arith.constant 3 : index
  %lq = tensor.dim %scores, %c2 : tensor<1x2x?x?xf32>
  %lk = tensor.dim %scores, %c3 : tensor<1x2x?x?xf32>
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%lq, %lk) : tensor<?x?xf32>
  %tri = linalg.generic {indexing_maps = [affine_map<(q, k) -> (q, k)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sge, %i, %j : index
    %m = arith.select %c, %zero, %inf : f32
    linalg.yield %m : f32
  } -> tensor<?x?xf32>
  %e4 = tensor.empty(%lq, %lk) : tensor<1x2x?x?xf32>
  %masked = linalg.generic {indexing_maps = [#s, #t, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%scores, %tri : tensor<1x2x?x?xf32>, tensor<?x?xf32>) outs(%e4 : tensor<1x2x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<1x2x?x?xf32>
  %w = attn.softmax %masked : tensor<1x2x?x?xf32>
  %r = attn.matmul %w, %v : (tensor<1x2x?x?xf32>, tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32>
  return %r : tensor<1x2x?x64xf32>
}
