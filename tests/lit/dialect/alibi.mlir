// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @SlopePerHead
//       CHECK:   %scores = attn.alibi %arg0, %arg1 : tensor<?x8x?x?xf32>, tensor<8xf32>
func.func @SlopePerHead(%x: tensor<?x8x?x?xf32>, %slopes: tensor<8xf32>) -> tensor<?x8x?x?xf32> {
  %0 = attn.alibi %x, %slopes : tensor<?x8x?x?xf32>, tensor<8xf32>
  return %0 : tensor<?x8x?x?xf32>
}
