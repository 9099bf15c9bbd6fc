// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @AtOnePosition
//       CHECK:   %cache = attn.cache_update %arg0, %arg1 at %arg2 : tensor<?x8x128x64xf16>, tensor<?x8x1x64xf16>, index
func.func @AtOnePosition(%c: tensor<?x8x128x64xf16>, %k: tensor<?x8x1x64xf16>, %p: index) -> tensor<?x8x128x64xf16> {
  %0 = attn.cache_update %c, %k at %p : tensor<?x8x128x64xf16>, tensor<?x8x1x64xf16>, index
  return %0 : tensor<?x8x128x64xf16>
}

// CHECK-LABEL: @AtOnePerEntry
//       CHECK:   attn.cache_update %arg0, %arg1 at %arg2 axis(1) : tensor<2x128x8x64xf32>, tensor<2x?x8x64xf32>, tensor<2xi32>
func.func @AtOnePerEntry(%c: tensor<2x128x8x64xf32>, %k: tensor<2x?x8x64xf32>, %p: tensor<2xi32>) -> tensor<2x128x8x64xf32> {
  %0 = attn.cache_update %c, %k at %p axis(1) : tensor<2x128x8x64xf32>, tensor<2x?x8x64xf32>, tensor<2xi32>
  return %0 : tensor<2x128x8x64xf32>
}
