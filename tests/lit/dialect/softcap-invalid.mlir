// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @CapOfZero(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected a positive, finite cap, but got 0.0}}
  %0 = attn.softcap %x by 0.0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// C1
func.func @NegativeCap(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected a positive, finite cap, but got -5}}
  %0 = attn.softcap %x by -5.0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
