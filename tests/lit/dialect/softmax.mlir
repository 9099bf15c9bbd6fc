// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @LastAxis
//       CHECK:   %weights = attn.softmax %arg0 : tensor<?x8x?x?xf32>
func.func @LastAxis(%x: tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32> {
  %0 = attn.softmax %x axis(-1) empty_rows(zeros) : tensor<?x8x?x?xf32>
  return %0 : tensor<?x8x?x?xf32>
}

// CHECK-LABEL: @FirstAxis
//       CHECK:   %weights = attn.softmax %arg0 axis(0) empty_rows(nan) : tensor<3x0xbf16>
func.func @FirstAxis(%x: tensor<3x0xbf16>) -> tensor<3x0xbf16> {
  %0 = attn.softmax %x axis(0) empty_rows(nan) : tensor<3x0xbf16>
  return %0 : tensor<3x0xbf16>
}
