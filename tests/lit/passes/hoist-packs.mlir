// RUN: heed-opt %s --attn-hoist-packs --canonicalize | FileCheck %s

// The layer takes its weight packed; a parameter comes packed from the image, an argument is packed by the caller.
// CHECK-LABEL: module @m
//  CHECK-SAME:   heed.recipe = {"w#panels16" = {logical = tensor<40x8xf32>, panels = {dim = 0 : i64, width = 16 : i64}, tensor = "w"}}
module @m {
  // CHECK: func.func private @layer(%[[W:.*]]: tensor<3x8x16xf32>)
  // CHECK-NOT: linalg.pack
  // CHECK: return %[[W]]
  func.func private @layer(%w: tensor<40x8xf32>) -> tensor<3x8x16xf32> {
    %zero = arith.constant 0.0 : f32
    %0 = tensor.empty() : tensor<3x8x16xf32>
    %1 = linalg.pack %w padding_value(%zero : f32) inner_dims_pos = [0] inner_tiles = [16] into %0 : tensor<40x8xf32> -> tensor<3x8x16xf32>
    return %1 : tensor<3x8x16xf32>
  }

  // CHECK: func.func @ParameterIsStoredPacked
  // CHECK: %[[P:.*]] = attn.param "w#panels16" : tensor<3x8x16xf32>
  // CHECK: call @layer(%[[P]])
  func.func @ParameterIsStoredPacked() -> tensor<3x8x16xf32> {
    %w = attn.param "w" : tensor<40x8xf32>
    %0 = func.call @layer(%w) : (tensor<40x8xf32>) -> tensor<3x8x16xf32>
    return %0 : tensor<3x8x16xf32>
  }

  // CHECK: func.func @ArgumentIsPackedByTheCaller
  // CHECK: %[[P:.*]] = linalg.pack %arg0
  // CHECK: call @layer(%[[P]])
  func.func @ArgumentIsPackedByTheCaller(%w: tensor<40x8xf32>) -> tensor<3x8x16xf32> {
    %0 = func.call @layer(%w) : (tensor<40x8xf32>) -> tensor<3x8x16xf32>
    return %0 : tensor<3x8x16xf32>
  }
}
