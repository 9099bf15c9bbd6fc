// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @LastAxis(%c: tensor<2x16x4xf32>, %k: tensor<2x1x4xf32>, %p: index) -> tensor<2x16x4xf32> {
  // expected-error @+1 {{expected axis before the last of 3 dimensions, but got 2}}
  %0 = attn.cache_update %c, %k at %p axis(2) : tensor<2x16x4xf32>, tensor<2x1x4xf32>, index
  return %0 : tensor<2x16x4xf32>
}

// -----

// C2
func.func @ElementTypesDiffer(%c: tensor<2x16x4xf32>, %k: tensor<2x1x4xf16>, %p: index) -> tensor<2x16x4xf32> {
  // expected-error @+1 {{expected entries of element type 'f32', but got 'f16'}}
  %0 = attn.cache_update %c, %k at %p : tensor<2x16x4xf32>, tensor<2x1x4xf16>, index
  return %0 : tensor<2x16x4xf32>
}

// -----

// C3
func.func @WidthsDiffer(%c: tensor<2x16x4xf32>, %k: tensor<2x1x8xf32>, %p: index) -> tensor<2x16x4xf32> {
  // expected-error @+1 {{expected entries of shape [2, ?, 4], but got [2, 1, 8]}}
  %0 = attn.cache_update %c, %k at %p : tensor<2x16x4xf32>, tensor<2x1x8xf32>, index
  return %0 : tensor<2x16x4xf32>
}

// -----

// C4
func.func @MoreThanTheCapacity(%c: tensor<2x16x4xf32>, %k: tensor<2x17x4xf32>, %p: index) -> tensor<2x16x4xf32> {
  // expected-error @+1 {{expected at most 16 entries, but got 17}}
  %0 = attn.cache_update %c, %k at %p : tensor<2x16x4xf32>, tensor<2x17x4xf32>, index
  return %0 : tensor<2x16x4xf32>
}

// -----

// C5
func.func @PositionsForOtherBatch(%c: tensor<2x16x4xf32>, %k: tensor<2x1x4xf32>, %p: tensor<3xi64>) -> tensor<2x16x4xf32> {
  // expected-error @+1 {{expected position of shape [2], but got [3]}}
  %0 = attn.cache_update %c, %k at %p : tensor<2x16x4xf32>, tensor<2x1x4xf32>, tensor<3xi64>
  return %0 : tensor<2x16x4xf32>
}

// -----

// C5
func.func @NoBatch(%c: tensor<16x4xf32>, %k: tensor<1x4xf32>, %p: tensor<16xi64>) -> tensor<16x4xf32> {
  // expected-error @+1 {{expected a batch dimension before the positions for position per batch entry}}
  %0 = attn.cache_update %c, %k at %p : tensor<16x4xf32>, tensor<1x4xf32>, tensor<16xi64>
  return %0 : tensor<16x4xf32>
}
