// RUN: heed-opt %s --split-input-file --verify-diagnostics --attn-pack-arguments

module @m {
  // expected-error @+1 {{argument 1: expected attn.packed on an argument whose attn.name is a C identifier}}
  func.func @f(%x: tensor<2xf32>, %w: tensor<2x3xf32> {attn.packed}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'w': expected attn.packed on a matrix of floats of static shape, but got 'tensor<?x3xf32>'}}
  func.func @f(%w: tensor<?x3xf32> {attn.name = "w", attn.packed}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'w': expected attn.packed on a dense input that is always there, but it is attn.optional}}
  func.func @f(%w: tensor<2x3xf32> {attn.name = "w", attn.packed, attn.optional = "zeros"}) {
    return
  }
}

// -----

module @f {
  // expected-error @+1 {{expected no function called 'pack_w' beside the one that packs argument 'w'}}
  func.func @f(%w: tensor<2x3xf32> {attn.name = "w", attn.packed}) {
    return
  }
  func.func @pack_w(%w: tensor<2x3xf32>) {
    return
  }
}
