module @masked {
  func.func @masked(%q: tensor<2x?x16xf32> {attn.name = "q", attn.shape = [2, "queries", 16]},
                    %k: tensor<2x?x16xf32> {attn.name = "k", attn.shape = [2, "keys", 16]},
                    %v: tensor<2x?x16xf32> {attn.name = "v", attn.shape = [2, "keys", 16]})
      -> (tensor<2x?x16xf32> {attn.name = "y"}) {
    %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x?x16xf32>, tensor<2x?x16xf32>) -> tensor<2x?x?xf32>
    %1 = attn.scale %0 by 0.25 : tensor<2x?x?xf32>
    %2 = attn.mask %1 keep(%batch, %head, %i, %j, %query_len, %key_len) {
      %kept = attn.causal %i, %j
      attn.yield %kept : i1
    } : tensor<2x?x?xf32>
    %3 = attn.softmax %2 : tensor<2x?x?xf32>
    %4 = attn.matmul %3, %v : (tensor<2x?x?xf32>, tensor<2x?x16xf32>) -> tensor<2x?x16xf32>
    %5 = attn.relu %4 : tensor<2x?x16xf32>
    return %5 : tensor<2x?x16xf32>
  }
}
