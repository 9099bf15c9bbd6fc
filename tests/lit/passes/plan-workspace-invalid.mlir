// RUN: heed-opt %s --split-input-file --verify-diagnostics --attn-plan-workspace

func.func @large(%out: memref<4xf32>, %params: memref<?xi8>, %workspace: memref<?xi8>, %threads: index, %context: !llvm.ptr) {
  // expected-error @+1 {{expected a buffer of less than 2^63 bytes}}
  %0 = memref.alloc() : memref<4294967296x4294967296xf32>
  %c0 = arith.constant 0 : index
  %x = memref.load %0[%c0, %c0] : memref<4294967296x4294967296xf32>
  memref.store %x, %out[%c0] : memref<4xf32>
  return
}

// -----

// expected-error @+1 {{expected the four arguments that attn-lower-buffers adds}}
func.func @early(%out: memref<4xf32>) {
  return
}
