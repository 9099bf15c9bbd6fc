// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @InputOfRankZero(%x: tensor<f32>, %w: tensor<8x4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected input of rank at least 1, but got rank 0}}
  %0 = attn.linear %x, %w : tensor<f32>, tensor<8x4xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// C2
func.func @WeightTransposed(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{expected weight of shape [?, 4], but got [4, 8]}}
  %0 = attn.linear %x, %w : tensor<?x4xf32>, tensor<4x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// C3
func.func @ElementTypesDiffer(%x: tensor<?x4xf32>, %w: tensor<8x4xbf16>) -> tensor<?x8xf32> {
  // expected-error @+1 {{expected input and weight of one element type, but got 'f32' and 'bf16'}}
  %0 = attn.linear %x, %w : tensor<?x4xf32>, tensor<8x4xbf16> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// C4
func.func @BiasOfOtherSize(%x: tensor<?x4xf32>, %w: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{expected bias of shape [8], but got [4]}}
  %0 = attn.linear %x, %w, %b : tensor<?x4xf32>, tensor<8x4xf32>, tensor<4xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// C5
func.func @ResultOfOtherShape(%x: tensor<?x4xf32>, %w: tensor<8x4xf32>) -> tensor<?x4xf32> {
  // expected-error @+1 {{expected result of shape [?, 8], but got [?, 4]}}
  %0 = attn.linear %x, %w : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// C6
func.func @ReadTooSmall(%x: tensor<2x4xf32>, %w: tensor<8x4xf32>, %r: tensor<4xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{expected dimension 0 of read 0 to be at least 8, but got 4}}
  %0 = attn.linear %x, %w reads(%r : tensor<4xf32>) maps [affine_map<(m, n) -> (n)>]
    : tensor<2x4xf32>, tensor<8x4xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// C7
func.func @ReadWithoutEpilogue(%x: tensor<2x4xf32>, %w: tensor<8x4xf32>, %r: tensor<8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{expected no reads without a region, but got 1}}
  %0 = attn.linear %x, %w reads(%r : tensor<8xf32>) maps [affine_map<(m, n) -> (n)>]
    : tensor<2x4xf32>, tensor<8x4xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// C7
func.func @EpilogueOfHalves(%x: tensor<2x4xf16>, %w: tensor<8x4xf16>) -> tensor<2x8xf16> {
  // expected-error @+1 {{expected epilogue region to take (f32), but got (f16)}}
  %0 = attn.linear %x, %w epilogue {
  ^bb0(%sum: f16):
    attn.yield %sum : f16
  } : tensor<2x4xf16>, tensor<8x4xf16> -> tensor<2x8xf16>
  return %0 : tensor<2x8xf16>
}
