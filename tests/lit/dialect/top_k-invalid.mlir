// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @RankZero(%x: tensor<f32>) -> tensor<1xf32> {
  // expected-error @+1 {{expected input of rank at least 1, but got rank 0}}
  %0, %1 = attn.top_k %x k(1) : tensor<f32> -> tensor<1xf32>, tensor<1xi64>
  return %0 : tensor<1xf32>
}

// -----

// C2
func.func @KOfZero(%x: tensor<8xf32>) -> tensor<0xf32> {
  // expected-error @+1 {{expected k from 1 to 8, but got 0}}
  %0, %1 = attn.top_k %x k(0) : tensor<8xf32> -> tensor<0xf32>, tensor<0xi64>
  return %0 : tensor<0xf32>
}

// -----

// C2
func.func @KPastTheWidth(%x: tensor<8xf32>) -> tensor<9xf32> {
  // expected-error @+1 {{expected k from 1 to 8, but got 9}}
  %0, %1 = attn.top_k %x k(9) : tensor<8xf32> -> tensor<9xf32>, tensor<9xi64>
  return %0 : tensor<9xf32>
}

// -----

// C3
func.func @ValuesOfOtherShape(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{expected values of shape [2, 3], but got [2, 8]}}
  %0, %1 = attn.top_k %x k(3) : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2x3xi64>
  return %0 : tensor<2x8xf32>
}

// -----

// C3
func.func @IndicesOfOtherShape(%x: tensor<2x8xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{expected indices of shape [2, 3], but got [3]}}
  %0, %1 = attn.top_k %x k(3) : tensor<2x8xf32> -> tensor<2x3xf32>, tensor<3xi64>
  return %0 : tensor<2x3xf32>
}

// -----

// C4
func.func @ValuesOfOtherType(%x: tensor<2x8xf16>) -> tensor<2x3xf32> {
  // expected-error @+1 {{expected values of element type 'f16', but got 'f32'}}
  %0, %1 = attn.top_k %x k(3) : tensor<2x8xf16> -> tensor<2x3xf32>, tensor<2x3xi64>
  return %0 : tensor<2x3xf32>
}
