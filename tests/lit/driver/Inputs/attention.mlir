// One attention that fuses, and one whose softmax runs along the queries.
func.func @causal(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x?xf32>
  %1 = attn.scale %0 by 0.125 : tensor<?x8x?x?xf32>
  %2 = attn.mask %1 keep(%batch, %head, %i, %j, %query_len, %key_len) {
    %kept = attn.causal %i, %j
    attn.yield %kept : i1
  } : tensor<?x8x?x?xf32>
  %3 = attn.softmax %2 : tensor<?x8x?x?xf32>
  %4 = attn.matmul %3, %v : (tensor<?x8x?x?xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %4 : tensor<?x8x?x64xf32>
}

func.func @along_queries(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x8xf32>) -> tensor<5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<5x8xf32>, tensor<7x8xf32>) -> tensor<5x7xf32>
  %1 = attn.softmax %0 axis(0) : tensor<5x7xf32>
  %2 = attn.matmul %1, %v : (tensor<5x7xf32>, tensor<7x8xf32>) -> tensor<5x8xf32>
  return %2 : tensor<5x8xf32>
}
