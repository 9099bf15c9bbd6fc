// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
// RUN: heed-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @Twelve
//       CHECK:   %heads = attn.split_heads %arg0 heads(12) : tensor<?x?x384xf32> -> tensor<?x12x?x32xf32>
func.func @Twelve(%x: tensor<?x?x384xf32>) -> tensor<?x12x?x32xf32> {
  %0 = attn.split_heads %x heads(12) : tensor<?x?x384xf32> -> tensor<?x12x?x32xf32>
  return %0 : tensor<?x12x?x32xf32>
}

// CHECK-LABEL: @DynamicWidth
//       CHECK:   attn.split_heads %arg0 heads(2) : tensor<5x?xf16> -> tensor<2x5x?xf16>
func.func @DynamicWidth(%x: tensor<5x?xf16>) -> tensor<2x5x?xf16> {
  %0 = attn.split_heads %x heads(2) : tensor<5x?xf16> -> tensor<2x5x?xf16>
  return %0 : tensor<2x5x?xf16>
}

// FOLD-LABEL: @OfMergedHeads
//   FOLD-NEXT:   return %arg0
func.func @OfMergedHeads(%x: tensor<?x2x5x4xf32>) -> tensor<?x2x5x4xf32> {
  %0 = attn.merge_heads %x : tensor<?x2x5x4xf32> -> tensor<?x5x8xf32>
  %1 = attn.split_heads %0 heads(2) : tensor<?x5x8xf32> -> tensor<?x2x5x4xf32>
  return %1 : tensor<?x2x5x4xf32>
}

// FOLD-LABEL: @IntoOtherHeadsStays
//        FOLD:   attn.merge_heads
//        FOLD:   attn.split_heads
func.func @IntoOtherHeadsStays(%x: tensor<?x2x5x4xf32>) -> tensor<?x4x5x2xf32> {
  %0 = attn.merge_heads %x : tensor<?x2x5x4xf32> -> tensor<?x5x8xf32>
  %1 = attn.split_heads %0 heads(4) : tensor<?x5x8xf32> -> tensor<?x4x5x2xf32>
  return %1 : tensor<?x4x5x2xf32>
}
