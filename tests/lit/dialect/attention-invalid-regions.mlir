// RUN: heed-opt %s --split-input-file --verify-diagnostics
!t = tensor<3x4xf32>

// C12
func.func @ReadTooSmall(%q: !t, %r: tensor<2xi1>) -> !t {
  // expected-error @+1 {{expected dimension 0 of read 0 to be at least 3, but got 2}}
  %0 = attn.attention %q, %q, %q layout("qd,kd,ke->qe") reads(%r : tensor<2xi1>) maps [affine_map<(b, h, q, k) -> (k)>]
    keep(%b, %h, %i, %j, %query_len, %key_len, %flag) {
    attn.yield %flag : i1
  } : !t, !t, !t -> !t
  return %0 : !t
}

// -----
!t = tensor<3x4xf32>

// C12
func.func @ReadWithoutRegion(%q: !t, %r: tensor<3xi1>) -> !t {
  // expected-error @+1 {{expected no reads without a region, but got 1}}
  %0 = attn.attention %q, %q, %q layout("qd,kd,ke->qe") reads(%r : tensor<3xi1>) maps [affine_map<(b, h, q, k) -> (k)>]
    : !t, !t, !t -> !t
  return %0 : !t
}

// -----
!t = tensor<3x4xf32>

// C12
func.func @ScoreYieldsNothing(%q: !t) -> !t {
  // expected-error @+1 {{expected score region to yield (f32), but got ()}}
  %0 = attn.attention %q, %q, %q layout("qd,kd,ke->qe") score(%s, %b, %h, %i, %j, %query_len, %key_len) {
    attn.yield // expected-note {{yielded here}}
  } : !t, !t, !t -> !t
  return %0 : !t
}

// -----
!t = tensor<3x4xf32>

// C12
func.func @KeepTakesAScore(%q: !t) -> !t {
  // expected-error @+1 {{expected keep region of 6 arguments, but got 7}}
  %0 = attn.attention %q, %q, %q layout("qd,kd,ke->qe") keep(%s, %b, %h, %i, %j, %query_len, %key_len) {
    %keep = attn.causal %i, %j
    attn.yield %keep : i1
  } : !t, !t, !t -> !t
  return %0 : !t
}

// -----
!t = tensor<3x4xf32>

// C13
func.func @BottomRightUnderAnOffset(%q: !t, %past: index) -> !t {
  %0 = attn.attention %q, %q, %q layout("qd,kd,ke->qe") query_offset(%past : index)
    keep(%b, %h, %i, %j, %query_len, %key_len) {
    // expected-error @+1 {{expected top_left alignment under a query_offset, but got bottom_right}}
    %keep = attn.causal %i, %j bottom_right(%query_len, %key_len)
    attn.yield %keep : i1
  } : !t, !t, !t -> !t
  return %0 : !t
}
