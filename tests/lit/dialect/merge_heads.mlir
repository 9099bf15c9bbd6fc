// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
// RUN: heed-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @Twelve
//       CHECK:   %merged = attn.merge_heads %arg0 : tensor<?x12x?x32xf32> -> tensor<?x?x384xf32>
func.func @Twelve(%x: tensor<?x12x?x32xf32>) -> tensor<?x?x384xf32> {
  %0 = attn.merge_heads %x : tensor<?x12x?x32xf32> -> tensor<?x?x384xf32>
  return %0 : tensor<?x?x384xf32>
}

// FOLD-LABEL: @OfSplitHeads
//   FOLD-NEXT:   return %arg0
func.func @OfSplitHeads(%x: tensor<?x5x8xf32>) -> tensor<?x5x8xf32> {
  %0 = attn.split_heads %x heads(2) : tensor<?x5x8xf32> -> tensor<?x2x5x4xf32>
  %1 = attn.merge_heads %0 : tensor<?x2x5x4xf32> -> tensor<?x5x8xf32>
  return %1 : tensor<?x5x8xf32>
}
