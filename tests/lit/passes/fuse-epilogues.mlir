// RUN: heed-opt %s --attn-fuse-epilogues | FileCheck %s

// CHECK-LABEL: @ActivationJoins
//       CHECK:   %[[L:.*]] = attn.linear {{.*}} epilogue
//       CHECK:     arith.maximumf
//   CHECK-NOT:   attn.relu
//       CHECK:   return %[[L]]
func.func @ActivationJoins(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<?x16xf32> {
  %0 = attn.linear %x, %w, %b : tensor<?x8xf32>, tensor<16x8xf32>, tensor<16xf32> -> tensor<?x16xf32>
  %1 = attn.relu %0 : tensor<?x16xf32>
  return %1 : tensor<?x16xf32>
}

// CHECK-LABEL: @ResidualJoins
//       CHECK:   %[[L:.*]] = attn.linear {{.*}} reads(%arg0 : tensor<?x8xf32>)
//       CHECK:     arith.addf
//       CHECK:   return %[[L]]
func.func @ResidualJoins(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = attn.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %1 = arith.addf %x, %0 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: @UsedTwiceStays
//       CHECK:   attn.linear
//   CHECK-NOT:   epilogue
//       CHECK:   attn.relu
func.func @UsedTwiceStays(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = attn.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %1 = attn.relu %0 : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}
