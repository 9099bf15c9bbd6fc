// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @Forty
//       CHECK:   %values, %indices = attn.top_k %arg0 k(40) : tensor<?x32000xf32> -> tensor<?x40xf32>, tensor<?x40xi64>
func.func @Forty(%x: tensor<?x32000xf32>) -> (tensor<?x40xf32>, tensor<?x40xi64>) {
  %0, %1 = attn.top_k %x k(40) : tensor<?x32000xf32> -> tensor<?x40xf32>, tensor<?x40xi64>
  return %0, %1 : tensor<?x40xf32>, tensor<?x40xi64>
}
