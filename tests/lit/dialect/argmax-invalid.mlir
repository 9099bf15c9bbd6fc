// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @RankZero(%x: tensor<f32>) -> tensor<i64> {
  // expected-error @+1 {{expected input of rank at least 1, but got rank 0}}
  %0 = attn.argmax %x : tensor<f32> -> tensor<i64>
  return %0 : tensor<i64>
}

// -----

// C2
func.func @NothingToChoose(%x: tensor<2x0xf32>) -> tensor<2xi64> {
  // expected-error @+1 {{expected at least one element to choose from, but got 0}}
  %0 = attn.argmax %x : tensor<2x0xf32> -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// C3
func.func @IndicesOfOtherShape(%x: tensor<2x8xf32>) -> tensor<8xi64> {
  // expected-error @+1 {{expected indices of shape [2], but got [8]}}
  %0 = attn.argmax %x : tensor<2x8xf32> -> tensor<8xi64>
  return %0 : tensor<8xi64>
}
