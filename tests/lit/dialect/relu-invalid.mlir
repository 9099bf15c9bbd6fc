// RUN: heed-opt %s --split-input-file --verify-diagnostics

func.func @Integers(%x: tensor<8xi32>) -> tensor<8xi32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = attn.relu %x : tensor<8xi32>
  return %0 : tensor<8xi32>
}
