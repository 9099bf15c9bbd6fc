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
