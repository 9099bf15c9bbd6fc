// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @InfiniteFactor(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected a finite factor, but got INF}}
  %0 = attn.scale %x by 0x7FF0000000000000 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
