// RUN: heed-opt %s --split-input-file --verify-diagnostics --attn-emit-interface

// expected-error @+1 {{expected a module with heed.interface, which describe-interface adds}}
module @m {
}

// -----

// expected-error @+1 {{expected 'entries' in heed.interface}}
module @m attributes {heed.interface = {name = "m"}} {
}

// -----

// expected-error @+1 {{expected functions @f and @f.workspace}}
module @m attributes {heed.interface = {name = "m", entries = [
    {name = "f", symbol = "m_f", sizes = [], arguments = []}]}} {
}

// -----

module @m attributes {heed.interface = {name = "m", entries = [
    {name = "f", symbol = "m_f", sizes = [], arguments = [{name = "x", role = "input", type = f32, shape = [2]}]}]}} {
  // expected-error @+1 {{expected 1 tensors, params, workspace, threads and context as arguments and no result, but got '(memref<2xf32>) -> ()'}}
  func.func @f(%x: memref<2xf32>) {
    return
  }
  func.func @f.workspace(%threads: index) -> index {
    return %threads : index
  }
}

// -----

module @m attributes {heed.interface = {name = "m", entries = [
    {name = "f", symbol = "m_f", sizes = [], arguments = [{name = "x", role = "input", type = f32, shape = [2]}]}]}} {
  // expected-error @+1 {{argument 'x': expected a dense memref of rank 1 and element type 'f32', but got 'memref<2xf64>'}}
  func.func @f(%x: memref<2xf64>, %params: memref<?xi8>, %workspace: memref<?xi8>, %threads: index, %context: !llvm.ptr) {
    return
  }
  func.func @f.workspace(%threads: index) -> index {
    return %threads : index
  }
}

// -----

module @m attributes {heed.interface = {name = "m", entries = [
    {name = "f", symbol = "m_f", sizes = [], arguments = [{name = "x", role = "input", type = f32, shape = [2]}]}]}} {
  func.func @f(%x: memref<2xf32>, %params: memref<?xi8>, %workspace: memref<?xi8>, %threads: index, %context: !llvm.ptr) {
    return
  }
  // expected-error @+1 {{expected 0 dynamic dimensions and the threads as arguments, but got '(index, index) -> index'}}
  func.func @f.workspace(%n: index, %threads: index) -> index {
    return %threads : index
  }
}
