func.func @plain(%q: tensor<?x?xELEM> {attn.shape = ["q", "d"]}, %k: tensor<?x?xELEM> {attn.shape = ["k", "d"]}, %v: tensor<?x?xELEM> {attn.shape = ["k", "e"]}) -> tensor<?x?xELEM> {
  %0 = attn.attention %q, %k, %v scale(0.5) layout("qd,kd,ke->qe") : tensor<?x?xELEM>, tensor<?x?xELEM>, tensor<?x?xELEM> -> tensor<?x?xELEM>
  return %0 : tensor<?x?xELEM>
}
func.func @groups(%q: tensor<?x?x6x16xELEM> {attn.shape = ["b", "q", 6, 16]}, %k: tensor<?x?x2x16xELEM> {attn.shape = ["b", "k", 2, 16]}, %v: tensor<?x?x2x24xELEM> {attn.shape = ["b", "k", 2, 24]}, %n: tensor<?xi64> {attn.shape = ["b"], attn.range = [0, "k"]}) -> (tensor<?x?x6x24xELEM>, tensor<?x?x6xf32>) {
  %0, %lse = attn.attention %q, %k, %v scale(0.25) layout("bqhd,bkhd,bkhe->bqhe") key_lengths(%n : tensor<?xi64>)
    : tensor<?x?x6x16xELEM>, tensor<?x?x2x16xELEM>, tensor<?x?x2x24xELEM> -> tensor<?x?x6x24xELEM>, tensor<?x?x6xf32>
  return %0, %lse : tensor<?x?x6x24xELEM>, tensor<?x?x6xf32>
}
func.func @static(%q: tensor<2x3x5x8xELEM>, %k: tensor<2x3x70x8xELEM>, %v: tensor<2x3x70x8xELEM>, %s: tensor<3xELEM>) -> tensor<2x3x5x8xELEM> {
  %0 = attn.attention %q, %k, %v sinks(%s : tensor<3xELEM>) : tensor<2x3x5x8xELEM>, tensor<2x3x70x8xELEM>, tensor<2x3x70x8xELEM> -> tensor<2x3x5x8xELEM>
  return %0 : tensor<2x3x5x8xELEM>
}
func.func @offsets(%q: tensor<?x2x?x8xELEM> {attn.shape = ["b", 2, "q", 8]}, %k: tensor<?x2x?x8xELEM> {attn.shape = ["b", 2, "k", 8]}, %v: tensor<?x2x?x8xELEM> {attn.shape = ["b", 2, "k", 8]}, %o: tensor<?xi32> {attn.shape = ["b"], attn.range = [0, 40]}) -> tensor<?x2x?x8xELEM> {
  %0 = attn.attention %q, %k, %v query_offset(%o : tensor<?xi32>) empty_rows(nan) score {
  ^bb0(%s: f32, %batch: index, %head: index, %i: index, %j: index, %ql: index, %kl: index):
    %t = math.tanh %s : f32
    attn.yield %t : f32
  } keep {
  ^bb0(%batch: index, %head: index, %i: index, %j: index, %ql: index, %kl: index):
    %c = attn.causal %i, %j
    attn.yield %c : i1
  } : tensor<?x2x?x8xELEM>, tensor<?x2x?x8xELEM>, tensor<?x2x?x8xELEM> -> tensor<?x2x?x8xELEM>
  return %0 : tensor<?x2x?x8xELEM>
}
func.func @transposed(%q: tensor<3x8x7xELEM>, %k: tensor<3x8x150xELEM>, %v: tensor<3x6x150xELEM>, %m: tensor<7x150xi1>) -> tensor<3x6x7xELEM> {
  %0 = attn.attention %q, %k, %v layout("bdq,bdk,bek->beq") reads(%m : tensor<7x150xi1>) maps [affine_map<(b, h, q, k) -> (q, k)>] keep {
  ^bb0(%batch: index, %head: index, %i: index, %j: index, %ql: index, %kl: index, %kept: i1):
    attn.yield %kept : i1
  } : tensor<3x8x7xELEM>, tensor<3x8x150xELEM>, tensor<3x6x150xELEM> -> tensor<3x6x7xELEM>
  return %0 : tensor<3x6x7xELEM>
}
func.func @steps(%q: tensor<?x2x?x16xELEM> {attn.shape = ["b", 2, "q", 16]}, %k: tensor<?x2x?x16xELEM> {attn.shape = ["b", 2, "k", 16]}, %v: tensor<?x2x?x16xELEM> {attn.shape = ["b", 2, "k", 16]}) -> tensor<?x2x?x16xELEM> {
  %s = attn.matmul %q, %k transpose_rhs : (tensor<?x2x?x16xELEM>, tensor<?x2x?x16xELEM>) -> tensor<?x2x?x?xELEM>
  %s1 = attn.scale %s by 0.25 : tensor<?x2x?x?xELEM>
  %s2 = attn.softcap %s1 by 5.0 : tensor<?x2x?x?xELEM>
  %s3 = attn.mask %s2 keep {
  ^bb0(%batch: index, %head: index, %i: index, %j: index, %ql: index, %kl: index):
    %c = attn.causal %i, %j bottom_right(%ql, %kl)
    attn.yield %c : i1
  } : tensor<?x2x?x?xELEM>
  %p = attn.softmax %s3 {attn.expect_fused} : tensor<?x2x?x?xELEM>
  %o = attn.matmul %p, %v : (tensor<?x2x?x?xELEM>, tensor<?x2x?x16xELEM>) -> tensor<?x2x?x16xELEM>
  return %o : tensor<?x2x?x16xELEM>
}
func.func @no_keys(%q: tensor<2x3x5x8xELEM>, %k: tensor<2x3x0x8xELEM>, %v: tensor<2x3x0x8xELEM>) -> (tensor<2x3x5x8xELEM>, tensor<2x3x5xf32>) {
  %0, %lse = attn.attention %q, %k, %v : tensor<2x3x5x8xELEM>, tensor<2x3x0x8xELEM>, tensor<2x3x0x8xELEM> -> tensor<2x3x5x8xELEM>, tensor<2x3x5xf32>
  return %0, %lse : tensor<2x3x5x8xELEM>, tensor<2x3x5xf32>
}
