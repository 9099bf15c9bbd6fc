// RUN: heed-opt %s --attn-lower-masks --canonicalize | FileCheck %s

// CHECK-LABEL: @CausalComparesKeyWithQuery
//  CHECK-SAME:   (%[[Q:.*]]: index, %[[K:.*]]: index)
//       CHECK:   arith.cmpi sle, %[[K]], %[[Q]] : index
func.func @CausalComparesKeyWithQuery(%q: index, %k: index) -> i1 {
  %0 = attn.causal %q, %k
  return %0 : i1
}

// CHECK-LABEL: @BottomRightShiftsByTheLengths
//  CHECK-SAME:   (%[[Q:.*]]: index, %[[K:.*]]: index, %[[LQ:.*]]: index, %[[LK:.*]]: index)
//   CHECK-DAG:   arith.subi
//   CHECK-DAG:   arith.addi
//       CHECK:   arith.cmpi sle
//   CHECK-NOT:   attn.causal
func.func @BottomRightShiftsByTheLengths(%q: index, %k: index, %query_len: index, %key_len: index) -> i1 {
  %0 = attn.causal %q, %k bottom_right(%query_len, %key_len)
  return %0 : i1
}
