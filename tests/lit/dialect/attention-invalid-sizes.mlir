// RUN: heed-opt %s --split-input-file --verify-diagnostics
!q = tensor<2x8x5x16xf32>
!k = tensor<2x8x7x16xf32>
!v = tensor<2x8x5x16xf32>

// C5
func.func @KeyAndValueLengthDiffer(%q: !q, %k: !k, %v: !v) -> !q {
  // expected-error @+1 {{expected key length to equal value length, but got 7 and 5}}
  %0 = attn.attention %q, %k, %v : !q, !k, !v -> !q
  return %0 : !q
}

// -----

// C5
func.func @WidthsDiffer(%q: tensor<5x16xf32>, %k: tensor<7x8xf32>, %v: tensor<7x16xf32>) -> tensor<5x16xf32> {
  // expected-error @+1 {{expected query width to equal key width, but got 16 and 8}}
  %0 = attn.attention %q, %k, %v layout("qd,kd,ke->qe") : tensor<5x16xf32>, tensor<7x8xf32>, tensor<7x16xf32> -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

// -----

// C5
func.func @BatchSizesDiffer(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<3x7x4xf32>) -> tensor<2x5x4xf32> {
  // expected-error @+1 {{expected query batch to equal value batch, but got 2 and 3}}
  %0 = attn.attention %q, %k, %v layout("bqd,bkd,bke->bqe") : tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<3x7x4xf32> -> tensor<2x5x4xf32>
  return %0 : tensor<2x5x4xf32>
}

// -----
!t = tensor<2x8x5x16xf32>
!k = tensor<2x3x5x16xf32>

// C6
func.func @HeadsDoNotDivide(%q: !t, %k: !k, %v: !k) -> !t {
  // expected-error @+1 {{expected key heads to divide query heads, but got 3 and 8}}
  %0 = attn.attention %q, %k, %v : !t, !k, !k -> !t
  return %0 : !t
}

// -----
!t = tensor<2x8x5x16xf32>

// C7
func.func @LengthsForOtherBatch(%q: !t, %n: tensor<3xi64>) -> !t {
  // expected-error @+1 {{expected key_lengths of shape [2], but got [3]}}
  %0 = attn.attention %q, %q, %q key_lengths(%n : tensor<3xi64>) : !t, !t, !t -> !t
  return %0 : !t
}

// -----
!t = tensor<2x8x5x16xf32>

// C8
func.func @OffsetsForOtherBatch(%q: !t, %n: tensor<1xi64>) -> !t {
  // expected-error @+1 {{expected query_offset of shape [2], but got [1]}}
  %0 = attn.attention %q, %q, %q query_offset(%n : tensor<1xi64>) : !t, !t, !t -> !t
  return %0 : !t
}

// -----
!t = tensor<2x8x5x16xf32>

// C9
func.func @SinksForOtherHeads(%q: !t, %n: tensor<4xf32>) -> !t {
  // expected-error @+1 {{expected sinks of shape [8], but got [4]}}
  %0 = attn.attention %q, %q, %q sinks(%n : tensor<4xf32>) : !t, !t, !t -> !t
  return %0 : !t
}

// -----
!t = tensor<2x8x5x16xf32>

// C11
func.func @LogSumExpOfOtherShape(%q: !t) -> tensor<2x5x8xf32> {
  // expected-error @+1 {{expected log_sum_exp of shape [2, 8, 5], but got [2, 5, 8]}}
  %0, %1 = attn.attention %q, %q, %q : !t, !t, !t -> !t, tensor<2x5x8xf32>
  return %1 : tensor<2x5x8xf32>
}

// -----
!t = tensor<2x8x5x0xf32>

// C14
func.func @NoWidth(%q: !t) -> !t {
  // expected-error @+1 {{expected widths of at least 1, but got 0 for keys and 0 for values}}
  %0 = attn.attention %q, %q, %q : !t, !t, !t -> !t
  return %0 : !t
}
