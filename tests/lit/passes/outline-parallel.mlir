// RUN: heed-opt %s --attn-outline-parallel | FileCheck %s

// CHECK-LABEL: func.func private @BodyBecomesATask.task0(%arg0: !llvm.ptr, %arg1: i32)
//       CHECK:   %[[SLOT:.*]] = arith.index_cast %arg1 : i32 to index
//       CHECK:   memref.store %{{.*}}, %{{.*}}[%[[SLOT]]]

// More slots than one go to the context's function (its fourth field, called with the third); one slot needs no context.
// CHECK-LABEL: func.func @BodyBecomesATask
//   CHECK-NOT:   scf.forall
//       CHECK:   scf.if
//       CHECK:     %[[TASK:.*]] = func.constant @BodyBecomesATask.task0
//       CHECK:     %[[FIELD:.*]] = llvm.getelementptr %arg4[0, 3]
//       CHECK:     %[[PARALLEL:.*]] = llvm.load %[[FIELD]]
//       CHECK:     llvm.getelementptr %arg4[0, 2]
//       CHECK:     llvm.call %[[PARALLEL]]
//       CHECK:   } else {
//       CHECK:     func.call @BodyBecomesATask.task0
func.func @BodyBecomesATask(%a: memref<?xf32>, %params: memref<?xi8>, %workspace: memref<?xi8>, %threads: index, %context: !llvm.ptr) {
  %one = arith.constant 1.0 : f32
  scf.forall (%slot) in (%threads) {
    memref.store %one, %a[%slot] : memref<?xf32>
  }
  return
}
