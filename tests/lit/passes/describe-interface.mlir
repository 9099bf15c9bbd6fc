// RUN: heed-opt %s --split-input-file --attn-describe-interface | FileCheck %s

// Names, sizes and bounds are recorded in the order of the call; results follow from the inputs.
// CHECK: module @minilm attributes {heed.interface = {entries = [{arguments = [
// CHECK-SAME: {name = "input_ids", range = [0, 99], role = "input", shape = ["batch", "seq"], type = i64},
// CHECK-SAME: {name = "attention_mask", optional = "ones", role = "input", shape = ["batch", "seq"], type = i64},
// CHECK-SAME: {name = "arg2", role = "input", shape = ["arg2_dim0", "arg2_dim1", 8], type = f32},
// CHECK-SAME: {name = "hidden", role = "output", shape = ["arg2_dim0", "arg2_dim1", 8], type = f32},
// CHECK-SAME: {name = "result1", role = "output", shape = ["batch", "seq"], type = i64}]
// CHECK-SAME: name = "encode", relations = ["seq <= 512"]
// CHECK-SAME: sizes = ["batch", "seq", "arg2_dim0", "arg2_dim1"], symbol = "minilm_encode"
// CHECK-SAME: name = "minilm"
module @minilm {
  func.func @encode(%ids: tensor<?x?xi64> {attn.name = "input_ids", attn.shape = ["batch", "seq"], attn.range = [0, 99]},
                    %mask: tensor<?x?xi64> {attn.name = "attention_mask", attn.shape = ["batch", "seq"],
                                            attn.optional = "ones"},
                    %x: tensor<?x?x8xf32>)
      -> (tensor<?x?x8xf32> {attn.name = "hidden"}, tensor<?x?xi64>) attributes {attn.require = ["seq <= 512"]} {
    return %x, %ids : tensor<?x?x8xf32>, tensor<?x?xi64>
  }
}

// -----

// An entry of the module's name is called by that name; others may be called beside it; private ones are not.
// CHECK: name = "grow"
// CHECK-SAME: sizes = ["past", "seq"], symbol = "grow"}
// CHECK-SAME: name = "two"
// CHECK-SAME: symbol = "grow_two"}]
module @grow {
  // A dimension followed through a call, an insertion and an addition.
  func.func @grow(%a: tensor<?x4xf32> {attn.shape = ["past", 4]}, %b: tensor<?x4xf32> {attn.shape = ["seq", 4]})
      -> (tensor<?x4xf32> {attn.shape = ["past + seq", 4]}) {
    %0 = call @concat(%a, %b) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
  func.func private @concat(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %m = tensor.dim %a, %c0 : tensor<?x4xf32>
    %n = tensor.dim %b, %c0 : tensor<?x4xf32>
    %sum = arith.addi %m, %n : index
    %init = tensor.empty(%sum) : tensor<?x4xf32>
    %0 = tensor.insert_slice %a into %init[0, 0] [%m, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
    %1 = tensor.insert_slice %b into %0[%m, 0] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }
  func.func @two(%a: tensor<2xf32>) -> tensor<2xf32> {
    return %a : tensor<2xf32>
  }
}

// -----

// A state is one argument in C; the result that is its new value has none. Strides, bounds by sizes, a capacity.
// CHECK: {name = "lengths", range = [0, "capacity - 1"], role = "input", shape = ["batch"], type = i32}
// CHECK-SAME: {name = "cache", role = "state", shape = ["batch", "capacity"], strided, type = f16}
// CHECK-SAME: {name = "found", role = "output", shape = ["most"], type = i1}
// CHECK-SAME: params
// CHECK-SAME: sizes = ["batch", "capacity", "most"]
module @decode {
  func.func @decode(%lengths: tensor<?xi32> {attn.name = "lengths", attn.shape = ["batch"], attn.range = [0, "capacity - 1"]},
                    %cache: tensor<?x?xf16> {attn.name = "cache", attn.shape = ["batch", "capacity"], attn.strided,
                                             attn.state = 0})
      -> (tensor<?x?xf16>, tensor<?xi1> {attn.name = "found", attn.shape = ["most"]}) {
    %0 = call @find(%lengths) : (tensor<?xi32>) -> tensor<?xi1>
    return %cache, %0 : tensor<?x?xf16>, tensor<?xi1>
  }
  func.func private @find(%lengths: tensor<?xi32>) -> tensor<?xi1> {
    %w = attn.param "w" : tensor<3xf32>
    %c0 = arith.constant 0 : index
    %length = tensor.extract %lengths[%c0] : tensor<?xi32>
    %n = arith.index_cast %length : i32 to index
    %0 = tensor.empty(%n) : tensor<?xi1>
    return %0 : tensor<?xi1>
  }
}
