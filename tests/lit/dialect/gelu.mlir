// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @ExactIsTheDefault
//       CHECK:   %activated = attn.gelu %arg0 : tensor<?x8xf32>
func.func @ExactIsTheDefault(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = attn.gelu %x form(exact) : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @Tanh
//       CHECK:   %activated = attn.gelu %arg0 form(tanh) : tensor<?x8xbf16>
func.func @Tanh(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %0 = attn.gelu %x form(tanh) : tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}
