// The Transformer of "Attention Is All You Need" (Vaswani et al. 2017): width 64, 4 heads, inner width 128,
// 2 + 2 layers, 13 tokens. Written by transformer.py.
!ids = tensor<?x?xi64>
!lengths = tensor<?xi64>
!hidden = tensor<?x?x64xf32>
!heads = tensor<?x4x?x16xf32>
!split = tensor<?x?x4x16xf32>
!scores = tensor<?x4x?x?xf32>
!inner = tensor<?x?x128xf32>
!logits = tensor<?x?x13xf32>
!words = tensor<13x64xf32>
!vector = tensor<64xf32>
!inner_vector = tensor<128xf32>
!project = tensor<64x64xf32>
!widen = tensor<128x64xf32>
!narrow = tensor<64x128xf32>

module @reverse attributes {heed.params = "reverse.safetensors"} {
  // Words and positions (sections 3.4 and 3.5).
  func.func private @embed(%words: !words, %ids: !ids) -> !hidden {
    %embedded = attn.embedding %words, %ids : (!words, !ids) -> !hidden
    %scaled = attn.scale %embedded by 8.0 : !hidden
    %placed = attn.sinusoidal_positions %scaled : !hidden
    return %placed : !hidden
  }

  func.func private @embed_at(%words: !words, %ids: !ids, %position: !lengths) -> !hidden {
    %embedded = attn.embedding %words, %ids : (!words, !ids) -> !hidden
    %scaled = attn.scale %embedded by 8.0 : !hidden
    %placed = attn.sinusoidal_positions %scaled offset(%position : !lengths) : !hidden
    return %placed : !hidden
  }

  // Multi-head attention (section 3.2.2) to the tokens that the mask keeps.
  func.func private @attend(%query: !hidden, %key: !hidden, %value: !hidden, %mask: !ids) -> !hidden {
    %q = attn.split_heads %query heads(4) : !hidden -> !heads
    %k = attn.split_heads %key heads(4) : !hidden -> !heads
    %v = attn.split_heads %value heads(4) : !hidden -> !heads
    %scores = attn.matmul %q, %k transpose_rhs : (!heads, !heads) -> !scores
    %scaled = attn.scale %scores by 0.25 : !scores
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

  // The same to the tokens so far.
  func.func private @attend_causal(%query: !hidden, %key: !hidden, %value: !hidden) -> !hidden {
    %q = attn.split_heads %query heads(4) : !hidden -> !heads
    %k = attn.split_heads %key heads(4) : !hidden -> !heads
    %v = attn.split_heads %value heads(4) : !hidden -> !heads
    %scores = attn.matmul %q, %k transpose_rhs : (!heads, !heads) -> !scores
    %scaled = attn.scale %scores by 0.25 : !scores
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

  // The same from the new tokens to those in the cache, each up to its own; the cache is read where it lies.
  func.func private @attend_cached(%query: !hidden, %keys: !hidden, %values: !hidden, %position: !lengths) -> !hidden {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %batch = tensor.dim %query, %c0 : !hidden
    %new = tensor.dim %query, %c1 : !hidden
    %capacity = tensor.dim %keys, %c1 : !hidden
    %q = tensor.expand_shape %query [[0], [1], [2, 3]] output_shape [%batch, %new, 4, 16]
      : !hidden into !split
    %k = tensor.expand_shape %keys [[0], [1], [2, 3]] output_shape [%batch, %capacity, 4, 16]
      : !hidden into !split
    %v = tensor.expand_shape %values [[0], [1], [2, 3]] output_shape [%batch, %capacity, 4, 16]
      : !hidden into !split
    %attended = attn.attention %q, %k, %v scale(0.25) layout("bqhd,bkhd,bkhe->bqhe")
      query_offset(%position : !lengths) keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index, %queries: index, %keys_length: index):
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      } : !split, !split, !split -> !split
    %merged = tensor.collapse_shape %attended [[0], [1], [2, 3]] : !split into !hidden
    return %merged : !hidden
  }

  // The output projection of attention, added to what went in and normalized.
  func.func private @add_and_norm(%attended: !hidden, %x: !hidden, %w: !project, %b: !vector, %gamma: !vector,
      %beta: !vector) -> !hidden {
    %projected = attn.linear %attended, %w, %b : !hidden, !project, !vector -> !hidden
    %added = arith.addf %projected, %x : !hidden
    %normed = attn.layer_norm %added, %gamma, %beta epsilon(1.0e-5) : !hidden, !vector, !vector
    return %normed : !hidden
  }

  // The feed-forward network (section 3.3), added to what went in and normalized.
  func.func private @feed_forward(%x: !hidden, %w_1: !widen, %b_1: !inner_vector, %w_2: !narrow, %b_2: !vector,
      %gamma: !vector, %beta: !vector) -> !hidden {
    %wide = attn.linear %x, %w_1, %b_1 : !hidden, !widen, !inner_vector -> !inner
    %active = attn.relu %wide : !inner
    %narrow = attn.linear %active, %w_2, %b_2 : !inner, !narrow, !vector -> !hidden
    %added = arith.addf %narrow, %x : !hidden
    %normed = attn.layer_norm %added, %gamma, %beta epsilon(1.0e-5) : !hidden, !vector, !vector
    return %normed : !hidden
  }

  // Figure 1, left: attention to the source, and the feed-forward network.
  func.func private @encoder_layer(%x: !hidden, %source_mask: !ids, %w_q: !project, %b_q: !vector, %w_k: !project,
      %b_k: !vector, %w_v: !project, %b_v: !vector, %w_o: !project, %b_o: !vector, %gamma_1: !vector, %beta_1: !vector,
      %w_1: !widen, %b_1: !inner_vector, %w_2: !narrow, %b_2: !vector, %gamma_2: !vector, %beta_2: !vector) -> !hidden {
    %query = attn.linear %x, %w_q, %b_q : !hidden, !project, !vector -> !hidden
    %key = attn.linear %x, %w_k, %b_k : !hidden, !project, !vector -> !hidden
    %value = attn.linear %x, %w_v, %b_v : !hidden, !project, !vector -> !hidden
    %attended = call @attend(%query, %key, %value, %source_mask) : (!hidden, !hidden, !hidden, !ids) -> !hidden
    %x1 = call @add_and_norm(%attended, %x, %w_o, %b_o, %gamma_1, %beta_1)
      : (!hidden, !hidden, !project, !vector, !vector, !vector) -> !hidden
    %x2 = call @feed_forward(%x1, %w_1, %b_1, %w_2, %b_2, %gamma_2, %beta_2)
      : (!hidden, !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden
    return %x2 : !hidden
  }

  // What a decoder layer reads of the source.
  func.func private @memory(%memory: !hidden, %w_mk: !project, %b_mk: !vector, %w_mv: !project, %b_mv: !vector)
      -> (!hidden, !hidden) {
    %key = attn.linear %memory, %w_mk, %b_mk : !hidden, !project, !vector -> !hidden
    %value = attn.linear %memory, %w_mv, %b_mv : !hidden, !project, !vector -> !hidden
    return %key, %value : !hidden, !hidden
  }

  // Figure 1, right: attention to the target so far, attention to the source, and the feed-forward network.
  func.func private @decoder_layer(%x: !hidden, %memory_key: !hidden, %memory_value: !hidden, %source_mask: !ids,
      %w_q: !project, %b_q: !vector, %w_k: !project, %b_k: !vector, %w_v: !project, %b_v: !vector, %w_o: !project,
      %b_o: !vector, %gamma_1: !vector, %beta_1: !vector, %w_mq: !project, %b_mq: !vector, %w_mo: !project,
      %b_mo: !vector, %gamma_2: !vector, %beta_2: !vector, %w_1: !widen, %b_1: !inner_vector, %w_2: !narrow,
      %b_2: !vector, %gamma_3: !vector, %beta_3: !vector) -> !hidden {
    %query = attn.linear %x, %w_q, %b_q : !hidden, !project, !vector -> !hidden
    %key = attn.linear %x, %w_k, %b_k : !hidden, !project, !vector -> !hidden
    %value = attn.linear %x, %w_v, %b_v : !hidden, !project, !vector -> !hidden
    %attended = call @attend_causal(%query, %key, %value) : (!hidden, !hidden, !hidden) -> !hidden
    %x1 = call @add_and_norm(%attended, %x, %w_o, %b_o, %gamma_1, %beta_1)
      : (!hidden, !hidden, !project, !vector, !vector, !vector) -> !hidden
    %recall = attn.linear %x1, %w_mq, %b_mq : !hidden, !project, !vector -> !hidden
    %recalled = call @attend(%recall, %memory_key, %memory_value, %source_mask)
      : (!hidden, !hidden, !hidden, !ids) -> !hidden
    %x2 = call @add_and_norm(%recalled, %x1, %w_mo, %b_mo, %gamma_2, %beta_2)
      : (!hidden, !hidden, !project, !vector, !vector, !vector) -> !hidden
    %x3 = call @feed_forward(%x2, %w_1, %b_1, %w_2, %b_2, %gamma_3, %beta_3)
      : (!hidden, !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden
    return %x3 : !hidden
  }

  // The same for new tokens alone, with the keys and values of those before them in caches.
  func.func private @decoder_step(%x: !hidden, %memory_key: !hidden, %memory_value: !hidden, %source_mask: !ids,
      %position: !lengths, %keys: !hidden {attn.strided, attn.state = 1}, %values: !hidden {attn.strided,
      attn.state = 2}, %w_q: !project, %b_q: !vector, %w_k: !project, %b_k: !vector, %w_v: !project, %b_v: !vector,
      %w_o: !project, %b_o: !vector, %gamma_1: !vector, %beta_1: !vector, %w_mq: !project, %b_mq: !vector,
      %w_mo: !project, %b_mo: !vector, %gamma_2: !vector, %beta_2: !vector, %w_1: !widen, %b_1: !inner_vector,
      %w_2: !narrow, %b_2: !vector, %gamma_3: !vector, %beta_3: !vector) -> (!hidden, !hidden, !hidden) {
    %query = attn.linear %x, %w_q, %b_q : !hidden, !project, !vector -> !hidden
    %key = attn.linear %x, %w_k, %b_k : !hidden, !project, !vector -> !hidden
    %value = attn.linear %x, %w_v, %b_v : !hidden, !project, !vector -> !hidden
    %new_keys = attn.cache_update %keys, %key at %position : !hidden, !hidden, !lengths
    %new_values = attn.cache_update %values, %value at %position : !hidden, !hidden, !lengths
    %attended = call @attend_cached(%query, %new_keys, %new_values, %position)
      : (!hidden, !hidden, !hidden, !lengths) -> !hidden
    %x1 = call @add_and_norm(%attended, %x, %w_o, %b_o, %gamma_1, %beta_1)
      : (!hidden, !hidden, !project, !vector, !vector, !vector) -> !hidden
    %recall = attn.linear %x1, %w_mq, %b_mq : !hidden, !project, !vector -> !hidden
    %recalled = call @attend(%recall, %memory_key, %memory_value, %source_mask)
      : (!hidden, !hidden, !hidden, !ids) -> !hidden
    %x2 = call @add_and_norm(%recalled, %x1, %w_mo, %b_mo, %gamma_2, %beta_2)
      : (!hidden, !hidden, !project, !vector, !vector, !vector) -> !hidden
    %x3 = call @feed_forward(%x2, %w_1, %b_1, %w_2, %b_2, %gamma_3, %beta_3)
      : (!hidden, !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden
    return %x3, %new_keys, %new_values : !hidden, !hidden, !hidden
  }

  // Figure 1, whole: the probabilities of the token after each of the target's.
  func.func @transformer(
      %source_ids: !ids {attn.name = "source_ids", attn.shape = ["batch", "source"], attn.range = [0, 12]},
      %source_mask: !ids {attn.name = "source_mask", attn.shape = ["batch", "source"], attn.optional = "ones",
          attn.range = [0, 1]},
      %target_ids: !ids {attn.name = "target_ids", attn.shape = ["batch", "target"], attn.range = [0, 12]})
      -> (!logits {attn.name = "probabilities", attn.shape = ["batch", "target", 13]}) {
    %words = attn.param "embedding.weight" : !words
    %memory_0 = call @embed(%words, %source_ids) : (!words, !ids) -> !hidden

    %encoder_0_w_q = attn.param "encoder.0.self_attention.query.weight" : !project
    %encoder_0_b_q = attn.param "encoder.0.self_attention.query.bias" : !vector
    %encoder_0_w_k = attn.param "encoder.0.self_attention.key.weight" : !project
    %encoder_0_b_k = attn.param "encoder.0.self_attention.key.bias" : !vector
    %encoder_0_w_v = attn.param "encoder.0.self_attention.value.weight" : !project
    %encoder_0_b_v = attn.param "encoder.0.self_attention.value.bias" : !vector
    %encoder_0_w_o = attn.param "encoder.0.self_attention.output.weight" : !project
    %encoder_0_b_o = attn.param "encoder.0.self_attention.output.bias" : !vector
    %encoder_0_gamma_1 = attn.param "encoder.0.norm_1.weight" : !vector
    %encoder_0_beta_1 = attn.param "encoder.0.norm_1.bias" : !vector
    %encoder_0_w_1 = attn.param "encoder.0.widen.weight" : !widen
    %encoder_0_b_1 = attn.param "encoder.0.widen.bias" : !inner_vector
    %encoder_0_w_2 = attn.param "encoder.0.narrow.weight" : !narrow
    %encoder_0_b_2 = attn.param "encoder.0.narrow.bias" : !vector
    %encoder_0_gamma_2 = attn.param "encoder.0.norm_2.weight" : !vector
    %encoder_0_beta_2 = attn.param "encoder.0.norm_2.bias" : !vector
    %memory_1 = call @encoder_layer(%memory_0, %source_mask, %encoder_0_w_q, %encoder_0_b_q, %encoder_0_w_k,
        %encoder_0_b_k, %encoder_0_w_v, %encoder_0_b_v, %encoder_0_w_o, %encoder_0_b_o, %encoder_0_gamma_1,
        %encoder_0_beta_1, %encoder_0_w_1, %encoder_0_b_1, %encoder_0_w_2, %encoder_0_b_2, %encoder_0_gamma_2,
        %encoder_0_beta_2)
      : (!hidden, !ids, !project, !vector, !project, !vector, !project, !vector, !project, !vector, !vector, !vector,
          !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden

    %encoder_1_w_q = attn.param "encoder.1.self_attention.query.weight" : !project
    %encoder_1_b_q = attn.param "encoder.1.self_attention.query.bias" : !vector
    %encoder_1_w_k = attn.param "encoder.1.self_attention.key.weight" : !project
    %encoder_1_b_k = attn.param "encoder.1.self_attention.key.bias" : !vector
    %encoder_1_w_v = attn.param "encoder.1.self_attention.value.weight" : !project
    %encoder_1_b_v = attn.param "encoder.1.self_attention.value.bias" : !vector
    %encoder_1_w_o = attn.param "encoder.1.self_attention.output.weight" : !project
    %encoder_1_b_o = attn.param "encoder.1.self_attention.output.bias" : !vector
    %encoder_1_gamma_1 = attn.param "encoder.1.norm_1.weight" : !vector
    %encoder_1_beta_1 = attn.param "encoder.1.norm_1.bias" : !vector
    %encoder_1_w_1 = attn.param "encoder.1.widen.weight" : !widen
    %encoder_1_b_1 = attn.param "encoder.1.widen.bias" : !inner_vector
    %encoder_1_w_2 = attn.param "encoder.1.narrow.weight" : !narrow
    %encoder_1_b_2 = attn.param "encoder.1.narrow.bias" : !vector
    %encoder_1_gamma_2 = attn.param "encoder.1.norm_2.weight" : !vector
    %encoder_1_beta_2 = attn.param "encoder.1.norm_2.bias" : !vector
    %memory_2 = call @encoder_layer(%memory_1, %source_mask, %encoder_1_w_q, %encoder_1_b_q, %encoder_1_w_k,
        %encoder_1_b_k, %encoder_1_w_v, %encoder_1_b_v, %encoder_1_w_o, %encoder_1_b_o, %encoder_1_gamma_1,
        %encoder_1_beta_1, %encoder_1_w_1, %encoder_1_b_1, %encoder_1_w_2, %encoder_1_b_2, %encoder_1_gamma_2,
        %encoder_1_beta_2)
      : (!hidden, !ids, !project, !vector, !project, !vector, !project, !vector, !project, !vector, !vector, !vector,
          !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden

    %x_0 = call @embed(%words, %target_ids) : (!words, !ids) -> !hidden

    %memory_0_w_mk = attn.param "decoder.0.cross_attention.key.weight" : !project
    %memory_0_b_mk = attn.param "decoder.0.cross_attention.key.bias" : !vector
    %memory_0_w_mv = attn.param "decoder.0.cross_attention.value.weight" : !project
    %memory_0_b_mv = attn.param "decoder.0.cross_attention.value.bias" : !vector
    %memory_key_0, %memory_value_0 = call @memory(%memory_2, %memory_0_w_mk, %memory_0_b_mk, %memory_0_w_mv,
        %memory_0_b_mv)
      : (!hidden, !project, !vector, !project, !vector) -> (!hidden, !hidden)

    %decoder_0_w_q = attn.param "decoder.0.self_attention.query.weight" : !project
    %decoder_0_b_q = attn.param "decoder.0.self_attention.query.bias" : !vector
    %decoder_0_w_k = attn.param "decoder.0.self_attention.key.weight" : !project
    %decoder_0_b_k = attn.param "decoder.0.self_attention.key.bias" : !vector
    %decoder_0_w_v = attn.param "decoder.0.self_attention.value.weight" : !project
    %decoder_0_b_v = attn.param "decoder.0.self_attention.value.bias" : !vector
    %decoder_0_w_o = attn.param "decoder.0.self_attention.output.weight" : !project
    %decoder_0_b_o = attn.param "decoder.0.self_attention.output.bias" : !vector
    %decoder_0_gamma_1 = attn.param "decoder.0.norm_1.weight" : !vector
    %decoder_0_beta_1 = attn.param "decoder.0.norm_1.bias" : !vector
    %decoder_0_w_mq = attn.param "decoder.0.cross_attention.query.weight" : !project
    %decoder_0_b_mq = attn.param "decoder.0.cross_attention.query.bias" : !vector
    %decoder_0_w_mo = attn.param "decoder.0.cross_attention.output.weight" : !project
    %decoder_0_b_mo = attn.param "decoder.0.cross_attention.output.bias" : !vector
    %decoder_0_gamma_2 = attn.param "decoder.0.norm_2.weight" : !vector
    %decoder_0_beta_2 = attn.param "decoder.0.norm_2.bias" : !vector
    %decoder_0_w_1 = attn.param "decoder.0.widen.weight" : !widen
    %decoder_0_b_1 = attn.param "decoder.0.widen.bias" : !inner_vector
    %decoder_0_w_2 = attn.param "decoder.0.narrow.weight" : !narrow
    %decoder_0_b_2 = attn.param "decoder.0.narrow.bias" : !vector
    %decoder_0_gamma_3 = attn.param "decoder.0.norm_3.weight" : !vector
    %decoder_0_beta_3 = attn.param "decoder.0.norm_3.bias" : !vector
    %x_1 = call @decoder_layer(%x_0, %memory_key_0, %memory_value_0, %source_mask, %decoder_0_w_q, %decoder_0_b_q,
        %decoder_0_w_k, %decoder_0_b_k, %decoder_0_w_v, %decoder_0_b_v, %decoder_0_w_o, %decoder_0_b_o,
        %decoder_0_gamma_1, %decoder_0_beta_1, %decoder_0_w_mq, %decoder_0_b_mq, %decoder_0_w_mo, %decoder_0_b_mo,
        %decoder_0_gamma_2, %decoder_0_beta_2, %decoder_0_w_1, %decoder_0_b_1, %decoder_0_w_2, %decoder_0_b_2,
        %decoder_0_gamma_3, %decoder_0_beta_3)
      : (!hidden, !hidden, !hidden, !ids, !project, !vector, !project, !vector, !project, !vector, !project, !vector,
          !vector, !vector, !project, !vector, !project, !vector, !vector, !vector, !widen, !inner_vector, !narrow,
          !vector, !vector, !vector) -> !hidden

    %memory_1_w_mk = attn.param "decoder.1.cross_attention.key.weight" : !project
    %memory_1_b_mk = attn.param "decoder.1.cross_attention.key.bias" : !vector
    %memory_1_w_mv = attn.param "decoder.1.cross_attention.value.weight" : !project
    %memory_1_b_mv = attn.param "decoder.1.cross_attention.value.bias" : !vector
    %memory_key_1, %memory_value_1 = call @memory(%memory_2, %memory_1_w_mk, %memory_1_b_mk, %memory_1_w_mv,
        %memory_1_b_mv)
      : (!hidden, !project, !vector, !project, !vector) -> (!hidden, !hidden)

    %decoder_1_w_q = attn.param "decoder.1.self_attention.query.weight" : !project
    %decoder_1_b_q = attn.param "decoder.1.self_attention.query.bias" : !vector
    %decoder_1_w_k = attn.param "decoder.1.self_attention.key.weight" : !project
    %decoder_1_b_k = attn.param "decoder.1.self_attention.key.bias" : !vector
    %decoder_1_w_v = attn.param "decoder.1.self_attention.value.weight" : !project
    %decoder_1_b_v = attn.param "decoder.1.self_attention.value.bias" : !vector
    %decoder_1_w_o = attn.param "decoder.1.self_attention.output.weight" : !project
    %decoder_1_b_o = attn.param "decoder.1.self_attention.output.bias" : !vector
    %decoder_1_gamma_1 = attn.param "decoder.1.norm_1.weight" : !vector
    %decoder_1_beta_1 = attn.param "decoder.1.norm_1.bias" : !vector
    %decoder_1_w_mq = attn.param "decoder.1.cross_attention.query.weight" : !project
    %decoder_1_b_mq = attn.param "decoder.1.cross_attention.query.bias" : !vector
    %decoder_1_w_mo = attn.param "decoder.1.cross_attention.output.weight" : !project
    %decoder_1_b_mo = attn.param "decoder.1.cross_attention.output.bias" : !vector
    %decoder_1_gamma_2 = attn.param "decoder.1.norm_2.weight" : !vector
    %decoder_1_beta_2 = attn.param "decoder.1.norm_2.bias" : !vector
    %decoder_1_w_1 = attn.param "decoder.1.widen.weight" : !widen
    %decoder_1_b_1 = attn.param "decoder.1.widen.bias" : !inner_vector
    %decoder_1_w_2 = attn.param "decoder.1.narrow.weight" : !narrow
    %decoder_1_b_2 = attn.param "decoder.1.narrow.bias" : !vector
    %decoder_1_gamma_3 = attn.param "decoder.1.norm_3.weight" : !vector
    %decoder_1_beta_3 = attn.param "decoder.1.norm_3.bias" : !vector
    %x_2 = call @decoder_layer(%x_1, %memory_key_1, %memory_value_1, %source_mask, %decoder_1_w_q, %decoder_1_b_q,
        %decoder_1_w_k, %decoder_1_b_k, %decoder_1_w_v, %decoder_1_b_v, %decoder_1_w_o, %decoder_1_b_o,
        %decoder_1_gamma_1, %decoder_1_beta_1, %decoder_1_w_mq, %decoder_1_b_mq, %decoder_1_w_mo, %decoder_1_b_mo,
        %decoder_1_gamma_2, %decoder_1_beta_2, %decoder_1_w_1, %decoder_1_b_1, %decoder_1_w_2, %decoder_1_b_2,
        %decoder_1_gamma_3, %decoder_1_beta_3)
      : (!hidden, !hidden, !hidden, !ids, !project, !vector, !project, !vector, !project, !vector, !project, !vector,
          !vector, !vector, !project, !vector, !project, !vector, !vector, !vector, !widen, !inner_vector, !narrow,
          !vector, !vector, !vector) -> !hidden

    %logits = attn.linear %x_2, %words : !hidden, !words -> !logits
    %probabilities = attn.softmax %logits : !logits
    return %probabilities : !logits
  }

  // The source, once: the keys and values that the decoder reads.
  func.func @encode(
      %source_ids: !ids {attn.name = "source_ids", attn.shape = ["batch", "source"], attn.range = [0, 12]},
      %source_mask: !ids {attn.name = "source_mask", attn.shape = ["batch", "source"], attn.optional = "ones",
          attn.range = [0, 1]})
      -> (!hidden {attn.name = "memory_key_0", attn.shape = ["batch", "source", 64]},
          !hidden {attn.name = "memory_value_0", attn.shape = ["batch", "source", 64]},
          !hidden {attn.name = "memory_key_1", attn.shape = ["batch", "source", 64]},
          !hidden {attn.name = "memory_value_1", attn.shape = ["batch", "source", 64]}) {
    %words = attn.param "embedding.weight" : !words
    %memory_0 = call @embed(%words, %source_ids) : (!words, !ids) -> !hidden

    %encoder_0_w_q = attn.param "encoder.0.self_attention.query.weight" : !project
    %encoder_0_b_q = attn.param "encoder.0.self_attention.query.bias" : !vector
    %encoder_0_w_k = attn.param "encoder.0.self_attention.key.weight" : !project
    %encoder_0_b_k = attn.param "encoder.0.self_attention.key.bias" : !vector
    %encoder_0_w_v = attn.param "encoder.0.self_attention.value.weight" : !project
    %encoder_0_b_v = attn.param "encoder.0.self_attention.value.bias" : !vector
    %encoder_0_w_o = attn.param "encoder.0.self_attention.output.weight" : !project
    %encoder_0_b_o = attn.param "encoder.0.self_attention.output.bias" : !vector
    %encoder_0_gamma_1 = attn.param "encoder.0.norm_1.weight" : !vector
    %encoder_0_beta_1 = attn.param "encoder.0.norm_1.bias" : !vector
    %encoder_0_w_1 = attn.param "encoder.0.widen.weight" : !widen
    %encoder_0_b_1 = attn.param "encoder.0.widen.bias" : !inner_vector
    %encoder_0_w_2 = attn.param "encoder.0.narrow.weight" : !narrow
    %encoder_0_b_2 = attn.param "encoder.0.narrow.bias" : !vector
    %encoder_0_gamma_2 = attn.param "encoder.0.norm_2.weight" : !vector
    %encoder_0_beta_2 = attn.param "encoder.0.norm_2.bias" : !vector
    %memory_1 = call @encoder_layer(%memory_0, %source_mask, %encoder_0_w_q, %encoder_0_b_q, %encoder_0_w_k,
        %encoder_0_b_k, %encoder_0_w_v, %encoder_0_b_v, %encoder_0_w_o, %encoder_0_b_o, %encoder_0_gamma_1,
        %encoder_0_beta_1, %encoder_0_w_1, %encoder_0_b_1, %encoder_0_w_2, %encoder_0_b_2, %encoder_0_gamma_2,
        %encoder_0_beta_2)
      : (!hidden, !ids, !project, !vector, !project, !vector, !project, !vector, !project, !vector, !vector, !vector,
          !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden

    %encoder_1_w_q = attn.param "encoder.1.self_attention.query.weight" : !project
    %encoder_1_b_q = attn.param "encoder.1.self_attention.query.bias" : !vector
    %encoder_1_w_k = attn.param "encoder.1.self_attention.key.weight" : !project
    %encoder_1_b_k = attn.param "encoder.1.self_attention.key.bias" : !vector
    %encoder_1_w_v = attn.param "encoder.1.self_attention.value.weight" : !project
    %encoder_1_b_v = attn.param "encoder.1.self_attention.value.bias" : !vector
    %encoder_1_w_o = attn.param "encoder.1.self_attention.output.weight" : !project
    %encoder_1_b_o = attn.param "encoder.1.self_attention.output.bias" : !vector
    %encoder_1_gamma_1 = attn.param "encoder.1.norm_1.weight" : !vector
    %encoder_1_beta_1 = attn.param "encoder.1.norm_1.bias" : !vector
    %encoder_1_w_1 = attn.param "encoder.1.widen.weight" : !widen
    %encoder_1_b_1 = attn.param "encoder.1.widen.bias" : !inner_vector
    %encoder_1_w_2 = attn.param "encoder.1.narrow.weight" : !narrow
    %encoder_1_b_2 = attn.param "encoder.1.narrow.bias" : !vector
    %encoder_1_gamma_2 = attn.param "encoder.1.norm_2.weight" : !vector
    %encoder_1_beta_2 = attn.param "encoder.1.norm_2.bias" : !vector
    %memory_2 = call @encoder_layer(%memory_1, %source_mask, %encoder_1_w_q, %encoder_1_b_q, %encoder_1_w_k,
        %encoder_1_b_k, %encoder_1_w_v, %encoder_1_b_v, %encoder_1_w_o, %encoder_1_b_o, %encoder_1_gamma_1,
        %encoder_1_beta_1, %encoder_1_w_1, %encoder_1_b_1, %encoder_1_w_2, %encoder_1_b_2, %encoder_1_gamma_2,
        %encoder_1_beta_2)
      : (!hidden, !ids, !project, !vector, !project, !vector, !project, !vector, !project, !vector, !vector, !vector,
          !widen, !inner_vector, !narrow, !vector, !vector, !vector) -> !hidden

    %memory_0_w_mk = attn.param "decoder.0.cross_attention.key.weight" : !project
    %memory_0_b_mk = attn.param "decoder.0.cross_attention.key.bias" : !vector
    %memory_0_w_mv = attn.param "decoder.0.cross_attention.value.weight" : !project
    %memory_0_b_mv = attn.param "decoder.0.cross_attention.value.bias" : !vector
    %memory_key_0, %memory_value_0 = call @memory(%memory_2, %memory_0_w_mk, %memory_0_b_mk, %memory_0_w_mv,
        %memory_0_b_mv)
      : (!hidden, !project, !vector, !project, !vector) -> (!hidden, !hidden)

    %memory_1_w_mk = attn.param "decoder.1.cross_attention.key.weight" : !project
    %memory_1_b_mk = attn.param "decoder.1.cross_attention.key.bias" : !vector
    %memory_1_w_mv = attn.param "decoder.1.cross_attention.value.weight" : !project
    %memory_1_b_mv = attn.param "decoder.1.cross_attention.value.bias" : !vector
    %memory_key_1, %memory_value_1 = call @memory(%memory_2, %memory_1_w_mk, %memory_1_b_mk, %memory_1_w_mv,
        %memory_1_b_mv)
      : (!hidden, !project, !vector, !project, !vector) -> (!hidden, !hidden)

    return %memory_key_0, %memory_value_0, %memory_key_1, %memory_value_1 : !hidden, !hidden, !hidden, !hidden
  }

  // New tokens, whose keys and values join the caches: the likeliest token after each.
  func.func @decode(
      %token_ids: !ids {attn.name = "token_ids", attn.shape = ["batch", "new"], attn.range = [0, 12]},
      %position: !lengths {attn.name = "position", attn.shape = ["batch"], attn.range = [0, "capacity - new"]},
      %source_mask: !ids {attn.name = "source_mask", attn.shape = ["batch", "source"], attn.optional = "ones",
          attn.range = [0, 1]},
      %memory_key_0: !hidden {attn.name = "memory_key_0", attn.shape = ["batch", "source", 64]},
      %memory_value_0: !hidden {attn.name = "memory_value_0", attn.shape = ["batch", "source", 64]},
      %memory_key_1: !hidden {attn.name = "memory_key_1", attn.shape = ["batch", "source", 64]},
      %memory_value_1: !hidden {attn.name = "memory_value_1", attn.shape = ["batch", "source", 64]},
      %keys_0: !hidden {attn.name = "keys_0", attn.shape = ["batch", "capacity", 64], attn.strided, attn.state = 1},
      %values_0: !hidden {attn.name = "values_0", attn.shape = ["batch", "capacity", 64], attn.strided,
          attn.state = 2},
      %keys_1: !hidden {attn.name = "keys_1", attn.shape = ["batch", "capacity", 64], attn.strided, attn.state = 3},
      %values_1: !hidden {attn.name = "values_1", attn.shape = ["batch", "capacity", 64], attn.strided,
          attn.state = 4})
      -> (!ids {attn.name = "next_ids", attn.shape = ["batch", "new"]},
          !hidden,
          !hidden,
          !hidden,
          !hidden)
      attributes {attn.require = ["new <= capacity"]} {
    %words = attn.param "embedding.weight" : !words
    %x_0 = call @embed_at(%words, %token_ids, %position)
      : (!words, !ids, !lengths) -> !hidden

    %decoder_0_w_q = attn.param "decoder.0.self_attention.query.weight" : !project
    %decoder_0_b_q = attn.param "decoder.0.self_attention.query.bias" : !vector
    %decoder_0_w_k = attn.param "decoder.0.self_attention.key.weight" : !project
    %decoder_0_b_k = attn.param "decoder.0.self_attention.key.bias" : !vector
    %decoder_0_w_v = attn.param "decoder.0.self_attention.value.weight" : !project
    %decoder_0_b_v = attn.param "decoder.0.self_attention.value.bias" : !vector
    %decoder_0_w_o = attn.param "decoder.0.self_attention.output.weight" : !project
    %decoder_0_b_o = attn.param "decoder.0.self_attention.output.bias" : !vector
    %decoder_0_gamma_1 = attn.param "decoder.0.norm_1.weight" : !vector
    %decoder_0_beta_1 = attn.param "decoder.0.norm_1.bias" : !vector
    %decoder_0_w_mq = attn.param "decoder.0.cross_attention.query.weight" : !project
    %decoder_0_b_mq = attn.param "decoder.0.cross_attention.query.bias" : !vector
    %decoder_0_w_mo = attn.param "decoder.0.cross_attention.output.weight" : !project
    %decoder_0_b_mo = attn.param "decoder.0.cross_attention.output.bias" : !vector
    %decoder_0_gamma_2 = attn.param "decoder.0.norm_2.weight" : !vector
    %decoder_0_beta_2 = attn.param "decoder.0.norm_2.bias" : !vector
    %decoder_0_w_1 = attn.param "decoder.0.widen.weight" : !widen
    %decoder_0_b_1 = attn.param "decoder.0.widen.bias" : !inner_vector
    %decoder_0_w_2 = attn.param "decoder.0.narrow.weight" : !narrow
    %decoder_0_b_2 = attn.param "decoder.0.narrow.bias" : !vector
    %decoder_0_gamma_3 = attn.param "decoder.0.norm_3.weight" : !vector
    %decoder_0_beta_3 = attn.param "decoder.0.norm_3.bias" : !vector
    %x_1, %new_keys_0, %new_values_0 = call @decoder_step(%x_0, %memory_key_0, %memory_value_0, %source_mask, %position,
        %keys_0, %values_0, %decoder_0_w_q, %decoder_0_b_q, %decoder_0_w_k, %decoder_0_b_k, %decoder_0_w_v,
        %decoder_0_b_v, %decoder_0_w_o, %decoder_0_b_o, %decoder_0_gamma_1, %decoder_0_beta_1, %decoder_0_w_mq,
        %decoder_0_b_mq, %decoder_0_w_mo, %decoder_0_b_mo, %decoder_0_gamma_2, %decoder_0_beta_2, %decoder_0_w_1,
        %decoder_0_b_1, %decoder_0_w_2, %decoder_0_b_2, %decoder_0_gamma_3, %decoder_0_beta_3)
      : (!hidden, !hidden, !hidden, !ids, !lengths, !hidden, !hidden, !project, !vector, !project, !vector, !project,
          !vector, !project, !vector, !vector, !vector, !project, !vector, !project, !vector, !vector, !vector, !widen,
          !inner_vector, !narrow, !vector, !vector, !vector) -> (!hidden, !hidden, !hidden)

    %decoder_1_w_q = attn.param "decoder.1.self_attention.query.weight" : !project
    %decoder_1_b_q = attn.param "decoder.1.self_attention.query.bias" : !vector
    %decoder_1_w_k = attn.param "decoder.1.self_attention.key.weight" : !project
    %decoder_1_b_k = attn.param "decoder.1.self_attention.key.bias" : !vector
    %decoder_1_w_v = attn.param "decoder.1.self_attention.value.weight" : !project
    %decoder_1_b_v = attn.param "decoder.1.self_attention.value.bias" : !vector
    %decoder_1_w_o = attn.param "decoder.1.self_attention.output.weight" : !project
    %decoder_1_b_o = attn.param "decoder.1.self_attention.output.bias" : !vector
    %decoder_1_gamma_1 = attn.param "decoder.1.norm_1.weight" : !vector
    %decoder_1_beta_1 = attn.param "decoder.1.norm_1.bias" : !vector
    %decoder_1_w_mq = attn.param "decoder.1.cross_attention.query.weight" : !project
    %decoder_1_b_mq = attn.param "decoder.1.cross_attention.query.bias" : !vector
    %decoder_1_w_mo = attn.param "decoder.1.cross_attention.output.weight" : !project
    %decoder_1_b_mo = attn.param "decoder.1.cross_attention.output.bias" : !vector
    %decoder_1_gamma_2 = attn.param "decoder.1.norm_2.weight" : !vector
    %decoder_1_beta_2 = attn.param "decoder.1.norm_2.bias" : !vector
    %decoder_1_w_1 = attn.param "decoder.1.widen.weight" : !widen
    %decoder_1_b_1 = attn.param "decoder.1.widen.bias" : !inner_vector
    %decoder_1_w_2 = attn.param "decoder.1.narrow.weight" : !narrow
    %decoder_1_b_2 = attn.param "decoder.1.narrow.bias" : !vector
    %decoder_1_gamma_3 = attn.param "decoder.1.norm_3.weight" : !vector
    %decoder_1_beta_3 = attn.param "decoder.1.norm_3.bias" : !vector
    %x_2, %new_keys_1, %new_values_1 = call @decoder_step(%x_1, %memory_key_1, %memory_value_1, %source_mask, %position,
        %keys_1, %values_1, %decoder_1_w_q, %decoder_1_b_q, %decoder_1_w_k, %decoder_1_b_k, %decoder_1_w_v,
        %decoder_1_b_v, %decoder_1_w_o, %decoder_1_b_o, %decoder_1_gamma_1, %decoder_1_beta_1, %decoder_1_w_mq,
        %decoder_1_b_mq, %decoder_1_w_mo, %decoder_1_b_mo, %decoder_1_gamma_2, %decoder_1_beta_2, %decoder_1_w_1,
        %decoder_1_b_1, %decoder_1_w_2, %decoder_1_b_2, %decoder_1_gamma_3, %decoder_1_beta_3)
      : (!hidden, !hidden, !hidden, !ids, !lengths, !hidden, !hidden, !project, !vector, !project, !vector, !project,
          !vector, !project, !vector, !vector, !vector, !project, !vector, !project, !vector, !vector, !vector, !widen,
          !inner_vector, !narrow, !vector, !vector, !vector) -> (!hidden, !hidden, !hidden)

    %logits = attn.linear %x_2, %words : !hidden, !words -> !logits
    %next_ids = attn.argmax %logits : !logits -> !ids
    return %next_ids, %new_keys_0, %new_values_0, %new_keys_1, %new_values_1 : !ids, !hidden, !hidden, !hidden, !hidden
  }
}
