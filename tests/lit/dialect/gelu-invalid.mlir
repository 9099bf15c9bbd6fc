// RUN: heed-opt %s --split-input-file --verify-diagnostics

func.func @UnknownForm(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected one of [exact, tanh] for form of GELU, got: sigmoid}}
  %0 = attn.gelu %x form(sigmoid) : tensor<8xf32>
  return %0 : tensor<8xf32>
}
