// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @RankOne(%x: tensor<8xf32>, %t: tensor<4x8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected input of rank at least 2, but got rank 1}}
  %0 = attn.learned_positions %x, %t : tensor<8xf32>, tensor<4x8xf32>
  return %0 : tensor<8xf32>
}

// -----

// C2
func.func @WidthsDiffer(%x: tensor<2x8xf32>, %t: tensor<4x6xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{expected table of shape [?, 8], but got [4, 6]}}
  %0 = attn.learned_positions %x, %t : tensor<2x8xf32>, tensor<4x6xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// C3
func.func @MorePositionsThanRows(%x: tensor<5x8xf32>, %t: tensor<4x8xf32>) -> tensor<5x8xf32> {
  // expected-error @+1 {{expected at most 4 positions, but got 5}}
  %0 = attn.learned_positions %x, %t : tensor<5x8xf32>, tensor<4x8xf32>
  return %0 : tensor<5x8xf32>
}

// -----

// C4
func.func @OffsetForOtherBatch(%x: tensor<2x3x8xf32>, %t: tensor<4x8xf32>, %p: tensor<1xi32>) -> tensor<2x3x8xf32> {
  // expected-error @+1 {{expected offset of shape [2], but got [1]}}
  %0 = attn.learned_positions %x, %t offset(%p : tensor<1xi32>) : tensor<2x3x8xf32>, tensor<4x8xf32>
  return %0 : tensor<2x3x8xf32>
}
