// RUN: heed-opt %s --attn-plan-workspace --canonicalize --cse | FileCheck %s
// RUN: heed-opt %s --attn-plan-workspace=red-zones=true --canonicalize --cse | FileCheck %s --check-prefix=ZONES

// The first and the third buffer never live together and share a place.
module @m {
  // CHECK-LABEL: func.func private @SharedPlaces.workspace
  //       CHECK:   %[[ONE:.*]] = arith.andi
  //       CHECK:   arith.addi %{{.*}}, %{{.*}} : index
  //  CHECK-NEXT:   return
  // CHECK-LABEL: func.func @SharedPlaces
  //   CHECK-NOT:   memref.alloc
  //   CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
  //       CHECK:   %[[FIRST:.*]] = memref.view %arg3[%[[C0]]]
  //       CHECK:   linalg.add ins(%arg0, %arg0 : {{.*}}) outs(%[[FIRST]] :
  //       CHECK:   %[[SECOND:.*]] = memref.view %arg3[%{{[^c].*}}]
  //       CHECK:   linalg.add ins(%[[FIRST]], %[[FIRST]] : {{.*}}) outs(%[[SECOND]] :
  //       CHECK:   linalg.add ins(%[[SECOND]], %[[SECOND]] : {{.*}}) outs(%[[FIRST]] :

  // Three places, and four zones that are given back at the end; each begins where the buffer before it ends.
  // ZONES-LABEL: func.func @SharedPlaces
  //       ZONES:   %[[BYTES:.*]] = arith.muli %{{.*}}, %c4
  //       ZONES:   %[[END:.*]] = arith.addi %[[BYTES]], %c64
  //       ZONES:   memref.view %arg3[%[[END]]]
  //       ZONES:   call @redzone.poison
  //       ZONES:   call @redzone.poison
  //       ZONES:   %[[FIRST:.*]] = memref.view %arg3[%c64]
  //       ZONES:   linalg.add ins(%arg0, %arg0 : {{.*}}) outs(%[[FIRST]] :
  //       ZONES:   %[[SECOND:.*]] = memref.view
  //       ZONES:   linalg.add ins(%[[FIRST]], %[[FIRST]] : {{.*}}) outs(%[[SECOND]] :
  //       ZONES:   %[[THIRD:.*]] = memref.view
  //       ZONES:   linalg.add ins(%[[SECOND]], %[[SECOND]] : {{.*}}) outs(%[[THIRD]] :
  // ZONES-COUNT-4: call @redzone.unpoison
  //  ZONES-NEXT:   return
  func.func @SharedPlaces(%a: memref<?xf32>, %out: memref<?xf32>, %params: memref<?xi8>, %workspace: memref<?xi8>,
      %threads: index, %context: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %n = memref.dim %a, %c0 : memref<?xf32>
    %0 = memref.alloc(%n) : memref<?xf32>
    linalg.add ins(%a, %a : memref<?xf32>, memref<?xf32>) outs(%0 : memref<?xf32>)
    %1 = memref.alloc(%n) : memref<?xf32>
    linalg.add ins(%0, %0 : memref<?xf32>, memref<?xf32>) outs(%1 : memref<?xf32>)
    %2 = memref.alloc(%n) : memref<?xf32>
    linalg.add ins(%1, %1 : memref<?xf32>, memref<?xf32>) outs(%2 : memref<?xf32>)
    linalg.add ins(%2, %2 : memref<?xf32>, memref<?xf32>) outs(%out : memref<?xf32>)
    return
  }

  // The workspace of a callee, whose argument is a buffer in another shape.
  // CHECK-LABEL: func.func private @CalleeOfAnotherShape.workspace(
  //  CHECK-SAME:   %[[N:.*]]: index, %[[ROWS:.*]]: index, %[[THREADS:.*]]: index) -> index
  func.func @CalleeOfAnotherShape(%a: memref<?xf32>, %out: memref<?x8xf32>, %params: memref<?xi8>,
      %workspace: memref<?xi8>, %threads: index, %context: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %rows = memref.dim %out, %c0 : memref<?x8xf32>
    %0 = memref.reinterpret_cast %a to offset: [0], sizes: [%rows, 8], strides: [8, 1]
      : memref<?xf32> to memref<?x8xf32, strided<[8, 1]>>
    %1 = memref.cast %0 : memref<?x8xf32, strided<[8, 1]>> to memref<?x8xf32>
    call @callee(%1, %out, %params, %workspace, %threads, %context)
      : (memref<?x8xf32>, memref<?x8xf32>, memref<?xi8>, memref<?xi8>, index, !llvm.ptr) -> ()
    return
  }
  // The workspaces of two calls share a place, though what lives between the calls does not live during the first.
  // CHECK-LABEL: func.func @CallsShareAWorkspace(
  //       CHECK:   %[[BETWEEN:.*]] = memref.view %arg3[%{{[0-9]+}}][%dim]
  //       CHECK:   %[[FIRST:.*]] = memref.view %arg3[%c0][
  //       CHECK:   call @callee(%arg0, %[[BETWEEN]], %arg2, %[[FIRST]],
  //       CHECK:   %[[SECOND:.*]] = memref.view %arg3[%c0][
  //       CHECK:   call @callee(%[[BETWEEN]], %{{.*}}, %arg2, %[[SECOND]],
  func.func @CallsShareAWorkspace(%a: memref<?x8xf32>, %out: memref<?x8xf32>, %params: memref<?xi8>,
      %workspace: memref<?xi8>, %threads: index, %context: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %rows = memref.dim %a, %c0 : memref<?x8xf32>
    %0 = memref.alloc(%rows) : memref<?x8xf32>
    call @callee(%a, %0, %params, %workspace, %threads, %context)
      : (memref<?x8xf32>, memref<?x8xf32>, memref<?xi8>, memref<?xi8>, index, !llvm.ptr) -> ()
    %1 = memref.alloc(%rows) : memref<?x8xf32>
    call @callee(%0, %1, %params, %workspace, %threads, %context)
      : (memref<?x8xf32>, memref<?x8xf32>, memref<?xi8>, memref<?xi8>, index, !llvm.ptr) -> ()
    linalg.add ins(%1, %1 : memref<?x8xf32>, memref<?x8xf32>) outs(%out : memref<?x8xf32>)
    return
  }
  func.func private @callee(%a: memref<?x8xf32>, %out: memref<?x8xf32>, %params: memref<?xi8>,
      %workspace: memref<?xi8>, %threads: index, %context: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %rows = memref.dim %a, %c0 : memref<?x8xf32>
    %0 = memref.alloc(%rows) : memref<?x8xf32>
    linalg.add ins(%a, %a : memref<?x8xf32>, memref<?x8xf32>) outs(%0 : memref<?x8xf32>)
    linalg.add ins(%0, %0 : memref<?x8xf32>, memref<?x8xf32>) outs(%out : memref<?x8xf32>)
    return
  }
}

// ZONES-LABEL: func.func private @redzone.poison(
//  ZONES-SAME:   %[[ZONE:.*]]: memref<?xi8>
//   ZONES-DAG:   %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[ZONE]]
//   ZONES-DAG:   %[[SIZE:.*]] = memref.dim %[[ZONE]]
//       ZONES:   call @__asan_poison_memory_region
