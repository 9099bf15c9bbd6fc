// RUN: heed-opt %s --split-input-file --attn-expand-math --verify-diagnostics

func.func @double_precision(%x: f64) -> f64 {
  // expected-error @+1 {{expected f16, bf16 or f32 scalars or vectors, but got 'f64'}}
  %0 = math.exp %x : f64
  return %0 : f64
}

// -----

func.func @tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected f16, bf16 or f32 scalars or vectors, but got 'tensor<4xf32>'}}
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @no_expansion(%x: f32) -> f32 {
  // expected-error @+1 {{expected an operation with an expansion}}
  %0 = math.atan %x : f32
  return %0 : f32
}
