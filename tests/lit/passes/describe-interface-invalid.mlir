// RUN: heed-opt %s --split-input-file --verify-diagnostics --attn-describe-interface

// expected-error @+1 {{expected the name of the module to be a C identifier other than 'heed', but got 'heed'}}
module @heed {
}

// -----

// expected-error @+1 {{expected a public function with a body to be the entry, but found none}}
module @m {
  func.func private @f()
}

// -----

module @m {
  // expected-error @+1 {{expected the name of an entry to be a C identifier, but got 'f.g'}}
  func.func @f.g(%x: tensor<2xf32>) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 0: expected a ranked tensor of f16, bf16, f32, f64, i1, i8, i16, i32 or i64, but got 'index'}}
  func.func @f(%x: index) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 0: expected attn.name to be a string without '/', but got "../x"}}
  func.func @f(%x: tensor<2xf32> {attn.name = "../x"}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'x': expected attn.shape to have 2 elements, but got ["n"]}}
  func.func @f(%x: tensor<?x2xf32> {attn.name = "x", attn.shape = ["n"]}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'x': expected attn.shape[0] to be a size, a name or a sum of them, but got "n * n"}}
  func.func @f(%x: tensor<?xf32> {attn.name = "x", attn.shape = ["n * n"]}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'x': expected attn.shape[0] to be the static dimension 2, but got "n"}}
  func.func @f(%x: tensor<2xf32> {attn.name = "x", attn.shape = ["n"]}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'x': expected attn.shape[0] to name a dynamic dimension, but got 2}}
  func.func @f(%x: tensor<?xf32> {attn.name = "x", attn.shape = [2]}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'x': expected attn.shape[0] to be 2, but got 3}}
  func.func @f(%x: tensor<2xf32> {attn.name = "x", attn.shape = [3]}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{expected arguments and results to have names of their own, but two are 'x'}}
  func.func @f(%a: tensor<2xf32> {attn.name = "x"}, %b: tensor<2xf32> {attn.name = "x"}) {
    return
  }
}
