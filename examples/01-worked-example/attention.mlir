// The figure of "Attention Is All You Need" by hand: three queries, keys and values of width 3, scale 1/√3.
!matrix = tensor<?x3xf32>
!scores = tensor<?x?xf32>

module @attention {
  // Every stage is a result, so that every stage can be read.
  func.func @steps(
      %query: !matrix {attn.name = "query", attn.shape = ["queries", 3]},
      %key: !matrix {attn.name = "key", attn.shape = ["keys", 3]},
      %value: !matrix {attn.name = "value", attn.shape = ["keys", 3]})
      -> (!scores {attn.name = "scores", attn.shape = ["queries", "keys"]},
          !scores {attn.name = "weights", attn.shape = ["queries", "keys"]},
          !matrix {attn.name = "output", attn.shape = ["queries", 3]}) {
    %scores = attn.matmul %query, %key transpose_rhs : (!matrix, !matrix) -> !scores
    %scaled = attn.scale %scores by 0.57735026918962576 : !scores
    %weights = attn.softmax %scaled : !scores
    %output = attn.matmul %weights, %value : (!scores, !matrix) -> !matrix
    return %scores, %weights, %output : !scores, !scores, !matrix
  }

  // Only the output leaves: the steps fuse into one operation, and no matrix of scores is ever stored.
  func.func @causal(
      %query: !matrix {attn.name = "query", attn.shape = ["queries", 3]},
      %key: !matrix {attn.name = "key", attn.shape = ["keys", 3]},
      %value: !matrix {attn.name = "value", attn.shape = ["keys", 3]})
      -> (!matrix {attn.name = "output", attn.shape = ["queries", 3]}) {
    %scores = attn.matmul %query, %key transpose_rhs : (!matrix, !matrix) -> !scores
    %scaled = attn.scale %scores by 0.57735026918962576 : !scores
    %masked = attn.mask %scaled keep {
    ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys: index):
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    } : !scores
    %weights = attn.softmax %masked : !scores
    %output = attn.matmul %weights, %value : (!scores, !matrix) -> !matrix
    return %output : !matrix
  }
}
