// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @NoHeads(%x: tensor<2x3xf32>, %table: tensor<32x8xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{expected scores of rank 4 (batch, head, query, key), but got rank 2}}
  %0 = attn.relative_bias %x, %table max_distance(128) : tensor<2x3xf32>, tensor<32x8xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// C2
func.func @TableForOtherHeads(%x: tensor<2x8x3x4xf32>, %table: tensor<32x4xf32>) -> tensor<2x8x3x4xf32> {
  // expected-error @+1 {{expected table of shape [buckets, 8] with a static number of buckets, but got [32, 4]}}
  %0 = attn.relative_bias %x, %table max_distance(128) : tensor<2x8x3x4xf32>, tensor<32x4xf32>
  return %0 : tensor<2x8x3x4xf32>
}

// -----

// C2
func.func @DynamicBuckets(%x: tensor<2x8x3x4xf32>, %table: tensor<?x8xf32>) -> tensor<2x8x3x4xf32> {
  // expected-error @+1 {{with a static number of buckets, but got [?, 8]}}
  %0 = attn.relative_bias %x, %table max_distance(128) : tensor<2x8x3x4xf32>, tensor<?x8xf32>
  return %0 : tensor<2x8x3x4xf32>
}

// -----

// C3
func.func @BucketsThatCannotBeShared(%x: tensor<2x8x3x4xf32>, %table: tensor<6x8xf32>) -> tensor<2x8x3x4xf32> {
  // expected-error @+1 {{expected a positive multiple of 4 as number of buckets, but got 6}}
  %0 = attn.relative_bias %x, %table bidirectional max_distance(128) : tensor<2x8x3x4xf32>, tensor<6x8xf32>
  return %0 : tensor<2x8x3x4xf32>
}

// -----

// C4
func.func @NothingLeftForTheLogarithm(%x: tensor<2x8x3x4xf32>, %table: tensor<32x8xf32>) -> tensor<2x8x3x4xf32> {
  // expected-error @+1 {{expected max_distance above 16, but got 16}}
  %0 = attn.relative_bias %x, %table max_distance(16) : tensor<2x8x3x4xf32>, tensor<32x8xf32>
  return %0 : tensor<2x8x3x4xf32>
}
