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

// Values of attention are on their way, all lines of them, before the scores are computed.
// CHECK-LABEL: @ValuesArePrefetched
//       CHECK:   %[[VALUES:.*]] = memref.subview %arg1
//       CHECK:   scf.for %[[ROW:.*]] = %c0 to %{{.*}} step %c1
// CHECK-COUNT-4:   memref.prefetch %[[VALUES]][%[[ROW]], %{{.*}}], read, locality<3>, data
//   CHECK-NOT:     memref.prefetch
//       CHECK:   memref.store
//       CHECK:   math.fma
func.func @ValuesArePrefetched(%a: memref<24x?xf32>, %v: memref<?x64xf32>, %c: memref<24x64xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (%n) {
    %values = memref.subview %v[%i, 0] [%n, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    memref.store %x, %a[%c0, %c0] : memref<24x?xf32>
    attn.tile_matmul ins(%a, %values : memref<24x?xf32>, memref<?x64xf32, strided<[64, 1], offset: ?>>) outs(%c : memref<24x64xf32>) accumulate
  } {heed.kernel = "attention0"}
  return
}
