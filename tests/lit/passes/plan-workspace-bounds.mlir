// RUN: heed-opt %s --attn-plan-workspace --canonicalize --cse | FileCheck %s

// A tile of at most 2 by 16 by all rows, whatever the loop's turn: 32 · rows elements for each slot, in whole lines.
// CHECK-LABEL: func.func private @ProductsOfTiles.workspace
//  CHECK-SAME:   (%[[ROWS:.*]]: index, %[[THREADS:.*]]: index)
//   CHECK-DAG:   %[[LINE:.*]] = arith.constant 63 : index
//   CHECK-DAG:   %[[MASK:.*]] = arith.constant -64 : index
//   CHECK-DAG:   %[[BYTES:.*]] = arith.constant 128 : index
//       CHECK:   %[[SIZE:.*]] = arith.muli %[[ROWS]], %[[BYTES]] : index
//  CHECK-NEXT:   %[[SUM:.*]] = arith.addi %[[SIZE]], %[[LINE]] : index
//  CHECK-NEXT:   %[[SHARE:.*]] = arith.andi %[[SUM]], %[[MASK]] : index
//  CHECK-NEXT:   %[[MOST:.*]] = arith.maxsi %[[SHARE]], %{{.*}} : index
//  CHECK-NEXT:   arith.muli %[[MOST]], %[[THREADS]] : index
func.func @ProductsOfTiles(%out: memref<?x40xf32>, %params: memref<?xi8>, %workspace: memref<?xi8>, %threads: index,
                           %context: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %x = arith.constant 1.0 : f32
  %rows = memref.dim %out, %c0 : memref<?x40xf32>
  scf.forall (%slot) in (%threads) {
    %few = affine.min affine_map<(i)[n] -> (i * -2 + n, 2)>(%slot)[%rows]
    %columns = affine.min affine_map<(i) -> (i * -16 + 40, 16)>(%slot)
    %all = affine.apply affine_map<()[x, y, z] -> (x * y * z)>()[%few, %columns, %rows]
    %0 = memref.alloc(%all) : memref<?xf32>
    memref.store %x, %0[%c0] : memref<?xf32>
    %y = memref.load %0[%c0] : memref<?xf32>
    memref.store %y, %out[%slot, %c0] : memref<?x40xf32>
  }
  return
}
