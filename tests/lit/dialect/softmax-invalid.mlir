// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @AxisPastRank(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected axis in [-1, 1), but got 3}}
  %0 = attn.softmax %x axis(3) : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// C1
func.func @AxisBeforeRank(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{expected axis in [-2, 2), but got -3}}
  %0 = attn.softmax %x axis(-3) : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

func.func @UnknownPolicy(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{expected one of [zeros, nan] for policy for empty rows, got: ones}}
  %0 = attn.softmax %x empty_rows(ones) : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
