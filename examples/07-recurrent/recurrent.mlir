// What attention replaced, beside attention: an LSTM layer (Hochreiter and Schmidhuber 1997; gates as in Gers et al.
// 2000) in upstream operations, and a self-attention layer, both of width 64. The LSTM takes one step after the other;
// attention takes all positions at once, and compares each with every other.
!sequence = tensor<?x64xf32>
!gates = tensor<?x256xf32>
!scores = tensor<?x?xf32>
!state = tensor<64xf32>
!matrix = tensor<64x64xf32>

module @recurrent attributes {heed.params = "recurrent.safetensors"} {
  // i, f, o = σ(W x + U h + b), g = tanh(W x + U h + b); c ← f · c + i · g; h ← o · tanh(c).
  func.func @lstm(%x: !sequence {attn.name = "x", attn.shape = ["length", 64]})
      -> (!sequence {attn.name = "hidden", attn.shape = ["length", 64]}) {
    %w = attn.param "lstm.weight_ih" : tensor<256x64xf32>
    %u = attn.param "lstm.weight_hh" : tensor<256x64xf32>
    %b = attn.param "lstm.bias" : tensor<256xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %length = tensor.dim %x, %c0 : !sequence

    // What the inputs give to the gates does not depend on the steps before: one matrix product.
    %inputs = attn.linear %x, %w, %b : !sequence, tensor<256x64xf32>, tensor<256xf32> -> !gates
    %empty = tensor.empty() : !state
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : !state) -> !state
    %outputs = tensor.empty(%length) : !sequence
    %last:3 = scf.for %t = %c0 to %length step %c1
        iter_args(%h = %zeros, %c = %zeros, %hidden = %outputs) -> (!state, !state, !sequence) {
      %input = tensor.extract_slice %inputs[%t, 0] [1, 256] [1, 1] : !gates to tensor<256xf32>
      %gates = linalg.matvec ins(%u, %h : tensor<256x64xf32>, !state) outs(%input : tensor<256xf32>) -> tensor<256xf32>
      %i = tensor.extract_slice %gates[0] [64] [1] : tensor<256xf32> to !state
      %f = tensor.extract_slice %gates[64] [64] [1] : tensor<256xf32> to !state
      %g = tensor.extract_slice %gates[128] [64] [1] : tensor<256xf32> to !state
      %o = tensor.extract_slice %gates[192] [64] [1] : tensor<256xf32> to !state
      %new:2 = linalg.generic {
          indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>, affine_map<(n) -> (n)>,
            affine_map<(n) -> (n)>, affine_map<(n) -> (n)>, affine_map<(n) -> (n)>],
          iterator_types = ["parallel"]}
          ins(%i, %f, %g, %o : !state, !state, !state, !state) outs(%h, %c : !state, !state) {
      ^bb0(%in: f32, %forget: f32, %cell: f32, %out: f32, %old_h: f32, %old_c: f32):
        %one = arith.constant 1.0 : f32
        %in_negated = arith.negf %in : f32
        %in_exp = math.exp %in_negated : f32
        %in_sum = arith.addf %in_exp, %one : f32
        %in_gate = arith.divf %one, %in_sum : f32
        %forget_negated = arith.negf %forget : f32
        %forget_exp = math.exp %forget_negated : f32
        %forget_sum = arith.addf %forget_exp, %one : f32
        %forget_gate = arith.divf %one, %forget_sum : f32
        %out_negated = arith.negf %out : f32
        %out_exp = math.exp %out_negated : f32
        %out_sum = arith.addf %out_exp, %one : f32
        %out_gate = arith.divf %one, %out_sum : f32
        %candidate = math.tanh %cell : f32
        %kept = arith.mulf %forget_gate, %old_c : f32
        %taken = arith.mulf %in_gate, %candidate : f32
        %next_c = arith.addf %kept, %taken : f32
        %shown = math.tanh %next_c : f32
        %next_h = arith.mulf %out_gate, %shown : f32
        linalg.yield %next_h, %next_c : f32, f32
      } -> (!state, !state)
      %written = tensor.insert_slice %new#0 into %hidden[%t, 0] [1, 64] [1, 1] : !state into !sequence
      scf.yield %new#0, %new#1, %written : !state, !state, !sequence
    }
    return %last#2 : !sequence
  }

  // Self-attention with one head.
  func.func @attention(%x: !sequence {attn.name = "x", attn.shape = ["length", 64]})
      -> (!sequence {attn.name = "hidden", attn.shape = ["length", 64]}) {
    %w_q = attn.param "attention.query" : !matrix
    %w_k = attn.param "attention.key" : !matrix
    %w_v = attn.param "attention.value" : !matrix
    %query = attn.linear %x, %w_q : !sequence, !matrix -> !sequence
    %key = attn.linear %x, %w_k : !sequence, !matrix -> !sequence
    %value = attn.linear %x, %w_v : !sequence, !matrix -> !sequence
    %scores = attn.matmul %query, %key transpose_rhs : (!sequence, !sequence) -> !scores
    %scaled = attn.scale %scores by 0.125 : !scores
    %weights = attn.softmax %scaled : !scores
    %output = attn.matmul %weights, %value : (!scores, !sequence) -> !sequence
    return %output : !sequence
  }
}
