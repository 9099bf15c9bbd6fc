// RUN: heed-opt %s --attn-vectorize-transposes --canonicalize --cse | FileCheck %s

// Eight loads, three times eight shuffles, eight stores; nothing is left over.
// CHECK-LABEL: @BlocksInRegisters
//       CHECK:   scf.for
//       CHECK:     scf.for
// CHECK-COUNT-8:       vector.transfer_read %arg0
// CHECK-COUNT-24:      vector.shuffle
// CHECK-COUNT-8:       vector.transfer_write
//   CHECK-NOT:   vector.create_mask
func.func @BlocksInRegisters(%x: memref<16x64xf32>, %out: memref<64x16xf32>) {
  linalg.transpose ins(%x : memref<16x64xf32>) outs(%out : memref<64x16xf32>) permutation = [1, 0]
  return
}

// Rows past the end are read from the last and never written; columns past the last block go one by one.
// CHECK-LABEL: @RestOfRowsIsMaskedRestOfColumnsIsNot
//       CHECK:   %[[MASK:.*]] = vector.create_mask %{{.*}} : vector<8xi1>
//       CHECK:   arith.minsi
//       CHECK:   vector.transfer_write {{.*}}, %[[MASK]]
//       CHECK:   vector.from_elements
//       CHECK:   vector.transfer_write {{.*}}, %[[MASK]]
func.func @RestOfRowsIsMaskedRestOfColumnsIsNot(%x: memref<?x?xf16>, %out: memref<?x?xf16>) {
  linalg.transpose ins(%x : memref<?x?xf16>) outs(%out : memref<?x?xf16>) permutation = [1, 0]
  return
}

// CHECK-LABEL: @HigherRanksStay
//       CHECK:   linalg.transpose
func.func @HigherRanksStay(%x: memref<2x3x4xf32>, %out: memref<4x3x2xf32>) {
  linalg.transpose ins(%x : memref<2x3x4xf32>) outs(%out : memref<4x3x2xf32>) permutation = [2, 1, 0]
  return
}
