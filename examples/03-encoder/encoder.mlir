// An encoder (Vaswani et al. 2017, figure 1, left): two layers, width 128, 4 heads, inner width 512.
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

module @encoder attributes {heed.params = "encoder.safetensors"} {
  // Multi-head attention in steps: from every query to the keys that the mask keeps.
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

  // Attention, then a feed-forward network, each added to its input and normalized. One function serves all layers,
  // whose parameters are its arguments: code grows with distinct layers only.
  func.func private @layer(%x: !hidden, %mask: !ids, %w_q: !project, %b_q: !vector, %w_k: !project, %b_k: !vector,
      %w_v: !project, %b_v: !vector, %w_o: !project, %b_o: !vector, %gamma_1: !vector, %beta_1: !vector,
      %w_in: !widen, %b_in: !inner_vector, %w_out: !narrow, %b_out: !vector, %gamma_2: !vector, %beta_2: !vector)
      -> !hidden {
    %query = attn.linear %x, %w_q, %b_q : !hidden, !project, !vector -> !hidden
    %key = attn.linear %x, %w_k, %b_k : !hidden, !project, !vector -> !hidden
    %value = attn.linear %x, %w_v, %b_v : !hidden, !project, !vector -> !hidden
    %attended = call @attend(%query, %key, %value, %mask) : (!hidden, !hidden, !hidden, !ids) -> !hidden
    %projected_1 = attn.linear %attended, %w_o, %b_o : !hidden, !project, !vector -> !hidden
    %added_1 = arith.addf %projected_1, %x : !hidden
    %x1 = attn.layer_norm %added_1, %gamma_1, %beta_1 epsilon(1.0e-5) : !hidden, !vector, !vector

    %wide = attn.linear %x1, %w_in, %b_in : !hidden, !widen, !inner_vector -> !inner
    %active = attn.relu %wide : !inner
    %narrow = attn.linear %active, %w_out, %b_out : !inner, !narrow, !vector -> !hidden
    %added_2 = arith.addf %narrow, %x1 : !hidden
    %x2 = attn.layer_norm %added_2, %gamma_2, %beta_2 epsilon(1.0e-5) : !hidden, !vector, !vector
    return %x2 : !hidden
  }

  func.func @encoder(
      %x_0: !hidden {attn.name = "x", attn.shape = ["batch", "seq", 128]},
      %mask: !ids {attn.name = "mask", attn.shape = ["batch", "seq"], attn.optional = "ones", attn.range = [0, 1]})
      -> (!hidden {attn.name = "hidden", attn.shape = ["batch", "seq", 128]}) {
    %w_q_0 = attn.param "layer.0.query.weight" : !project
    %b_q_0 = attn.param "layer.0.query.bias" : !vector
    %w_k_0 = attn.param "layer.0.key.weight" : !project
    %b_k_0 = attn.param "layer.0.key.bias" : !vector
    %w_v_0 = attn.param "layer.0.value.weight" : !project
    %b_v_0 = attn.param "layer.0.value.bias" : !vector
    %w_o_0 = attn.param "layer.0.output.weight" : !project
    %b_o_0 = attn.param "layer.0.output.bias" : !vector
    %gamma_1_0 = attn.param "layer.0.norm_1.weight" : !vector
    %beta_1_0 = attn.param "layer.0.norm_1.bias" : !vector
    %w_in_0 = attn.param "layer.0.widen.weight" : !widen
    %b_in_0 = attn.param "layer.0.widen.bias" : !inner_vector
    %w_out_0 = attn.param "layer.0.narrow.weight" : !narrow
    %b_out_0 = attn.param "layer.0.narrow.bias" : !vector
    %gamma_2_0 = attn.param "layer.0.norm_2.weight" : !vector
    %beta_2_0 = attn.param "layer.0.norm_2.bias" : !vector
    %x_1 = call @layer(%x_0, %mask, %w_q_0, %b_q_0, %w_k_0, %b_k_0, %w_v_0, %b_v_0, %w_o_0, %b_o_0, %gamma_1_0,
        %beta_1_0, %w_in_0, %b_in_0, %w_out_0, %b_out_0, %gamma_2_0, %beta_2_0)
      : (!hidden, !ids, !project, !vector, !project, !vector, !project, !vector, !project, !vector, !vector, !vector,
          !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden

    %w_q_1 = attn.param "layer.1.query.weight" : !project
    %b_q_1 = attn.param "layer.1.query.bias" : !vector
    %w_k_1 = attn.param "layer.1.key.weight" : !project
    %b_k_1 = attn.param "layer.1.key.bias" : !vector
    %w_v_1 = attn.param "layer.1.value.weight" : !project
    %b_v_1 = attn.param "layer.1.value.bias" : !vector
    %w_o_1 = attn.param "layer.1.output.weight" : !project
    %b_o_1 = attn.param "layer.1.output.bias" : !vector
    %gamma_1_1 = attn.param "layer.1.norm_1.weight" : !vector
    %beta_1_1 = attn.param "layer.1.norm_1.bias" : !vector
    %w_in_1 = attn.param "layer.1.widen.weight" : !widen
    %b_in_1 = attn.param "layer.1.widen.bias" : !inner_vector
    %w_out_1 = attn.param "layer.1.narrow.weight" : !narrow
    %b_out_1 = attn.param "layer.1.narrow.bias" : !vector
    %gamma_2_1 = attn.param "layer.1.norm_2.weight" : !vector
    %beta_2_1 = attn.param "layer.1.norm_2.bias" : !vector
    %x_2 = call @layer(%x_1, %mask, %w_q_1, %b_q_1, %w_k_1, %b_k_1, %w_v_1, %b_v_1, %w_o_1, %b_o_1, %gamma_1_1,
        %beta_1_1, %w_in_1, %b_in_1, %w_out_1, %b_out_1, %gamma_2_1, %beta_2_1)
      : (!hidden, !ids, !project, !vector, !project, !vector, !project, !vector, !project, !vector, !vector, !vector,
          !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden

    return %x_2 : !hidden
  }
}
