// RUN: heed-opt %s --attn-destination-style | FileCheck %s

module @m {
  // CHECK: func.func private @twice(%[[X:[^:]*]]: tensor<?x8xf32> {{.*}}, %[[OUT:[^:]*]]: tensor<?x8xf32>, %{{.*}}: memref<?xi8>, %{{.*}}: memref<?xi8>, %{{.*}}: index, %{{.*}}: !llvm.ptr)
  // CHECK:   bufferization.materialize_in_destination %{{.*}} in %[[OUT]]
  func.func private @twice(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x8xf32>
    %empty = tensor.empty(%n) : tensor<?x8xf32>
    %0 = linalg.add ins(%x, %x : tensor<?x8xf32>, tensor<?x8xf32>) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }

  // CHECK: func.func @ResultsBecomeArguments(%arg0: tensor<?x8xf32> {{.*}}, %[[OUT:[^:]*]]: memref<?x8xf32>, %{{.*}}: memref<?xi8>, %{{.*}}: memref<?xi8>, %{{.*}}: index, %{{.*}}: !llvm.ptr) {
  // CHECK:   %[[Y:.*]] = call @twice(%arg0,
  // CHECK:   bufferization.materialize_in_destination %[[Y]] in restrict writable %[[OUT]]
  // CHECK:   return{{$}}
  func.func @ResultsBecomeArguments(%x: tensor<?x8xf32> {attn.name = "x", attn.shape = ["n", 8]}) -> (tensor<?x8xf32> {attn.name = "y"}) {
    %0 = call @twice(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }

  // CHECK: func.func @StateIsUpdatedInPlace(%[[CACHE:[^:]*]]: memref<?xf32> {{.*}}, %{{.*}}: memref<?xi8>, %{{.*}}: memref<?xi8>, %{{.*}}: index, %{{.*}}: !llvm.ptr) {
  // CHECK:   bufferization.materialize_in_destination %{{.*}} in restrict writable %[[CACHE]]
  func.func @StateIsUpdatedInPlace(%cache: tensor<?xf32> {attn.name = "cache", attn.shape = ["n"], attn.state = 0}) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %0 = tensor.insert %one into %cache[%c0] : tensor<?xf32>
    return %0 : tensor<?xf32>
  }

  // A size that only a callee tells.
  // CHECK: func.func private @outer(%[[X:[^:]*]]: tensor<?x8xf32>
  // CHECK:   %[[N:.*]] = tensor.dim %[[X]],
  // CHECK:   %[[EMPTY:.*]] = tensor.empty(%[[N]])
  // CHECK:   call @twice(%[[X]], %[[EMPTY]],
  func.func private @outer(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = call @twice(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  // CHECK: func.func private @outermost(%[[X:[^:]*]]: tensor<?x8xf32>
  // CHECK:   tensor.dim %[[X]],
  func.func private @outermost(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = call @outer(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }

  // A function of a state hands on what it made of it: no second destination, no copy.
  // CHECK: func.func private @mark(%[[CACHE:[^:]*]]: tensor<?xf32>
  // CHECK:   %[[MARKED:.*]] = tensor.insert %{{.*}} into %[[CACHE]]
  // CHECK:   return %[[MARKED]]
  func.func private @mark(%cache: tensor<?xf32> {attn.state = 0}) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %0 = tensor.insert %one into %cache[%c0] : tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
