// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C3
func.func @ArgumentsNotAsManyAsTheSignature(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected keep region of 6 arguments, but got 2}}
  %0 = attn.mask %x keep(%q, %k) {
    %keep = attn.causal %q, %k
    attn.yield %keep : i1
  } : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// C3
func.func @ArgumentsOfOtherTypes(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected keep region to take (index, index, index, index, index, index), but got (index, index)}}
  %0 = attn.mask %x keep {
  ^bb0(%q: index, %k: index):
    %keep = attn.causal %q, %k
    attn.yield %keep : i1
  } : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// C3
func.func @NoYield(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected keep region to end with attn.yield}}
  %0 = attn.mask %x keep(%b, %h, %q, %k, %query_len, %key_len) {
    %keep = attn.causal %q, %k
  } : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// C3
func.func @YieldsAnIndex(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected keep region to yield (i1), but got (index)}}
  %0 = attn.mask %x keep(%b, %h, %q, %k, %query_len, %key_len) {
    attn.yield %q : index // expected-note {{yielded here}}
  } : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @SeesItsSurroundings(%x: tensor<8x8xf32>, %flag: i1) -> tensor<8x8xf32> {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = attn.mask %x keep(%b, %h, %q, %k, %query_len, %key_len) {
    // expected-error @+1 {{using value defined outside the region}}
    attn.yield %flag : i1
  } : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
