// RUN: heed-opt %s --attn-vectorize-matmuls --canonicalize --cse | FileCheck %s

// Accumulators are values of the loop over the depth, so that they can stay in registers; the epilogue is applied to them.
// CHECK-LABEL: @AccumulatorsAreLoopValues
//       CHECK:   %[[ACC:.*]]:6 = scf.for %{{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
//       CHECK:     vector.transfer_read %arg1{{.*}} {in_bounds = [true]}
// CHECK-COUNT-6:   math.fma
//       CHECK:     scf.yield
//       CHECK:   arith.maximumf %[[ACC]]#0
//       CHECK:   vector.transfer_write
//   CHECK-NOT:   attn.tile_matmul
//       CHECK:   return
func.func @AccumulatorsAreLoopValues(%a: memref<?x8xf32>, %b: memref<?x8x16xf32>, %c: memref<?x?xf32>) {
  attn.tile_matmul ins(%a, %b : memref<?x8xf32>, memref<?x8x16xf32>) outs(%c : memref<?x?xf32>) epilogue {
  ^bb0(%sum: f32):
    %zero = arith.constant 0.0 : f32
    %1 = arith.maximumf %sum, %zero : f32
    attn.yield %1 : f32
  }
  return
}

// Twenty rows are three blocks of six and two more: rather than leave those two alone, the last three blocks have 5, 5 and 4.
// CHECK-LABEL: @LastBlocksShareWhatIsLeft
//       CHECK:   scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
//       CHECK:   scf.for %{{.*}} = %c6 to %c16 step %c5
//       CHECK:     scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
//       CHECK:   scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
//   CHECK-NOT:   scf.for
//       CHECK:   return
func.func @LastBlocksShareWhatIsLeft(%a: memref<20x8xf32>, %b: memref<1x8x16xf32>, %c: memref<20x16xf32>) {
  attn.tile_matmul ins(%a, %b : memref<20x8xf32>, memref<1x8x16xf32>) outs(%c : memref<20x16xf32>)
  return
}

// CHECK-LABEL: @OneRowTakesFourPanels
//       CHECK:   scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-4:   vector.transfer_read %arg1
//       CHECK:   return
func.func @OneRowTakesFourPanels(%a: memref<1x8xf32>, %b: memref<4x8x16xf32>, %c: memref<1x64xf32>) {
  attn.tile_matmul ins(%a, %b : memref<1x8xf32>, memref<4x8x16xf32>) outs(%c : memref<1x64xf32>)
  return
}

// CHECK-LABEL: @NextPanelIsPrefetched
// CHECK-COUNT-6: memref.prefetch %arg2{{.*}}, write
//       CHECK:   scf.for %{{.*}} step %c8
//       CHECK:     memref.prefetch %arg1{{.*}}, read
// CHECK-COUNT-48:  math.fma
func.func @NextPanelIsPrefetched(%a: memref<6x64xf32>, %all: memref<9x64x16xf32>, %c: memref<6x16xf32>, %at: index) {
  %b = memref.subview %all[%at, 0, 0] [1, 64, 16] [1, 1, 1] : memref<9x64x16xf32> to memref<1x64x16xf32, strided<[1024, 16, 1], offset: ?>>
  attn.tile_matmul ins(%a, %b : memref<6x64xf32>, memref<1x64x16xf32, strided<[1024, 16, 1], offset: ?>>)
    outs(%c : memref<6x16xf32>)
  return
}

// A few rows have the panels to themselves: each step fetches one line, past the panel's last as well, but not past
// the last of all panels.
// CHECK-LABEL: @FewRowsFetchOnward
//       CHECK:   %[[PANELS:.*]] = arith.subi %c9, %arg3
//       CHECK:   %[[LINES:.*]] = arith.muli %[[PANELS]], %c64
//       CHECK:   %[[LAST:.*]] = arith.subi %[[LINES]], %c4
//       CHECK:   scf.for %[[STEP:.*]] = %c0 to %c64 step %c4
//       CHECK:     %[[ONWARD:.*]] = arith.addi %[[STEP]], %c128
//       CHECK:     %[[LINE:.*]] = arith.minui %[[ONWARD]], %[[LAST]]
//       CHECK:     memref.prefetch %arg1[%arg3, %[[LINE]], %c0], read
// CHECK-COUNT-4:   math.fma
//       CHECK:     %[[SECOND:.*]] = arith.addi %[[LINE]], %c1
//       CHECK:     memref.prefetch %arg1[%arg3, %[[SECOND]], %c0], read
// CHECK-COUNT-12:  math.fma
func.func @FewRowsFetchOnward(%a: memref<4x64xf32>, %all: memref<9x64x16xf32>, %c: memref<4x16xf32>, %at: index) {
  %b = memref.subview %all[%at, 0, 0] [1, 64, 16] [1, 1, 1] : memref<9x64x16xf32> to memref<1x64x16xf32, strided<[1024, 16, 1], offset: ?>>
  attn.tile_matmul ins(%a, %b : memref<4x64xf32>, memref<1x64x16xf32, strided<[1024, 16, 1], offset: ?>>)
    outs(%c : memref<4x16xf32>)
  return
}

// What comes next is fetched, all lines of a row, evenly over the blocks of columns: 80 rows beside four blocks.
// CHECK-LABEL: @FetchesAhead
//       CHECK:   scf.for %[[COLUMN:.*]] = %c0 to %c64 step %c16
//       CHECK:     %[[BLOCK:.*]] = arith.divui %[[COLUMN]], %c16
//       CHECK:     %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c20
//       CHECK:     %[[END:.*]] = arith.minui %{{.*}}, %c80
//       CHECK:     scf.for %[[ROW:.*]] = %[[FIRST]] to %[[END]] step %c1
// CHECK-COUNT-3:     memref.prefetch %arg3[%[[ROW]], %{{.*}}], read, locality<3>, data
//   CHECK-NOT:       memref.prefetch
//       CHECK:     math.fma
func.func @FetchesAhead(%a: memref<24x8xf32>, %b: memref<4x8x16xf32>, %c: memref<24x64xf32>, %next: memref<80x48xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    attn.tile_matmul ins(%a, %b : memref<24x8xf32>, memref<4x8x16xf32>) outs(%c : memref<24x64xf32>) ahead(%next : memref<80x48xf32>)
  } {heed.kernel = "attention0"}
  return
}
