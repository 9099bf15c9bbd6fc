// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @RankOne(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{expected input of rank at least 2, but got rank 1}}
  %0 = attn.split_heads %x heads(2) : tensor<8xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// C2
func.func @HeadsDoNotDivide(%x: tensor<5x8xf32>) -> tensor<3x5x?xf32> {
  // expected-error @+1 {{expected number of heads to divide width 8, but got 3}}
  %0 = attn.split_heads %x heads(3) : tensor<5x8xf32> -> tensor<3x5x?xf32>
  return %0 : tensor<3x5x?xf32>
}

// -----

// C2
func.func @NoHeads(%x: tensor<5x?xf32>) -> tensor<0x5x?xf32> {
  // expected-error @+1 {{expected number of heads to divide width ?, but got 0}}
  %0 = attn.split_heads %x heads(0) : tensor<5x?xf32> -> tensor<0x5x?xf32>
  return %0 : tensor<0x5x?xf32>
}

// -----

// C3
func.func @ResultOfOtherShape(%x: tensor<5x8xf32>) -> tensor<5x2x4xf32> {
  // expected-error @+1 {{expected result of shape [2, 5, 4], but got [5, 2, 4]}}
  %0 = attn.split_heads %x heads(2) : tensor<5x8xf32> -> tensor<5x2x4xf32>
  return %0 : tensor<5x2x4xf32>
}
