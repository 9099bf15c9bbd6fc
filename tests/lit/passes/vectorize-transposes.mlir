// RUN: heed-opt %s --attn-vectorize-transposes --canonicalize --cse | FileCheck %s

// Eight loads, three times eight shuffles, eight stores; nothing is left over.
// CHECK-LABEL: @BlocksInRegisters
//       CHECK:   scf.for
//       CHECK:     scf.for
// CHECK-COUNT-8:       vector.transfer_read %arg0
// CHECK-COUNT-24:      vector.shuffle
// CHECK-COUNT-8:       vector.transfer_write
//   CHECK-NOT:   vector.create_mask
func.func @BlocksInRegisters(%x: tensor<16x64xf32>, %out: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %0 = linalg.transpose ins(%x : tensor<16x64xf32>) outs(%out : tensor<64x16xf32>) permutation = [1, 0]
  return %0 : tensor<64x16xf32>
}

// Rows past the end are read from the last and never written; columns past the last block go one by one.
// CHECK-LABEL: @RestOfRowsIsMaskedRestOfColumnsIsNot
//       CHECK:   %[[MASK:.*]] = vector.create_mask %{{.*}} : vector<8xi1>
//       CHECK:   arith.minsi
//       CHECK:   vector.transfer_write {{.*}}, %[[MASK]]
//       CHECK:   vector.from_elements
//       CHECK:   vector.transfer_write {{.*}}, %[[MASK]]
func.func @RestOfRowsIsMaskedRestOfColumnsIsNot(%x: tensor<?x?xf16>, %out: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %0 = linalg.transpose ins(%x : tensor<?x?xf16>) outs(%out : tensor<?x?xf16>) permutation = [1, 0]
  return %0 : tensor<?x?xf16>
}

// CHECK-LABEL: @HigherRanksStay
//       CHECK:   linalg.transpose
func.func @HigherRanksStay(%x: tensor<2x3x4xf32>, %out: tensor<4x3x2xf32>) -> tensor<4x3x2xf32> {
  %0 = linalg.transpose ins(%x : tensor<2x3x4xf32>) outs(%out : tensor<4x3x2xf32>) permutation = [2, 1, 0]
  return %0 : tensor<4x3x2xf32>
}
