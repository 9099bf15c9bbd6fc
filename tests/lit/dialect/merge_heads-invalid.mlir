// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @RankTwo(%x: tensor<5x8xf32>) -> tensor<40xf32> {
  // expected-error @+1 {{expected input of rank at least 3, but got rank 2}}
  %0 = attn.merge_heads %x : tensor<5x8xf32> -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

// C2
func.func @ResultOfOtherShape(%x: tensor<2x5x8xf32>) -> tensor<2x40xf32> {
  // expected-error @+1 {{expected result of shape [5, 16], but got [2, 40]}}
  %0 = attn.merge_heads %x : tensor<2x5x8xf32> -> tensor<2x40xf32>
  return %0 : tensor<2x40xf32>
}
