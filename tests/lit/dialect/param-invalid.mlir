// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @NoName() -> tensor<8xf32> {
  // expected-error @+1 {{expected a name, but got an empty one}}
  %0 = attn.param "" : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// C2
func.func @DynamicShape() -> tensor<?x8xf32> {
  // expected-error @+1 {{expected a static shape, but got [?, 8]}}
  %0 = attn.param "a" : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
