// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @RanksDiffer(%a: tensor<2x3x4xf32>, %b: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  // expected-error @+1 {{expected operands of equal rank from 2 to 4, but got 3 and 2}}
  %0 = attn.matmul %a, %b : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

// C1
func.func @RankOne(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<f32> {
  // expected-error @+1 {{expected operands of equal rank from 2 to 4, but got 1 and 1}}
  %0 = attn.matmul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// C2
func.func @ElementTypesDiffer(%a: tensor<3x4xf32>, %b: tensor<4x5xf16>) -> tensor<3x5xf32> {
  // expected-error @+1 {{expected operands of one element type, but got 'f32' and 'f16'}}
  %0 = attn.matmul %a, %b : (tensor<3x4xf32>, tensor<4x5xf16>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// C3
func.func @InnerSizesDiffer(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{expected equal inner sizes, but got 4 and 5}}
  %0 = attn.matmul %a, %b transpose_rhs : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// C4
func.func @BatchSizesDiffer(%a: tensor<2x3x4xf32>, %b: tensor<1x4x5xf32>) -> tensor<2x3x5xf32> {
  // expected-error @+1 {{expected equal batch sizes, but got 2 and 1}}
  %0 = attn.matmul %a, %b : (tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

// C5
func.func @HeadsDoNotDivide(%a: tensor<2x8x3x4xf32>, %b: tensor<2x3x4x5xf32>) -> tensor<2x8x3x5xf32> {
  // expected-error @+1 {{expected heads of rhs to divide heads of lhs, but got 3 and 8}}
  %0 = attn.matmul %a, %b : (tensor<2x8x3x4xf32>, tensor<2x3x4x5xf32>) -> tensor<2x8x3x5xf32>
  return %0 : tensor<2x8x3x5xf32>
}

// -----

// C6
func.func @ResultOfAnotherShape(%a: tensor<?x3x4xf32>, %b: tensor<?x4x5xf32>) -> tensor<?x3x6xf32> {
  // expected-error @+1 {{expected result of shape [?, 3, 5], but got [?, 3, 6]}}
  %0 = attn.matmul %a, %b : (tensor<?x3x4xf32>, tensor<?x4x5xf32>) -> tensor<?x3x6xf32>
  return %0 : tensor<?x3x6xf32>
}
