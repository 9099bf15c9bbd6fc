// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @Encoder
//       CHECK:   %scores = attn.relative_bias %arg0, %arg1 bidirectional max_distance(128) : tensor<?x8x?x?xf32>, tensor<32x8xf32>
func.func @Encoder(%x: tensor<?x8x?x?xf32>, %table: tensor<32x8xf32>) -> tensor<?x8x?x?xf32> {
  %0 = attn.relative_bias %x, %table bidirectional max_distance(128) : tensor<?x8x?x?xf32>, tensor<32x8xf32>
  return %0 : tensor<?x8x?x?xf32>
}

// CHECK-LABEL: @Decoder
//       CHECK:   %scores = attn.relative_bias %arg0, %arg1 max_distance(64) : tensor<?x8x?x?xf16>, tensor<2x?xf32>
func.func @Decoder(%x: tensor<?x8x?x?xf16>, %table: tensor<2x?xf32>) -> tensor<?x8x?x?xf16> {
  %0 = attn.relative_bias %x, %table max_distance(64) : tensor<?x8x?x?xf16>, tensor<2x?xf32>
  return %0 : tensor<?x8x?x?xf16>
}
