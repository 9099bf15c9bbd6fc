// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @Logits
//       CHECK:   %indices = attn.argmax %arg0 : tensor<?x32000xf32> -> tensor<?xi64>
func.func @Logits(%x: tensor<?x32000xf32>) -> tensor<?xi64> {
  %0 = attn.argmax %x : tensor<?x32000xf32> -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// CHECK-LABEL: @OneRow
//       CHECK:   attn.argmax %arg0 : tensor<?xbf16> -> tensor<i64>
func.func @OneRow(%x: tensor<?xbf16>) -> tensor<i64> {
  %0 = attn.argmax %x : tensor<?xbf16> -> tensor<i64>
  return %0 : tensor<i64>
}
