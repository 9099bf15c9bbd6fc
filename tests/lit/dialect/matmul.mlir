// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @Scores
//       CHECK:   %scores = attn.matmul %arg0, %arg1 transpose_rhs : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x?xf32>
func.func @Scores(%query: tensor<?x8x?x64xf32>, %key: tensor<?x2x?x64xf32>) -> tensor<?x8x?x?xf32> {
  %0 = attn.matmul %query, %key transpose_rhs
    : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x?xf32>
  return %0 : tensor<?x8x?x?xf32>
}

// CHECK-LABEL: @RankTwoOfHalves
//       CHECK:   %product = attn.matmul %arg0, %arg1 : (tensor<3x4xf16>, tensor<4x5xf16>) -> tensor<3x5xf32>
func.func @RankTwoOfHalves(%a: tensor<3x4xf16>, %b: tensor<4x5xf16>) -> tensor<3x5xf32> {
  %0 = attn.matmul %a, %b : (tensor<3x4xf16>, tensor<4x5xf16>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: @NothingToSum
//       CHECK:   attn.matmul
func.func @NothingToSum(%a: tensor<2x3x0xbf16>, %b: tensor<2x0x5xbf16>) -> tensor<2x3x5xbf16> {
  %0 = attn.matmul %a, %b : (tensor<2x3x0xbf16>, tensor<2x0x5xbf16>) -> tensor<2x3x5xbf16>
  return %0 : tensor<2x3x5xbf16>
}
