// RUN: heed-opt %s --split-input-file --attn-describe-interface | FileCheck %s
// Sizes of different names that an operation needs to be equal, or as large, become relations, once each.
// CHECK: relations = ["q <= m", "w == k", "h == 2 * n"]
module @relations {
  func.func @relations(%q: tensor<1x?x8xf32> {attn.shape = [1, "q", 8]}, %k: tensor<1x?x8xf32> {attn.shape = [1, "k", 8]},
                       %v: tensor<1x?x8xf32> {attn.shape = [1, "w", 8]}, %m: tensor<?xi1> {attn.shape = ["m"]},
                       %b: tensor<?xf32> {attn.shape = ["w"]}, %h: tensor<?xf32> {attn.shape = ["h"]},
                       %n: tensor<?xf32> {attn.shape = ["2 * n"]}) -> (tensor<1x?x8xf32>, tensor<?xf32>) attributes {attn.require = ["q <= m", "w == k"]} {
    %0 = attn.matmul %q, %k transpose_rhs : (tensor<1x?x8xf32>, tensor<1x?x8xf32>) -> tensor<1x?x?xf32>
    %1 = attn.bias %0, %b : tensor<1x?x?xf32>, tensor<?xf32>
    %2 = attn.mask %1 reads(%m : tensor<?xi1>) maps [affine_map<(b, h, q, k) -> (q)>]
      keep(%batch, %head, %i, %j, %lq, %lk, %keep) {
      attn.yield %keep : i1
    } : tensor<1x?x?xf32>
    %3 = attn.softmax %2 : tensor<1x?x?xf32>
    %4 = attn.matmul %3, %v : (tensor<1x?x?xf32>, tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
    %5 = arith.addf %h, %n : tensor<?xf32>
    return %4, %5 : tensor<1x?x8xf32>, tensor<?xf32>
  }
}

// -----

// Also inside of what is called, as often as it is called.
// CHECK: relations = ["k == w", "j == u"]
module @called {
  func.func @called(%k: tensor<1x?x8xf32> {attn.shape = [1, "k", 8]}, %w: tensor<1x?x8xf32> {attn.shape = [1, "w", 8]},
                    %j: tensor<1x?x8xf32> {attn.shape = [1, "j", 8]}, %u: tensor<1x?x8xf32> {attn.shape = [1, "u", 8]})
      -> (tensor<1x?x8xf32>, tensor<1x?x8xf32>) {
    %0 = call @attend(%k, %w) : (tensor<1x?x8xf32>, tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
    %1 = call @attend(%j, %u) : (tensor<1x?x8xf32>, tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
    return %0, %1 : tensor<1x?x8xf32>, tensor<1x?x8xf32>
  }
  func.func private @attend(%k: tensor<1x?x8xf32>, %v: tensor<1x?x8xf32>) -> tensor<1x?x8xf32> {
    %0 = attn.attention %k, %k, %v layout("bqd,bkd,bke->bqe") : tensor<1x?x8xf32>, tensor<1x?x8xf32>, tensor<1x?x8xf32> -> tensor<1x?x8xf32>
    return %0 : tensor<1x?x8xf32>
  }
}

// -----

// What attention reads, and what there is of for each batch entry; an offset makes it data.
// CHECK: relations = ["b == n", "k <= m", "q <= r"]
module @reads {
  func.func @reads(%q: tensor<?x?x8xf32> {attn.shape = ["b", "q", 8]}, %k: tensor<?x?x8xf32> {attn.shape = ["b", "k", 8]},
                   %m: tensor<?xi1> {attn.shape = ["m"]}, %r: tensor<?xi1> {attn.shape = ["r"]},
                   %n: tensor<?xi32> {attn.shape = ["n"], attn.range = [0, "m"]})
      -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
    %0 = attn.attention %q, %k, %k layout("bqd,bkd,bke->bqe") query_offset(%n : tensor<?xi32>)
      reads(%m, %r : tensor<?xi1>, tensor<?xi1>) maps [affine_map<(b, h, q, k) -> (k)>, affine_map<(b, h, q, k) -> (q)>]
      keep(%batch, %head, %i, %j, %lq, %lk, %x, %y) {
      %both = arith.andi %x, %y : i1
      attn.yield %both : i1
    } : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    %1 = attn.attention %q, %k, %k layout("bqd,bkd,bke->bqe")
      reads(%r : tensor<?xi1>) maps [affine_map<(b, h, q, k) -> (q)>] keep(%batch, %head, %i, %j, %lq, %lk, %x) {
      attn.yield %x : i1
    } : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    return %0, %1 : tensor<?x?x8xf32>, tensor<?x?x8xf32>
  }
}

// -----

// CHECK: relations = ["f == g", "f == u", "s <= c", "a == e", "x == y"]
module @others {
  func.func @others(%query: tensor<?x?xf32> {attn.shape = ["q", "f"]}, %key: tensor<?x?xf32> {attn.shape = ["k", "g"]},
                    %v: tensor<?xf32> {attn.shape = ["u"]}, %cache: tensor<1x?x8xf32> {attn.shape = [1, "c", 8]},
                    %entries: tensor<1x?x8xf32> {attn.shape = [1, "s", 8]}, %at: tensor<1xi32> {attn.range = [0, "c - s"]},
                    %a: tensor<?xf32> {attn.shape = ["a"]}, %b: tensor<?xf32> {attn.shape = ["e"]},
                    %x: tensor<?xf32> {attn.shape = ["x"]}, %y: tensor<?xf32> {attn.shape = ["y"]})
      -> (tensor<?x?xf32>, tensor<1x?x8xf32>, tensor<?xf32>, tensor<?xf32>) {
    %zero = arith.constant 0 : index
    %0 = attn.additive_scores %query, %key, %v : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
    %1 = attn.cache_update %cache, %entries at %at : tensor<1x?x8xf32>, tensor<1x?x8xf32>, tensor<1xi32>
    %size = tensor.dim %a, %zero : tensor<?xf32>
    %empty = tensor.empty(%size) : tensor<?xf32>
    %2 = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
    %3 = arith.addf %x, %y : tensor<?xf32>
    return %0, %1, %2, %3 : tensor<?x?xf32>, tensor<1x?x8xf32>, tensor<?xf32>, tensor<?xf32>
  }
}
