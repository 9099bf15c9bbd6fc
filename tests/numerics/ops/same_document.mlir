func.func @dynamic(%q: tensor<?x2x?x8xELEM> {attn.shape = ["b", 2, "q", 8]}, %k: tensor<?x2x?x8xELEM> {attn.shape = ["b", 2, "k", 8]}, %v: tensor<?x2x?x8xELEM> {attn.shape = ["b", 2, "k", 8]}, %ids: tensor<?x?xi32> {attn.shape = ["b", "q"], attn.range = [0, 3]}, %kids: tensor<?x?xi32> {attn.shape = ["b", "k"], attn.range = [0, 3]}) -> tensor<?x2x?x8xELEM> {
  %0 = attn.attention %q, %k, %v scale(0.35) reads(%ids, %kids : tensor<?x?xi32>, tensor<?x?xi32>) maps [affine_map<(b, h, q, k) -> (b, q)>, affine_map<(b, h, q, k) -> (b, k)>] keep {
  ^bb0(%batch: index, %head: index, %i: index, %j: index, %ql: index, %kl: index, %dq: i32, %dk: i32):
    %keep = attn.same_document %dq, %dk : i32
    attn.yield %keep : i1
  } : tensor<?x2x?x8xELEM>, tensor<?x2x?x8xELEM>, tensor<?x2x?x8xELEM> -> tensor<?x2x?x8xELEM>
  return %0 : tensor<?x2x?x8xELEM>
}
