// RUN: heed-opt %s --split-input-file --verify-diagnostics --attn-describe-interface

module @m {
  // expected-error @+1 {{result 'y': expected dimension 0 to be 'n', as the inputs make it, but attn.shape says 'n + 1'}}
  func.func @f(%x: tensor<?xf32> {attn.shape = ["n"]}) -> (tensor<?xf32> {attn.name = "y", attn.shape = ["n + 1"]}) {
    return %x : tensor<?xf32>
  }
}

// -----

module @m {
  // expected-error @+1 {{result 'y': expected attn.shape to name dimension 0, which does not follow from the inputs}}
  func.func @f(%n: tensor<i64>) -> (tensor<?xf32> {attn.name = "y"}) {
    %0 = tensor.extract %n[] : tensor<i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = tensor.empty(%1) : tensor<?xf32>
    return %2 : tensor<?xf32>
  }
}

// -----

// "None" is no default: what the operation is without the tensor is ones or zeros.
module @m {
  // expected-error @+1 {{argument 'x': expected attn.optional to be "ones" or "zeros", but got "none"}}
  func.func @f(%x: tensor<2xf32> {attn.name = "x", attn.optional = "none"}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'x': expected attn.optional on a dense argument, but it is attn.strided}}
  func.func @f(%x: tensor<2xf32> {attn.name = "x", attn.optional = "ones", attn.strided}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'x': expected attn.range to be [lower, upper], numbers or sums of sizes, but got [0, "m"]}}
  func.func @f(%x: tensor<?xi64> {attn.name = "x", attn.shape = ["n"], attn.range = [0, "m"]}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'x': expected attn.range on a dense input of integers}}
  func.func @f(%x: tensor<2xf32> {attn.name = "x", attn.range = [0, 1]}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'x': expected attn.state to be the number of a result below 0, but got 0 : i64}}
  func.func @f(%x: tensor<2xf32> {attn.name = "x", attn.state = 0}) {
    return
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'x': expected the type of result 0, 'tensor<3xf32>', but got 'tensor<2xf32>'}}
  func.func @f(%x: tensor<2xf32> {attn.name = "x", attn.state = 0}, %y: tensor<3xf32>) -> tensor<3xf32> {
    return %y : tensor<3xf32>
  }
}

// -----

module @m {
  // expected-error @+1 {{argument 'y': expected inputs before states, but 'x' is a state}}
  func.func @f(%x: tensor<2xf32> {attn.name = "x", attn.state = 0}, %y: tensor<2xf32> {attn.name = "y"}) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

module @m {
  // expected-error @+1 {{expected attn.require to hold relations between sizes such as "seq <= 512", but got "n < m"}}
  func.func @f(%x: tensor<?xf32> {attn.shape = ["n"]}) attributes {attn.require = ["n < m"]} {
    return
  }
}
