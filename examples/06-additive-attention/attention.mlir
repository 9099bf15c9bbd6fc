// Additive attention (Bahdanau, Cho and Bengio 2015, section A.1.2): a decoder state s looks at annotations h,
// scores = v · tanh(W s + U h); the context is their weighted mean. No dot product of query and key is taken.
!states = tensor<?x?x64xf32>
!annotations = tensor<?x?x128xf32>
!hidden = tensor<?x?x32xf32>
!scores = tensor<?x?x?xf32>

module @attention attributes {heed.params = "attention.safetensors"} {
  func.func @attention(
      %states: !states {attn.name = "states", attn.shape = ["batch", "target", 64]},
      %annotations: !annotations {attn.name = "annotations", attn.shape = ["batch", "source", 128]})
      -> (!annotations {attn.name = "context", attn.shape = ["batch", "target", 128]},
          !scores {attn.name = "weights", attn.shape = ["batch", "target", "source"]}) {
    %w = attn.param "w" : tensor<32x64xf32>
    %u = attn.param "u" : tensor<32x128xf32>
    %v = attn.param "v" : tensor<32xf32>
    %query = attn.linear %states, %w : !states, tensor<32x64xf32> -> !hidden
    %key = attn.linear %annotations, %u : !annotations, tensor<32x128xf32> -> !hidden
    %scores = attn.additive_scores %query, %key, %v : (!hidden, !hidden, tensor<32xf32>) -> !scores
    %weights = attn.softmax %scores : !scores
    %context = attn.matmul %weights, %annotations : (!scores, !annotations) -> !annotations
    return %context, %weights : !annotations, !scores
  }
}
