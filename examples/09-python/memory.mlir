// Attention of one new token over the keys and values remembered so far, 4 heads of width 16. The caches are states:
// the caller owns them, the call writes one row into each, in place.
!token = tensor<?x1x64xf32>
!cache = tensor<?x?x64xf32>
!token_heads = tensor<?x1x4x16xf32>
!cache_heads = tensor<?x?x4x16xf32>
!lengths = tensor<?xi64>

module @memory {
  func.func @recall(
      %query: !token {attn.name = "query", attn.shape = ["batch", 1, 64]},
      %key: !token {attn.name = "key", attn.shape = ["batch", 1, 64]},
      %value: !token {attn.name = "value", attn.shape = ["batch", 1, 64]},
      %position: !lengths {attn.name = "position", attn.shape = ["batch"], attn.range = [0, "capacity - 1"]},
      %keys: !cache {attn.name = "keys", attn.shape = ["batch", "capacity", 64], attn.strided, attn.state = 1},
      %values: !cache {attn.name = "values", attn.shape = ["batch", "capacity", 64], attn.strided, attn.state = 2})
      -> (!token {attn.name = "output", attn.shape = ["batch", 1, 64]}, !cache, !cache)
      attributes {attn.require = ["1 <= capacity"]} {
    %new_keys = attn.cache_update %keys, %key at %position : !cache, !token, !lengths
    %new_values = attn.cache_update %values, %value at %position : !cache, !token, !lengths
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %batch = tensor.dim %keys, %c0 : !cache
    %capacity = tensor.dim %keys, %c1 : !cache
    %q = tensor.expand_shape %query [[0], [1], [2, 3]] output_shape [%batch, 1, 4, 16] : !token into !token_heads
    %k = tensor.expand_shape %new_keys [[0], [1], [2, 3]] output_shape [%batch, %capacity, 4, 16]
      : !cache into !cache_heads
    %v = tensor.expand_shape %new_values [[0], [1], [2, 3]] output_shape [%batch, %capacity, 4, 16]
      : !cache into !cache_heads
    %attended = attn.attention %q, %k, %v scale(0.25) layout("bqhd,bkhd,bkhe->bqhe")
      query_offset(%position : !lengths) keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %length: index):
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      } : !token_heads, !cache_heads, !cache_heads -> !token_heads
    %output = tensor.collapse_shape %attended [[0], [1], [2, 3]] : !token_heads into !token
    return %output, %new_keys, %new_values : !token, !cache, !cache
  }
}
