// RUN: heed-opt %s --attn-describe-interface --attn-lay-out-parameters --split-input-file --verify-diagnostics | FileCheck %s

// Places follow the order of names; each begins on 64 bytes, as does the end.
// CHECK-LABEL: module @InOrderOfNames
//  CHECK-SAME:   parameters = {bytes = 256 : i64, list = [
//  CHECK-SAME:     {bytes = 12 : i64, name = "a", offset = 0 : i64, shape = array<i64: 3>, storage = "f32", type = f32}
//  CHECK-SAME:     {bytes = 66 : i64, name = "b", offset = 64 : i64, shape = array<i64: 3, 11>, storage = "f16", type = f16}
//  CHECK-SAME:     {bytes = 8 : i64, name = "c", offset = 192 : i64, shape = array<i64: 2>, storage = "f32", type = f32}
module @InOrderOfNames {
  func.func @f() -> (tensor<2xf32>, tensor<3x11xf16>) {
    %c = attn.param "c" : tensor<2xf32>
    %b = attn.param "b" : tensor<3x11xf16>
    %a = func.call @g() : () -> tensor<3xf32>
    return %c, %b : tensor<2xf32>, tensor<3x11xf16>
  }
  func.func private @g() -> tensor<3xf32> {
    %a = attn.param "a" : tensor<3xf32>
    return %a : tensor<3xf32>
  }
}

// -----

// CHECK-LABEL: module @UsedTwiceLiesOnce
//       CHECK:   list = [{bytes = 8 : i64, name = "a", {{[^{]*}}}]
module @UsedTwiceLiesOnce {
  func.func @f() -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = attn.param "a" : tensor<2xf32>
    %1 = attn.param "a" : tensor<2xf32>
    return %0, %1 : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// The interface tells the shape and type of the model, and the storage of the image.
// CHECK-LABEL: module @PanelsKeepTheLogicalShape
//       CHECK:   list = [{bytes = 384 : i64, name = "w#panels16", offset = 0 : i64, shape = array<i64: 20, 3>,
//  CHECK-SAME:     storage = "f32 panels of 16", type = f32}]
module @PanelsKeepTheLogicalShape attributes {heed.recipe = {
    "w#panels16" = {tensor = "w", logical = tensor<20x3xf32>, panels = {dim = 0, width = 16}}}} {
  func.func @f() -> tensor<2x3x16xf32> {
    %w = attn.param "w#panels16" : tensor<2x3x16xf32>
    return %w : tensor<2x3x16xf32>
  }
}

// -----

// CHECK-LABEL: module @NoParameters
//   CHECK-NOT:   parameters
//       CHECK:   func.func @f
module @NoParameters {
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

module @TwoTypes {
  func.func @f() -> (tensor<2xf32>, tensor<3xf32>) {
    // expected-note @+1 {{the other use is here}}
    %0 = attn.param "a" : tensor<2xf32>
    // expected-error @+1 {{expected one type for parameter 'a', but got 'tensor<2xf32>' and 'tensor<3xf32>'}}
    %1 = attn.param "a" : tensor<3xf32>
    return %0, %1 : tensor<2xf32>, tensor<3xf32>
  }
}
