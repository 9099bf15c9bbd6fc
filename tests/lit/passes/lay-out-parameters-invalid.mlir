// RUN: heed-opt %s --attn-lay-out-parameters --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a module with heed.interface}}
module @NotDescribed {
}

// -----

module @OtherShape attributes {heed.interface = {name = "OtherShape", entries = []}, heed.recipe = {
    "w#panels16" = {tensor = "w", logical = tensor<20x3xf32>, panels = {dim = 0, width = 16}}}} {
  func.func @f() -> tensor<20x3xf32> {
    // expected-error @+1 {{parameter "w#panels16": expected shape [2, 3, 16] by its recipe, but got [20, 3]}}
    %w = attn.param "w#panels16" : tensor<20x3xf32>
    return %w : tensor<20x3xf32>
  }
}

// -----

module @NoRecipe attributes {heed.interface = {name = "NoRecipe", entries = []}, heed.recipe = {w = {panels = 16}}} {
  func.func @f() -> tensor<20x3xf32> {
    // expected-error @+1 {{heed.recipe: expected a recipe of "w", but got {panels = 16 : i64}}}
    %w = attn.param "w" : tensor<20x3xf32>
    return %w : tensor<20x3xf32>
  }
}
