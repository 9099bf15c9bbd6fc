// RUN: heed-opt %s --attn-fuse-attention --canonicalize | FileCheck %s
// RUN: heed-opt %s --attn-fuse-attention=remarks=true 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: @StepsBecomeOne
//   CHECK-NOT:   attn.softmax
//       CHECK:   attn.attention %arg0, %arg1, %arg2 scale(2.500000e-01)
//       CHECK:     attn.causal
//   CHECK-NOT:   attn.matmul
//       CHECK:   return
func.func @StepsBecomeOne(%q: tensor<2x4x?x16xf32>, %k: tensor<2x4x?x16xf32>, %v: tensor<2x4x?x16xf32>) -> tensor<2x4x?x16xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<2x4x?x16xf32>, tensor<2x4x?x16xf32>) -> tensor<2x4x?x?xf32>
  %1 = attn.scale %0 by 0.25 : tensor<2x4x?x?xf32>
  %2 = attn.mask %1 keep {
  ^bb0(%batch: index, %head: index, %i: index, %j: index, %query_len: index, %key_len: index):
    %kept = attn.causal %i, %j
    attn.yield %kept : i1
  } : tensor<2x4x?x?xf32>
  %3 = attn.softmax %2 : tensor<2x4x?x?xf32>
  %4 = attn.matmul %3, %v : (tensor<2x4x?x?xf32>, tensor<2x4x?x16xf32>) -> tensor<2x4x?x16xf32>
  return %4 : tensor<2x4x?x16xf32>
}

// CHECK-LABEL: @SoftmaxAlongQueriesStays
//       CHECK:   attn.softmax
//      REMARK: remark: {{.*}}not fused
func.func @SoftmaxAlongQueriesStays(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x8xf32>) -> tensor<5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<5x8xf32>, tensor<7x8xf32>) -> tensor<5x7xf32>
  %1 = attn.softmax %0 axis(0) : tensor<5x7xf32>
  %2 = attn.matmul %1, %v : (tensor<5x7xf32>, tensor<7x8xf32>) -> tensor<5x8xf32>
  return %2 : tensor<5x8xf32>
}

// CHECK-LABEL: @WeightsUsedElsewhereStay
//       CHECK:   attn.softmax
//      REMARK: remark: {{.*}}not fused
func.func @WeightsUsedElsewhereStay(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x8xf32>) -> (tensor<5x8xf32>, tensor<5x7xf32>) {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<5x8xf32>, tensor<7x8xf32>) -> tensor<5x7xf32>
  %1 = attn.softmax %0 : tensor<5x7xf32>
  %2 = attn.matmul %1, %v : (tensor<5x7xf32>, tensor<7x8xf32>) -> tensor<5x8xf32>
  return %2, %1 : tensor<5x8xf32>, tensor<5x7xf32>
}

// What comes after the mask leaves dropped pairs alone, so the mask may be taken last.
// CHECK-LABEL: @MaskComesBeforeABias
//       CHECK:   attn.attention %arg0, %arg1, %arg2 scale(2.500000e-01)
//       CHECK:     arith.addf
//   CHECK-NOT:     arith.select
//       CHECK:   keep
//       CHECK:     attn.causal
func.func @MaskComesBeforeABias(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x8xf32>, %b: tensor<7xf32>) -> tensor<5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<5x8xf32>, tensor<7x8xf32>) -> tensor<5x7xf32>
  %1 = attn.mask %0 keep(%batch, %head, %i, %j, %query_len, %key_len) {
    %kept = attn.causal %i, %j
    attn.yield %kept : i1
  } : tensor<5x7xf32>
  %2 = attn.scale %1 by 0.25 : tensor<5x7xf32>
  %3 = attn.bias %2, %b : tensor<5x7xf32>, tensor<7xf32>
  %4 = attn.softmax %3 : tensor<5x7xf32>
  %5 = attn.matmul %4, %v : (tensor<5x7xf32>, tensor<7x8xf32>) -> tensor<5x8xf32>
  return %5 : tensor<5x8xf32>
}

// A negative factor makes +inf of −inf: the mask is part of the score.
// CHECK-LABEL: @MaskComesBeforeANegativeScale
//       CHECK:   attn.attention
//       CHECK:     attn.causal
//       CHECK:     arith.select
//       CHECK:     arith.mulf
//   CHECK-NOT:   keep
func.func @MaskComesBeforeANegativeScale(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x8xf32>) -> tensor<5x8xf32> {
  %0 = attn.matmul %q, %k transpose_rhs : (tensor<5x8xf32>, tensor<7x8xf32>) -> tensor<5x7xf32>
  %1 = attn.mask %0 keep(%batch, %head, %i, %j, %query_len, %key_len) {
    %kept = attn.causal %i, %j
    attn.yield %kept : i1
  } : tensor<5x7xf32>
  %2 = attn.scale %1 by -0.25 : tensor<5x7xf32>
  %3 = attn.softmax %2 : tensor<5x7xf32>
  %4 = attn.matmul %3, %v : (tensor<5x7xf32>, tensor<7x8xf32>) -> tensor<5x8xf32>
  return %4 : tensor<5x8xf32>
}
