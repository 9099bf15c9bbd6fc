// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @PerHead
//       CHECK:   %scores = attn.bias %arg0, %arg1 : tensor<?x8x?x?xf32>, tensor<8x?x?xf16>
func.func @PerHead(%x: tensor<?x8x?x?xf32>, %bias: tensor<8x?x?xf16>) -> tensor<?x8x?x?xf32> {
  %0 = attn.bias %x, %bias : tensor<?x8x?x?xf32>, tensor<8x?x?xf16>
  return %0 : tensor<?x8x?x?xf32>
}

// CHECK-LABEL: @AdditiveMaskPerBatchEntry
//       CHECK:   attn.bias %arg0, %arg1 : tensor<?x8x?x?xf32>, tensor<?x1x1x?xf32>
func.func @AdditiveMaskPerBatchEntry(%x: tensor<?x8x?x?xf32>, %mask: tensor<?x1x1x?xf32>) -> tensor<?x8x?x?xf32> {
  %0 = attn.bias %x, %mask : tensor<?x8x?x?xf32>, tensor<?x1x1x?xf32>
  return %0 : tensor<?x8x?x?xf32>
}

// CHECK-LABEL: @OneNumber
//       CHECK:   attn.bias %arg0, %arg1 : tensor<3x4xf32>, tensor<f32>
func.func @OneNumber(%x: tensor<3x4xf32>, %bias: tensor<f32>) -> tensor<3x4xf32> {
  %0 = attn.bias %x, %bias : tensor<3x4xf32>, tensor<f32>
  return %0 : tensor<3x4xf32>
}
