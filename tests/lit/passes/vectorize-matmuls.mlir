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
func.func @AccumulatorsAreLoopValues(%a: tensor<?x8xf32>, %b: tensor<?x8x16xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = attn.tile_matmul ins(%a, %b : tensor<?x8xf32>, tensor<?x8x16xf32>) outs(%c : tensor<?x?xf32>) epilogue {
  ^bb0(%sum: f32):
    %zero = arith.constant 0.0 : f32
    %1 = arith.maximumf %sum, %zero : f32
    attn.yield %1 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Twenty rows are three blocks of six and two more: rather than leave those two alone, the last three blocks have 5, 5 and 4.
// CHECK-LABEL: @LastBlocksShareWhatIsLeft
//       CHECK:   scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
//       CHECK:   scf.for %{{.*}} = %c6 to %c16 step %c5
//       CHECK:     scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
//       CHECK:   scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
//   CHECK-NOT:   scf.for
//       CHECK:   return
func.func @LastBlocksShareWhatIsLeft(%a: tensor<20x8xf32>, %b: tensor<1x8x16xf32>, %c: tensor<20x16xf32>) -> tensor<20x16xf32> {
  %0 = attn.tile_matmul ins(%a, %b : tensor<20x8xf32>, tensor<1x8x16xf32>) outs(%c : tensor<20x16xf32>) -> tensor<20x16xf32>
  return %0 : tensor<20x16xf32>
}

// CHECK-LABEL: @OneRowTakesFourPanels
//       CHECK:   scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-4:   vector.transfer_read %arg1
//       CHECK:   return
func.func @OneRowTakesFourPanels(%a: tensor<1x8xf32>, %b: tensor<4x8x16xf32>, %c: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %0 = attn.tile_matmul ins(%a, %b : tensor<1x8xf32>, tensor<4x8x16xf32>) outs(%c : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}

// CHECK-LABEL: @NextPanelIsPrefetched
//       CHECK:   %[[ALL:.*]] = bufferization.to_buffer %arg1 read_only
// CHECK-COUNT-6: memref.prefetch %{{.*}}, write
//       CHECK:   scf.for %{{.*}} step %c8
//       CHECK:     memref.prefetch %[[ALL]]{{.*}}, read
// CHECK-COUNT-48:  math.fma
func.func @NextPanelIsPrefetched(%a: tensor<6x64xf32>, %all: tensor<9x64x16xf32>, %c: tensor<6x16xf32>, %at: index) -> tensor<6x16xf32> {
  %b = tensor.extract_slice %all[%at, 0, 0] [1, 64, 16] [1, 1, 1] : tensor<9x64x16xf32> to tensor<1x64x16xf32>
  %0 = attn.tile_matmul ins(%a, %b : tensor<6x64xf32>, tensor<1x64x16xf32>) outs(%c : tensor<6x16xf32>) -> tensor<6x16xf32>
  return %0 : tensor<6x16xf32>
}
