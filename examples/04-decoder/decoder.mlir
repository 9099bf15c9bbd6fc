// A decoder (Vaswani et al. 2017, figure 1, right): two layers, width 128, 4 heads, inner width 512.
!ids = tensor<?x?xi64>
!hidden = tensor<?x?x128xf32>
!heads = tensor<?x4x?x32xf32>
!scores = tensor<?x4x?x?xf32>
!inner = tensor<?x?x512xf32>
!vector = tensor<128xf32>
!inner_vector = tensor<512xf32>
!project = tensor<128x128xf32>
!widen = tensor<512x128xf32>
!narrow = tensor<128x512xf32>

module @decoder attributes {heed.params = "decoder.safetensors"} {
  // Masked self-attention: no position sees one behind it.
  func.func private @attend_causal(%query: !hidden, %key: !hidden, %value: !hidden) -> !hidden {
    %q = attn.split_heads %query heads(4) : !hidden -> !heads
    %k = attn.split_heads %key heads(4) : !hidden -> !heads
    %v = attn.split_heads %value heads(4) : !hidden -> !heads
    %scores = attn.matmul %q, %k transpose_rhs : (!heads, !heads) -> !scores
    %scaled = attn.scale %scores by 0.17677669529663687 : !scores
    %masked = attn.mask %scaled keep {
    ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys: index):
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    } : !scores
    %weights = attn.softmax %masked : !scores
    %attended = attn.matmul %weights, %v : (!scores, !heads) -> !heads
    %merged = attn.merge_heads %attended : !heads -> !hidden
    return %merged : !hidden
  }

  // Encoder–decoder attention: every position sees the whole source, save its padding.
  func.func private @attend(%query: !hidden, %key: !hidden, %value: !hidden, %mask: !ids) -> !hidden {
    %q = attn.split_heads %query heads(4) : !hidden -> !heads
    %k = attn.split_heads %key heads(4) : !hidden -> !heads
    %v = attn.split_heads %value heads(4) : !hidden -> !heads
    %scores = attn.matmul %q, %k transpose_rhs : (!heads, !heads) -> !scores
    %scaled = attn.scale %scores by 0.17677669529663687 : !scores
    %masked = attn.mask %scaled reads(%mask : !ids) maps [affine_map<(b, h, q, k) -> (b, k)>] keep {
    ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys: index, %flag: i64):
      %zero = arith.constant 0 : i64
      %keep = arith.cmpi ne, %flag, %zero : i64
      attn.yield %keep : i1
    } : !scores
    %weights = attn.softmax %masked : !scores
    %attended = attn.matmul %weights, %v : (!scores, !heads) -> !heads
    %merged = attn.merge_heads %attended : !heads -> !hidden
    return %merged : !hidden
  }

  func.func private @layer(%x: !hidden, %memory: !hidden, %memory_mask: !ids, %w_q: !project, %b_q: !vector,
      %w_k: !project, %b_k: !vector, %w_v: !project, %b_v: !vector, %w_o: !project, %b_o: !vector, %gamma_1: !vector,
      %beta_1: !vector, %w_mq: !project, %b_mq: !vector, %w_mk: !project, %b_mk: !vector, %w_mv: !project,
      %b_mv: !vector, %w_mo: !project, %b_mo: !vector, %gamma_2: !vector, %beta_2: !vector, %w_in: !widen,
      %b_in: !inner_vector, %w_out: !narrow, %b_out: !vector, %gamma_3: !vector, %beta_3: !vector) -> !hidden {
    %query = attn.linear %x, %w_q, %b_q : !hidden, !project, !vector -> !hidden
    %key = attn.linear %x, %w_k, %b_k : !hidden, !project, !vector -> !hidden
    %value = attn.linear %x, %w_v, %b_v : !hidden, !project, !vector -> !hidden
    %attended = call @attend_causal(%query, %key, %value) : (!hidden, !hidden, !hidden) -> !hidden
    %projected_1 = attn.linear %attended, %w_o, %b_o : !hidden, !project, !vector -> !hidden
    %added_1 = arith.addf %projected_1, %x : !hidden
    %x1 = attn.layer_norm %added_1, %gamma_1, %beta_1 epsilon(1.0e-5) : !hidden, !vector, !vector

    %recall = attn.linear %x1, %w_mq, %b_mq : !hidden, !project, !vector -> !hidden
    %memory_key = attn.linear %memory, %w_mk, %b_mk : !hidden, !project, !vector -> !hidden
    %memory_value = attn.linear %memory, %w_mv, %b_mv : !hidden, !project, !vector -> !hidden
    %recalled = call @attend(%recall, %memory_key, %memory_value, %memory_mask)
      : (!hidden, !hidden, !hidden, !ids) -> !hidden
    %projected_2 = attn.linear %recalled, %w_mo, %b_mo : !hidden, !project, !vector -> !hidden
    %added_2 = arith.addf %projected_2, %x1 : !hidden
    %x2 = attn.layer_norm %added_2, %gamma_2, %beta_2 epsilon(1.0e-5) : !hidden, !vector, !vector

    %wide = attn.linear %x2, %w_in, %b_in : !hidden, !widen, !inner_vector -> !inner
    %active = attn.relu %wide : !inner
    %narrow = attn.linear %active, %w_out, %b_out : !inner, !narrow, !vector -> !hidden
    %added_3 = arith.addf %narrow, %x2 : !hidden
    %x3 = attn.layer_norm %added_3, %gamma_3, %beta_3 epsilon(1.0e-5) : !hidden, !vector, !vector
    return %x3 : !hidden
  }

  func.func @decoder(
      %x_0: !hidden {attn.name = "x", attn.shape = ["batch", "target", 128]},
      %memory: !hidden {attn.name = "memory", attn.shape = ["batch", "source", 128]},
      %memory_mask: !ids {attn.name = "memory_mask", attn.shape = ["batch", "source"], attn.optional = "ones",
        attn.range = [0, 1]})
      -> (!hidden {attn.name = "hidden", attn.shape = ["batch", "target", 128]}) {
    %w_q_0 = attn.param "layer.0.self.query.weight" : !project
    %b_q_0 = attn.param "layer.0.self.query.bias" : !vector
    %w_k_0 = attn.param "layer.0.self.key.weight" : !project
    %b_k_0 = attn.param "layer.0.self.key.bias" : !vector
    %w_v_0 = attn.param "layer.0.self.value.weight" : !project
    %b_v_0 = attn.param "layer.0.self.value.bias" : !vector
    %w_o_0 = attn.param "layer.0.self.output.weight" : !project
    %b_o_0 = attn.param "layer.0.self.output.bias" : !vector
    %gamma_1_0 = attn.param "layer.0.norm_1.weight" : !vector
    %beta_1_0 = attn.param "layer.0.norm_1.bias" : !vector
    %w_mq_0 = attn.param "layer.0.memory.query.weight" : !project
    %b_mq_0 = attn.param "layer.0.memory.query.bias" : !vector
    %w_mk_0 = attn.param "layer.0.memory.key.weight" : !project
    %b_mk_0 = attn.param "layer.0.memory.key.bias" : !vector
    %w_mv_0 = attn.param "layer.0.memory.value.weight" : !project
    %b_mv_0 = attn.param "layer.0.memory.value.bias" : !vector
    %w_mo_0 = attn.param "layer.0.memory.output.weight" : !project
    %b_mo_0 = attn.param "layer.0.memory.output.bias" : !vector
    %gamma_2_0 = attn.param "layer.0.norm_2.weight" : !vector
    %beta_2_0 = attn.param "layer.0.norm_2.bias" : !vector
    %w_in_0 = attn.param "layer.0.widen.weight" : !widen
    %b_in_0 = attn.param "layer.0.widen.bias" : !inner_vector
    %w_out_0 = attn.param "layer.0.narrow.weight" : !narrow
    %b_out_0 = attn.param "layer.0.narrow.bias" : !vector
    %gamma_3_0 = attn.param "layer.0.norm_3.weight" : !vector
    %beta_3_0 = attn.param "layer.0.norm_3.bias" : !vector
    %x_1 = call @layer(%x_0, %memory, %memory_mask, %w_q_0, %b_q_0, %w_k_0, %b_k_0, %w_v_0, %b_v_0, %w_o_0, %b_o_0,
        %gamma_1_0, %beta_1_0, %w_mq_0, %b_mq_0, %w_mk_0, %b_mk_0, %w_mv_0, %b_mv_0, %w_mo_0, %b_mo_0, %gamma_2_0,
        %beta_2_0, %w_in_0, %b_in_0, %w_out_0, %b_out_0, %gamma_3_0, %beta_3_0)
      : (!hidden, !hidden, !ids, !project, !vector, !project, !vector, !project, !vector, !project, !vector, !vector,
          !vector, !project, !vector, !project, !vector, !project, !vector, !project, !vector, !vector, !vector,
          !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden

    %w_q_1 = attn.param "layer.1.self.query.weight" : !project
    %b_q_1 = attn.param "layer.1.self.query.bias" : !vector
    %w_k_1 = attn.param "layer.1.self.key.weight" : !project
    %b_k_1 = attn.param "layer.1.self.key.bias" : !vector
    %w_v_1 = attn.param "layer.1.self.value.weight" : !project
    %b_v_1 = attn.param "layer.1.self.value.bias" : !vector
    %w_o_1 = attn.param "layer.1.self.output.weight" : !project
    %b_o_1 = attn.param "layer.1.self.output.bias" : !vector
    %gamma_1_1 = attn.param "layer.1.norm_1.weight" : !vector
    %beta_1_1 = attn.param "layer.1.norm_1.bias" : !vector
    %w_mq_1 = attn.param "layer.1.memory.query.weight" : !project
    %b_mq_1 = attn.param "layer.1.memory.query.bias" : !vector
    %w_mk_1 = attn.param "layer.1.memory.key.weight" : !project
    %b_mk_1 = attn.param "layer.1.memory.key.bias" : !vector
    %w_mv_1 = attn.param "layer.1.memory.value.weight" : !project
    %b_mv_1 = attn.param "layer.1.memory.value.bias" : !vector
    %w_mo_1 = attn.param "layer.1.memory.output.weight" : !project
    %b_mo_1 = attn.param "layer.1.memory.output.bias" : !vector
    %gamma_2_1 = attn.param "layer.1.norm_2.weight" : !vector
    %beta_2_1 = attn.param "layer.1.norm_2.bias" : !vector
    %w_in_1 = attn.param "layer.1.widen.weight" : !widen
    %b_in_1 = attn.param "layer.1.widen.bias" : !inner_vector
    %w_out_1 = attn.param "layer.1.narrow.weight" : !narrow
    %b_out_1 = attn.param "layer.1.narrow.bias" : !vector
    %gamma_3_1 = attn.param "layer.1.norm_3.weight" : !vector
    %beta_3_1 = attn.param "layer.1.norm_3.bias" : !vector
    %x_2 = call @layer(%x_1, %memory, %memory_mask, %w_q_1, %b_q_1, %w_k_1, %b_k_1, %w_v_1, %b_v_1, %w_o_1, %b_o_1,
        %gamma_1_1, %beta_1_1, %w_mq_1, %b_mq_1, %w_mk_1, %b_mk_1, %w_mv_1, %b_mv_1, %w_mo_1, %b_mo_1, %gamma_2_1,
        %beta_2_1, %w_in_1, %b_in_1, %w_out_1, %b_out_1, %gamma_3_1, %beta_3_1)
      : (!hidden, !hidden, !ids, !project, !vector, !project, !vector, !project, !vector, !project, !vector, !vector,
          !vector, !project, !vector, !project, !vector, !project, !vector, !project, !vector, !vector, !vector,
          !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden

    return %x_2 : !hidden
  }
}
