// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
// RUN: heed-opt %s --canonicalize | FileCheck %s --check-prefix=CANONICAL

// CHECK-LABEL: @ChainBecomesOne
//       CHECK:   %scores = attn.scale %arg0 by 5.000000e-01 : tensor<?x8xf32>
//       CHECK:   %scores_0 = attn.scale %scores by 2.500000e-01 : tensor<?x8xf32>
// CANONICAL-LABEL: @ChainBecomesOne
//       CANONICAL:   %[[S:.*]] = attn.scale %{{.*}} by 1.250000e-01
//  CANONICAL-NEXT:   return %[[S]]
func.func @ChainBecomesOne(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = attn.scale %x by 0.5 : tensor<?x8xf32>
  %1 = attn.scale %0 by 0.25 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CANONICAL-LABEL: @OneChangesNothing
//  CANONICAL-NEXT:   return %arg0
func.func @OneChangesNothing(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = attn.scale %x by 1.0 : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// CANONICAL-LABEL: @ProductTooLargeForF32Stays
// CANONICAL-COUNT-2: attn.scale
func.func @ProductTooLargeForF32Stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = attn.scale %x by 1.0e30 : tensor<4xf32>
  %1 = attn.scale %0 by 1.0e30 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CANONICAL-LABEL: @ProductTooSmallForF16Stays
// CANONICAL-COUNT-2: attn.scale
func.func @ProductTooSmallForF16Stays(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = attn.scale %x by 1.0e-3 : tensor<4xf16>
  %1 = attn.scale %0 by 1.0e-3 : tensor<4xf16>
  return %1 : tensor<4xf16>
}
