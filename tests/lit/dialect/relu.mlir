// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
// RUN: heed-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @AnyRank
//       CHECK:   %activated = attn.relu %arg0 : tensor<?x?x8xf16>
func.func @AnyRank(%x: tensor<?x?x8xf16>) -> tensor<?x?x8xf16> {
  %0 = attn.relu %x : tensor<?x?x8xf16>
  return %0 : tensor<?x?x8xf16>
}

// CHECK-LABEL: @OneNumber
//       CHECK:   attn.relu %arg0 : tensor<f32>
func.func @OneNumber(%x: tensor<f32>) -> tensor<f32> {
  %0 = attn.relu %x : tensor<f32>
  return %0 : tensor<f32>
}

// FOLD-LABEL: @TwiceIsOnce
// FOLD-COUNT-1: attn.relu
//   FOLD-NEXT: return
func.func @TwiceIsOnce(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = attn.relu %x : tensor<4xf32>
  %1 = attn.relu %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
