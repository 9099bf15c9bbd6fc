// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @Cap
//       CHECK:   %scores = attn.softcap %arg0 by 5.000000e+01 : tensor<?x8x?x?xf32>
func.func @Cap(%x: tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32> {
  %0 = attn.softcap %x by 50.0 : tensor<?x8x?x?xf32>
  return %0 : tensor<?x8x?x?xf32>
}
