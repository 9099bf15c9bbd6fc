// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @RankZero(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{expected input of rank at least 1, but got rank 0}}
  %0 = attn.rms_norm %x epsilon(1.0e-5) : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// C2
func.func @WeightOfOtherSize(%x: tensor<2x8xf32>, %w: tensor<2xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{expected weight of shape [8], but got [2]}}
  %0 = attn.rms_norm %x, %w epsilon(1.0e-5) : tensor<2x8xf32>, tensor<2xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// C3
func.func @NegativeEpsilon(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{expected a positive, finite epsilon, but got -1}}
  %0 = attn.rms_norm %x epsilon(-1.0) : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// C4
func.func @OffsetWithoutValue(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{expected a finite offset, but got nan}}
  %0 = attn.rms_norm %x epsilon(1.0e-5) offset(0x7FF8000000000000) : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
