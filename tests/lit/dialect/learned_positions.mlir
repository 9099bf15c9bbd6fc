// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @FromZero
//       CHECK:   %positioned = attn.learned_positions %arg0, %arg1 : tensor<?x?x384xf32>, tensor<512x384xf32>
func.func @FromZero(%x: tensor<?x?x384xf32>, %t: tensor<512x384xf32>) -> tensor<?x?x384xf32> {
  %0 = attn.learned_positions %x, %t : tensor<?x?x384xf32>, tensor<512x384xf32>
  return %0 : tensor<?x?x384xf32>
}

// CHECK-LABEL: @FromAnOffset
//       CHECK:   attn.learned_positions %arg0, %arg1 offset(%arg2 : index) : tensor<?x8xf16>, tensor<?x8xf32>
func.func @FromAnOffset(%x: tensor<?x8xf16>, %t: tensor<?x8xf32>, %p: index) -> tensor<?x8xf16> {
  %0 = attn.learned_positions %x, %t offset(%p : index) : tensor<?x8xf16>, tensor<?x8xf32>
  return %0 : tensor<?x8xf16>
}
