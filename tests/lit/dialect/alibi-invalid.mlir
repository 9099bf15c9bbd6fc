// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @NoHeads(%x: tensor<2x3x4xf32>, %slopes: tensor<2xf32>) -> tensor<2x3x4xf32> {
  // expected-error @+1 {{expected scores of rank 4 (batch, head, query, key), but got rank 3}}
  %0 = attn.alibi %x, %slopes : tensor<2x3x4xf32>, tensor<2xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// C2
func.func @SlopesForOtherHeads(%x: tensor<2x8x3x4xf32>, %slopes: tensor<4xf32>) -> tensor<2x8x3x4xf32> {
  // expected-error @+1 {{expected slopes of shape [8], but got [4]}}
  %0 = attn.alibi %x, %slopes : tensor<2x8x3x4xf32>, tensor<4xf32>
  return %0 : tensor<2x8x3x4xf32>
}
