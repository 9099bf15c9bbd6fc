// RUN: heed-opt %s --split-input-file --verify-diagnostics

func.func @UnknownActivation(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected one of [sigmoid, relu, gelu, gelu_tanh, silu] for activation, got: tanh}}
  %0 = attn.gated %x, %y activation(tanh) : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @TypesDiffer(%x: tensor<8xf32>, %y: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "attn.gated"(%x, %y) {activation = #attn<activation silu>} : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
