// RUN: heed-opt %s --split-input-file --verify-diagnostics --attn-describe-interface

module @m {
  func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
    %0 = call @g(%x) : (tensor<?xf32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  // expected-error @+1 {{expected a function that does not call itself}}
  func.func private @g(%x: tensor<?xf32>) -> tensor<?xf32> {
    %0 = call @g(%x) : (tensor<?xf32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
