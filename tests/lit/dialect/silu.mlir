// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @AnyRank
//       CHECK:   %activated = attn.silu %arg0 : tensor<?x?x8xf16>
func.func @AnyRank(%x: tensor<?x?x8xf16>) -> tensor<?x?x8xf16> {
  %0 = attn.silu %x : tensor<?x?x8xf16>
  return %0 : tensor<?x?x8xf16>
}

// CHECK-LABEL: @OneNumber
//       CHECK:   attn.silu %arg0 : tensor<f32>
func.func @OneNumber(%x: tensor<f32>) -> tensor<f32> {
  %0 = attn.silu %x : tensor<f32>
  return %0 : tensor<f32>
}
