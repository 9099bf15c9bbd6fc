// RUN: heed-opt %s --attn-trace-kernels | FileCheck %s

// The callback is read once, and only from a context that has it; kernels and layers are told of in order; a tensor
// is what a kernel leaves in memory, not its scratch.
// CHECK-LABEL: func.func @Traced(
//  CHECK-SAME:   %[[OUT:[^:]*]]: memref<?xf32>
//  CHECK-SAME:   %[[CONTEXT:[^:]*]]: !llvm.ptr) {
//       CHECK:   %[[SIZE:.*]] = llvm.load %[[CONTEXT]] : !llvm.ptr -> i32
//       CHECK:   %[[HAS:.*]] = arith.cmpi uge, %[[SIZE]], %{{.*}} : i32
//       CHECK:   %[[TRACE:.*]] = scf.if %[[HAS]] -> (!llvm.ptr)
//       CHECK:   %[[IS:.*]] = llvm.icmp "ne" %[[TRACE]]
//       CHECK:   scf.if %[[IS]] {
//       CHECK:     llvm.mlir.constant(0 : i32)
//       CHECK:     llvm.mlir.addressof @trace.Traced.rows0
//       CHECK:     llvm.call %[[TRACE]]
//       CHECK:   scf.forall
//       CHECK:   } {heed.kernel = "rows0"}
//       CHECK:   scf.if %[[IS]] {
//       CHECK:     llvm.mlir.constant(1 : i32)
//       CHECK:     llvm.mlir.addressof @trace.Traced.rows0
//       CHECK:   scf.if %[[IS]] {
//       CHECK:     memref.extract_strided_metadata %[[OUT]]
//       CHECK:     llvm.mlir.constant(2 : i32)
//       CHECK:     llvm.mlir.addressof @trace.Traced.rows0
//   CHECK-NOT:   memref.extract_strided_metadata
//       CHECK:     llvm.mlir.addressof @trace.layer
//       CHECK:   call @layer
//       CHECK:     llvm.mlir.addressof @trace.layer
//       CHECK:   return
func.func @Traced(%out: memref<?xf32>, %params: memref<?xi8>, %workspace: memref<?xi8>, %threads: index,
                  %context: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%slot) in (%threads) {
    %scratch = memref.view %workspace[%c0][] : memref<?xi8> to memref<4xf32>
    memref.store %zero, %scratch[%c0] : memref<4xf32>
    %part = memref.subview %out[%slot] [1] [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
    memref.store %zero, %part[%c0] : memref<1xf32, strided<[1], offset: ?>>
  } {heed.kernel = "rows0"}
  call @layer(%out, %params, %workspace, %threads, %context)
      : (memref<?xf32>, memref<?xi8>, memref<?xi8>, index, !llvm.ptr) -> ()
  return
}

// A function without kernels is left alone.
// CHECK-LABEL: func.func private @layer(
//  CHECK-NEXT:   return
func.func private @layer(%out: memref<?xf32>, %params: memref<?xi8>, %workspace: memref<?xi8>, %threads: index,
                         %context: !llvm.ptr) {
  return
}

// CHECK: llvm.mlir.global private constant @trace.Traced.rows0("Traced.rows0\00")
