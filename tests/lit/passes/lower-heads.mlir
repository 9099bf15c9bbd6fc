// RUN: heed-opt %s --attn-lower-heads | FileCheck %s

// CHECK-LABEL: @SplitExpandsThenTransposes
//       CHECK:   %[[X:.*]] = tensor.expand_shape %arg0 {{\[\[}}0], [1], [2, 3]]
//       CHECK:   linalg.transpose ins(%[[X]] : {{.*}} permutation = [0, 2, 1, 3]
func.func @SplitExpandsThenTransposes(%x: tensor<?x?x12xf32>) -> tensor<?x3x?x4xf32> {
  %0 = attn.split_heads %x heads(3) : tensor<?x?x12xf32> -> tensor<?x3x?x4xf32>
  return %0 : tensor<?x3x?x4xf32>
}

// CHECK-LABEL: @MergeTransposesThenCollapses
//       CHECK:   %[[X:.*]] = linalg.transpose ins(%arg0 : {{.*}} permutation = [0, 2, 1, 3]
//       CHECK:   tensor.collapse_shape %[[X]] {{\[\[}}0], [1], [2, 3]]
func.func @MergeTransposesThenCollapses(%x: tensor<2x3x5x4xf32>) -> tensor<2x5x12xf32> {
  %0 = attn.merge_heads %x : tensor<2x3x5x4xf32> -> tensor<2x5x12xf32>
  return %0 : tensor<2x5x12xf32>
}

// CHECK-LABEL: @CacheUpdateWritesASlice
//       CHECK:   tensor.insert_slice %arg1 into %arg0[0, %{{.*}}, 0] [2, 3, 8] [1, 1, 1]
func.func @CacheUpdateWritesASlice(%cache: tensor<2x20x8xf32>, %new: tensor<2x3x8xf32>) -> tensor<2x20x8xf32> {
  %position = arith.constant 4 : index
  %0 = attn.cache_update %cache, %new at %position axis(1) : tensor<2x20x8xf32>, tensor<2x3x8xf32>, index
  return %0 : tensor<2x20x8xf32>
}
