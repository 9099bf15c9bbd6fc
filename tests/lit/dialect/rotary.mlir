// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @Halves
//       CHECK:   %rotated = attn.rotary %arg0 pairing(halves) offset(%arg1 : index) base(5.000000e+05) : tensor<?x32x?x64xbf16>
func.func @Halves(%x: tensor<?x32x?x64xbf16>, %p: index) -> tensor<?x32x?x64xbf16> {
  %0 = attn.rotary %x pairing(halves) offset(%p : index) base(500000.0) : tensor<?x32x?x64xbf16>
  return %0 : tensor<?x32x?x64xbf16>
}

// CHECK-LABEL: @PartOfTheFeatures
//       CHECK:   attn.rotary %arg0 pairing(interleaved) offset(%arg1 : tensor<2xi32>) axis(1) width(4) : tensor<2x3x5x8xf32>
func.func @PartOfTheFeatures(%x: tensor<2x3x5x8xf32>, %p: tensor<2xi32>) -> tensor<2x3x5x8xf32> {
  %0 = attn.rotary %x pairing(interleaved) offset(%p : tensor<2xi32>) width(4) axis(1) : tensor<2x3x5x8xf32>
  return %0 : tensor<2x3x5x8xf32>
}
