// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @RankOne(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected scores of rank 2 to 4, but got rank 1}}
  %0 = attn.mask %x keep(%b, %h, %q, %k, %query_len, %key_len) {
    %keep = attn.causal %q, %k
    attn.yield %keep : i1
  } : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// C2
func.func @ReadWithoutMap(%x: tensor<8x8xf32>, %read: tensor<8xi1>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected one map per read, but got 1 reads and 0 maps}}
  %0 = attn.mask %x reads(%read : tensor<8xi1>) maps [] keep(%b, %h, %q, %k, %query_len, %key_len, %flag) {
    attn.yield %flag : i1
  } : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// C2
func.func @MapOfTwoDimensions(%x: tensor<8x8xf32>, %read: tensor<8xi1>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected map of read 0 to have 4 dimensions and no symbols, but got affine_map<(d0, d1) -> (d1)>}}
  %0 = attn.mask %x reads(%read : tensor<8xi1>) maps [affine_map<(q, k) -> (k)>]
    keep(%b, %h, %q, %k, %query_len, %key_len, %flag) {
    attn.yield %flag : i1
  } : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// C2
func.func @MapOfTooFewResults(%x: tensor<8x8xf32>, %read: tensor<8x8xi1>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected map of read 0 to have no results or 2, but got 1}}
  %0 = attn.mask %x reads(%read : tensor<8x8xi1>) maps [affine_map<(b, h, q, k) -> (k)>]
    keep(%b, %h, %q, %k, %query_len, %key_len, %flag) {
    attn.yield %flag : i1
  } : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// C2
func.func @ReadTooSmall(%x: tensor<8x8xf32>, %read: tensor<1x4xi1>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected dimension 1 of read 0 to be at least 8, but got 4}}
  %0 = attn.mask %x reads(%read : tensor<1x4xi1>) maps [affine_map<(b, h, q, k) -> (0, k)>]
    keep(%b, %h, %q, %k, %query_len, %key_len, %flag) {
    attn.yield %flag : i1
  } : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
