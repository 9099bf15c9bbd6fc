// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @BiasOfHigherRank(%x: tensor<4xf32>, %bias: tensor<2x4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected bias of rank at most 1, but got 2}}
  %0 = attn.bias %x, %bias : tensor<4xf32>, tensor<2x4xf32>
  return %0 : tensor<4xf32>
}

// -----

// C2
func.func @SizeThatDoesNotBroadcast(%x: tensor<?x8x4xf32>, %bias: tensor<8x2xf32>) -> tensor<?x8x4xf32> {
  // expected-error @+1 {{expected sizes of bias to be 1 or those of [8, 4], but got [8, 2]}}
  %0 = attn.bias %x, %bias : tensor<?x8x4xf32>, tensor<8x2xf32>
  return %0 : tensor<?x8x4xf32>
}
