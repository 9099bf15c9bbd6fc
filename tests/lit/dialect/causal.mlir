// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
// RUN: heed-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @BothAlignments
//       CHECK:   %keep = attn.causal %arg0, %arg1
//       CHECK:   %keep_0 = attn.causal %arg0, %arg1 bottom_right(%arg2, %arg3)
func.func @BothAlignments(%q: index, %k: index, %query_len: index, %key_len: index) -> (i1, i1) {
  %0 = attn.causal %q, %k
  %1 = attn.causal %q, %k bottom_right(%query_len, %key_len)
  return %0, %1 : i1, i1
}

// Query 1 of 3 and key 3 of 5 meet on the diagonal of the bottom right corner, past that of the top left.
// FOLD-LABEL: @OnTheDiagonal
//   FOLD-DAG:   %[[NO:.*]] = arith.constant false
//   FOLD-DAG:   %[[YES:.*]] = arith.constant true
//       FOLD:   return %[[NO]], %[[YES]]
func.func @OnTheDiagonal() -> (i1, i1) {
  %q = arith.constant 1 : index
  %k = arith.constant 3 : index
  %query_len = arith.constant 3 : index
  %key_len = arith.constant 5 : index
  %0 = attn.causal %q, %k
  %1 = attn.causal %q, %k bottom_right(%query_len, %key_len)
  return %0, %1 : i1, i1
}
