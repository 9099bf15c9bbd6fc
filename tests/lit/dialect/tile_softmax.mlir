// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @Tensors
//       CHECK:   %0:4 = attn.tile_softmax outs(%arg0, %arg1, %arg2, %arg3 : tensor<6x?xf32>, tensor<6x64xf32>, tensor<6xf32>, tensor<6x16xf32>) base2 masked
//  CHECK-SAME:     -> tensor<6x?xf32>, tensor<6x64xf32>, tensor<6xf32>, tensor<6x16xf32>
func.func @Tensors(%s: tensor<6x?xf32>, %a: tensor<6x64xf32>, %m: tensor<6xf32>, %l: tensor<6x16xf32>) -> tensor<6x?xf32> {
  %0:4 = attn.tile_softmax outs(%s, %a, %m, %l : tensor<6x?xf32>, tensor<6x64xf32>, tensor<6xf32>, tensor<6x16xf32>) base2 masked
    -> tensor<6x?xf32>, tensor<6x64xf32>, tensor<6xf32>, tensor<6x16xf32>
  return %0#0 : tensor<6x?xf32>
}

// CHECK-LABEL: @Buffers
//       CHECK:   attn.tile_softmax outs(%arg0, %arg1, %arg2, %arg3 : memref<6x?xf32>, memref<6x64xf32>, memref<6xf32>, memref<6x16xf32>)
//  CHECK-NEXT:   return
func.func @Buffers(%s: memref<6x?xf32>, %a: memref<6x64xf32>, %r: memref<6xf32>, %l: memref<6x16xf32>) {
  attn.tile_softmax outs(%s, %a, %r, %l : memref<6x?xf32>, memref<6x64xf32>, memref<6xf32>, memref<6x16xf32>)
  return
}
