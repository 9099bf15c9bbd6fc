// RUN: heed-opt %s --attn-vectorize-softmax --canonicalize --cse | FileCheck %s

// Row by row: what was summed up is scaled in a branch, taken where the maximum moves.
// CHECK-LABEL: @MaximumSeldomMoves
//       CHECK:   scf.for
//       CHECK:     vector.transfer_read %arg0
//       CHECK:     arith.cmpf ogt
//       CHECK:     %[[MOVES:.*]] = vector.reduction <or>
//       CHECK:     scf.if %[[MOVES]] {
//       CHECK:       math.exp2 {{.*}} : f32
//       CHECK:       vector.transfer_write {{.*}}, %arg1
//       CHECK:     }
//       CHECK:     math.exp2 {{.*}} fastmath<afn> : vector<16xf32>
//       CHECK:     vector.transfer_write {{.*}}, %arg0
//       CHECK:     arith.addf
//   CHECK-NOT:     vector.reduction
//       CHECK:     vector.transfer_write {{.*}}, %arg3
//   CHECK-NOT:   attn.tile_softmax
func.func @MaximumSeldomMoves(%scores: memref<?x?xf32>, %acc: memref<?x24xf32>, %max: memref<?xf32>, %sum: memref<?x16xf32>) {
  attn.tile_softmax outs(%scores, %acc, %max, %sum : memref<?x?xf32>, memref<?x24xf32>, memref<?xf32>, memref<?x16xf32>) base2
  return
}

// CHECK-LABEL: @WeightOfNothingIsNegativeZero
//       CHECK:   %[[MARK:.*]] = arith.constant dense<-0.000000e+00> : vector<16xf32>
//       CHECK:   arith.mulf
//       CHECK:   math.exp2
//       CHECK:   arith.cmpf oeq
//       CHECK:   arith.select {{.*}}, %[[MARK]]
func.func @WeightOfNothingIsNegativeZero(%scores: memref<2x16xf32>, %acc: memref<2x16xf32>, %max: memref<2xf32>, %sum: memref<2x16xf32>) {
  attn.tile_softmax outs(%scores, %acc, %max, %sum : memref<2x16xf32>, memref<2x16xf32>, memref<2xf32>, memref<2x16xf32>) masked
  return
}
