// RUN: heed-opt %s --attn-share-tiles | FileCheck %s

// No more slots than tiles; slot s takes the tiles from s·n/slots to (s+1)·n/slots.
// CHECK-LABEL: @SlotsShareTheTiles
//       CHECK:   %[[N:.*]] = memref.dim %arg0
//       CHECK:   %[[SLOTS:.*]] = arith.minsi %arg3, %[[N]]
//       CHECK:   scf.forall (%[[S:.*]]) in (%[[SLOTS]])
//       CHECK:     %[[NEXT:.*]] = arith.addi %[[S]]
//       CHECK:     %[[A:.*]] = arith.muli %[[S]], %[[N]]
//       CHECK:     %[[BEGIN:.*]] = arith.divsi %[[A]], %[[SLOTS]]
//       CHECK:     %[[B:.*]] = arith.muli %[[NEXT]], %[[N]]
//       CHECK:     %[[END:.*]] = arith.divsi %[[B]], %[[SLOTS]]
//       CHECK:     scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
func.func @SlotsShareTheTiles(%a: memref<?xf32>, %params: memref<?xi8>, %workspace: memref<?xi8>, %threads: index, %context: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (%n) {
    memref.store %one, %a[%i] : memref<?xf32>
  }
  return
}

// Threads share the outer loop; the one inside of it is a plain one.
// CHECK-LABEL: @LoopsInsideArePlain
//       CHECK:   scf.forall (%{{.*}}) in (%{{.*}})
//       CHECK:     scf.for
//       CHECK:       scf.for %[[J:.*]] = %c0{{.*}} to %c4{{.*}} step %c1
//   CHECK-NOT:         scf.forall
//       CHECK:         memref.store %{{.*}}, %arg0[%{{.*}}, %[[J]]]
func.func @LoopsInsideArePlain(%a: memref<3x4xf32>, %params: memref<?xi8>, %workspace: memref<?xi8>, %threads: index, %context: !llvm.ptr) {
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (3) {
    scf.forall (%j) in (4) {
      memref.store %one, %a[%i, %j] : memref<3x4xf32>
    }
  }
  return
}
