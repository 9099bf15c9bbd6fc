// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @Tokens
//       CHECK:   %embedded = attn.embedding %arg0, %arg1 : (tensor<30522x384xf32>, tensor<?x?xi64>) -> tensor<?x?x384xf32>
func.func @Tokens(%t: tensor<30522x384xf32>, %i: tensor<?x?xi64>) -> tensor<?x?x384xf32> {
  %0 = attn.embedding %t, %i : (tensor<30522x384xf32>, tensor<?x?xi64>) -> tensor<?x?x384xf32>
  return %0 : tensor<?x?x384xf32>
}

// CHECK-LABEL: @OneId
//       CHECK:   attn.embedding %arg0, %arg1 : (tensor<?x8xf16>, tensor<i32>) -> tensor<8xf32>
func.func @OneId(%t: tensor<?x8xf16>, %i: tensor<i32>) -> tensor<8xf32> {
  %0 = attn.embedding %t, %i : (tensor<?x8xf16>, tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
