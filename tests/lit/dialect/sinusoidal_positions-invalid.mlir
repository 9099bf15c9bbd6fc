// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @RankOne(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected input of rank at least 2, but got rank 1}}
  %0 = attn.sinusoidal_positions %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// C2
func.func @OddWidth(%x: tensor<2x7xf32>) -> tensor<2x7xf32> {
  // expected-error @+1 {{expected an even width, but got 7}}
  %0 = attn.sinusoidal_positions %x : tensor<2x7xf32>
  return %0 : tensor<2x7xf32>
}

// -----

// C3
func.func @BaseOfZero(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{expected a positive, finite base, but got 0.0}}
  %0 = attn.sinusoidal_positions %x base(0.0) : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// C4
func.func @OffsetForOtherBatch(%x: tensor<2x3x8xf32>, %p: tensor<3xi64>) -> tensor<2x3x8xf32> {
  // expected-error @+1 {{expected offset of shape [2], but got [3]}}
  %0 = attn.sinusoidal_positions %x offset(%p : tensor<3xi64>) : tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}

// -----

// C4
func.func @NoBatch(%x: tensor<3x8xf32>, %p: tensor<3xi64>) -> tensor<3x8xf32> {
  // expected-error @+1 {{expected a batch dimension before the positions for offset per batch entry}}
  %0 = attn.sinusoidal_positions %x offset(%p : tensor<3xi64>) : tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}
