// RUN: heed-opt %s --attn-raise-matmuls --canonicalize | FileCheck %s

#lhs = affine_map<(b, h, m, n, k) -> (b, m, h, k)>
#rhs = affine_map<(b, h, m, n, k) -> (b, n, h, k)>
#out = affine_map<(b, h, m, n, k) -> (b, h, m, n)>

// CHECK-LABEL: @BatchMatmul
//       CHECK:   attn.matmul %arg0, %arg1 : (tensor<8x?x16xf16>, tensor<8x16x?xf16>) -> tensor<8x?x?xf32>
func.func @BatchMatmul(%a: tensor<8x?x16xf16>, %b: tensor<8x16x?xf16>, %m: index, %n: index) -> tensor<8x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%m, %n) : tensor<8x?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x?x?xf32>) -> tensor<8x?x?xf32>
  %0 = linalg.batch_matmul ins(%a, %b : tensor<8x?x16xf16>, tensor<8x16x?xf16>) outs(%init : tensor<8x?x?xf32>) -> tensor<8x?x?xf32>
  return %0 : tensor<8x?x?xf32>
}

// CHECK-LABEL: @OtherOrdersAreTransposed
//       CHECK:   %[[Q:.*]] = linalg.transpose ins(%arg0 {{.*}} permutation = [0, 2, 1, 3]
//       CHECK:   %[[K:.*]] = linalg.transpose ins(%arg1 {{.*}} permutation = [0, 2, 1, 3]
//       CHECK:   attn.matmul %{{.*}}, %{{.*}} transpose_rhs
func.func @OtherOrdersAreTransposed(%a: tensor<2x6x4x16xf32>, %b: tensor<2x7x4x16xf32>) -> tensor<2x4x6x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x4x6x7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %0 = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<2x6x4x16xf32>, tensor<2x7x4x16xf32>) outs(%init : tensor<2x4x6x7xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x4x6x7xf32>
  return %0 : tensor<2x4x6x7xf32>
}

// CHECK-LABEL: @SumThatContinuesStays
//   CHECK-NOT:   attn.matmul
func.func @SumThatContinuesStays(%a: tensor<5x8xf32>, %b: tensor<8x7xf32>, %c: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<5x8xf32>, tensor<8x7xf32>) outs(%c : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}
