// RUN: heed-opt %s --attn-lower-buffers | FileCheck %s

// CHECK-LABEL: @StridedCopyIsALoop
//   CHECK-NOT:   memref.copy
//       CHECK:   linalg.generic {{.*}} ins(%arg0 : {{.*}}) outs(%arg1 :
func.func @StridedCopyIsALoop(%a: memref<?x8xf32, strided<[?, 1], offset: ?>>, %b: memref<?x8xf32>) {
  memref.copy %a, %b : memref<?x8xf32, strided<[?, 1], offset: ?>> to memref<?x8xf32>
  return
}

// CHECK-LABEL: @ExpansionIsACast
//       CHECK:   memref.reinterpret_cast %arg0 to offset: [0], sizes: [%arg1, %arg2], strides: [%arg2, 1]
//   CHECK-NOT:   memref.expand_shape
func.func @ExpansionIsACast(%a: memref<?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
  %0 = memref.expand_shape %a [[0, 1]] output_shape [%n, %m] : memref<?xf32> into memref<?x?xf32>
  return %0 : memref<?x?xf32>
}

// CHECK-LABEL: @SizesOfAnExpansionStayKnown
//       CHECK:   %[[CAST:.*]] = memref.cast
//       CHECK:   return %[[CAST]], %arg2
func.func @SizesOfAnExpansionStayKnown(%a: memref<?xf32>, %n: index, %m: index) -> (memref<?x?xf32>, index) {
  %c1 = arith.constant 1 : index
  %0 = memref.expand_shape %a [[0, 1]] output_shape [%n, %m] : memref<?xf32> into memref<?x?xf32>
  %1 = memref.dim %0, %c1 : memref<?x?xf32>
  return %0, %1 : memref<?x?xf32>, index
}
