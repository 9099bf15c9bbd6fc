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
