// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @TableOfRankOne(%t: tensor<8xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  // expected-error @+1 {{expected table of rank 2, but got rank 1}}
  %0 = attn.embedding %t, %i : (tensor<8xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// C2
func.func @ResultOfOtherShape(%t: tensor<5x8xf32>, %i: tensor<2xi64>) -> tensor<2x5xf32> {
  // expected-error @+1 {{expected result of shape [2, 8], but got [2, 5]}}
  %0 = attn.embedding %t, %i : (tensor<5x8xf32>, tensor<2xi64>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
