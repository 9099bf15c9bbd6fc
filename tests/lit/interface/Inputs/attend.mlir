// One attention over named sizes; two arguments share the number of keys.
func.func @attend(%query: tensor<?x?x16xf32> {attn.name = "query", attn.shape = ["heads", "q_len", 16]},
                  %key: tensor<?x?x16xf32> {attn.name = "key", attn.shape = ["heads", "k_len", 16]},
                  %value: tensor<?x?x16xf32> {attn.name = "value", attn.shape = ["heads", "k_len", 16]})
    -> (tensor<?x?x16xf32> {attn.name = "output"}) attributes {attn.require = ["k_len >= 1"]} {
  %scores = attn.matmul %query, %key transpose_rhs : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x?xf32>
  %scaled = attn.scale %scores by 0.25 : tensor<?x?x?xf32>
  %weights = attn.softmax %scaled : tensor<?x?x?xf32>
  %output = attn.matmul %weights, %value : (tensor<?x?x?xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  return %output : tensor<?x?x16xf32>
}
