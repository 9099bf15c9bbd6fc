// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @LastAxis(%x: tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32> {
  // expected-error @+1 {{expected axis before the last of 4 dimensions, but got -1}}
  %0 = attn.rotary %x pairing(halves) axis(-1) : tensor<2x3x5x8xf32>
  return %0 : tensor<2x3x5x8xf32>
}

// -----

// C1
func.func @AxisPastRank(%x: tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32> {
  // expected-error @+1 {{expected axis before the last of 4 dimensions, but got 4}}
  %0 = attn.rotary %x pairing(halves) axis(4) : tensor<2x3x5x8xf32>
  return %0 : tensor<2x3x5x8xf32>
}

// -----

// C2
func.func @OddWidth(%x: tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32> {
  // expected-error @+1 {{expected an even width, but got 3}}
  %0 = attn.rotary %x pairing(halves) width(3) : tensor<2x3x5x8xf32>
  return %0 : tensor<2x3x5x8xf32>
}

// -----

// C2
func.func @OddFeatures(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{expected an even width, but got 7}}
  %0 = attn.rotary %x pairing(halves) : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

// C3
func.func @WidthPastTheFeatures(%x: tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32> {
  // expected-error @+1 {{expected width of at most 8, but got 10}}
  %0 = attn.rotary %x pairing(halves) width(10) : tensor<2x3x5x8xf32>
  return %0 : tensor<2x3x5x8xf32>
}

// -----

// C4
func.func @NegativeBase(%x: tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32> {
  // expected-error @+1 {{expected a positive, finite base, but got -2}}
  %0 = attn.rotary %x pairing(halves) base(-2.0) : tensor<2x3x5x8xf32>
  return %0 : tensor<2x3x5x8xf32>
}

// -----

// C5
func.func @OffsetForOtherBatch(%x: tensor<2x3x5x8xf32>, %p: tensor<3xi64>) -> tensor<2x3x5x8xf32> {
  // expected-error @+1 {{expected offset of shape [2], but got [3]}}
  %0 = attn.rotary %x pairing(halves) offset(%p : tensor<3xi64>) : tensor<2x3x5x8xf32>
  return %0 : tensor<2x3x5x8xf32>
}

// -----

// C5
func.func @BatchIsTheAxis(%x: tensor<2x3x5x8xf32>, %p: tensor<2xi64>) -> tensor<2x3x5x8xf32> {
  // expected-error @+1 {{expected a batch dimension before the positions for offset per batch entry}}
  %0 = attn.rotary %x pairing(halves) offset(%p : tensor<2xi64>) axis(0) : tensor<2x3x5x8xf32>
  return %0 : tensor<2x3x5x8xf32>
}
