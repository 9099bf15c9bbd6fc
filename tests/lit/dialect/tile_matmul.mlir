// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @Accumulated
//       CHECK:   %tile = attn.tile_matmul ins(%arg0, %arg1 : tensor<6x64xf32>, tensor<64x?xf32>) outs(%arg2 : tensor<6x?xf32>) accumulate -> tensor<6x?xf32>
func.func @Accumulated(%a: tensor<6x64xf32>, %b: tensor<64x?xf32>, %c: tensor<6x?xf32>) -> tensor<6x?xf32> {
  %0 = attn.tile_matmul ins(%a, %b : tensor<6x64xf32>, tensor<64x?xf32>) outs(%c : tensor<6x?xf32>) accumulate -> tensor<6x?xf32>
  return %0 : tensor<6x?xf32>
}

// CHECK-LABEL: @MaskedPanelsWithEpilogue
//       CHECK:   attn.tile_matmul ins(%arg0, %arg1 : tensor<6x64xf16>, tensor<3x64x16xf16>) outs(%arg2 : tensor<6x40xf32>) masked reads(%arg3 : tensor<40xf32>) maps [#{{.*}}] epilogue(%sum, %read) {
//       CHECK:     arith.addf %sum, %read : f32
//       CHECK:   } -> tensor<6x40xf32>
func.func @MaskedPanelsWithEpilogue(%a: tensor<6x64xf16>, %b: tensor<3x64x16xf16>, %c: tensor<6x40xf32>, %bias: tensor<40xf32>) -> tensor<6x40xf32> {
  %0 = attn.tile_matmul ins(%a, %b : tensor<6x64xf16>, tensor<3x64x16xf16>) outs(%c : tensor<6x40xf32>) masked
    reads(%bias : tensor<40xf32>) maps [affine_map<(m, n) -> (n)>] epilogue(%sum, %element) {
    %0 = arith.addf %sum, %element : f32
    attn.yield %0 : f32
  } -> tensor<6x40xf32>
  return %0 : tensor<6x40xf32>
}

// CHECK-LABEL: @Buffers
//       CHECK:   attn.tile_matmul ins(%arg0, %arg1 : memref<6x64xf32>, memref<64x?xf32>) outs(%arg2 : memref<6x?xf32>)
//  CHECK-NEXT:   return
func.func @Buffers(%a: memref<6x64xf32>, %b: memref<64x?xf32>, %c: memref<6x?xf32>) {
  attn.tile_matmul ins(%a, %b : memref<6x64xf32>, memref<64x?xf32>) outs(%c : memref<6x?xf32>)
  return
}

// CHECK-LABEL: @MayHoldNoMark
//       CHECK:   attn.tile_matmul {{.*}} accumulate masked asks(%arg3)
func.func @MayHoldNoMark(%a: memref<6x64xf32>, %b: memref<64x?xf32>, %c: memref<6x?xf32>, %asks: i1) {
  attn.tile_matmul ins(%a, %b : memref<6x64xf32>, memref<64x?xf32>) outs(%c : memref<6x?xf32>) accumulate masked asks(%asks)
  return
}

// CHECK-LABEL: @FetchesAhead
//       CHECK:   attn.tile_matmul {{.*}} ahead(%arg3 : memref<?x80xf16>)
func.func @FetchesAhead(%a: memref<6x64xf32>, %b: memref<64x?xf32>, %c: memref<6x?xf32>, %next: memref<?x80xf16>) {
  attn.tile_matmul ins(%a, %b : memref<6x64xf32>, memref<64x?xf32>) outs(%c : memref<6x?xf32>) ahead(%next : memref<?x80xf16>)
  return
}
