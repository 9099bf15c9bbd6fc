// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
// RUN: heed-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @Padding
//       CHECK:   %keep = attn.prefix %arg0, %arg1
func.func @Padding(%k: index, %length: index) -> i1 {
  %0 = attn.prefix %k, %length
  return %0 : i1
}

// FOLD-LABEL: @LengthIsTheFirstNotKept
//   FOLD-DAG:   %[[NO:.*]] = arith.constant false
//   FOLD-DAG:   %[[YES:.*]] = arith.constant true
//       FOLD:   return %[[YES]], %[[NO]]
func.func @LengthIsTheFirstNotKept() -> (i1, i1) {
  %last = arith.constant 6 : index
  %length = arith.constant 7 : index
  %0 = attn.prefix %last, %length
  %1 = attn.prefix %length, %length
  return %0, %1 : i1, i1
}
