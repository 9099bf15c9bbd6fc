// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
// RUN: heed-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @Sliding
//       CHECK:   %keep = attn.window %arg0, %arg1 before(127) after(0)
func.func @Sliding(%q: index, %k: index) -> i1 {
  %0 = attn.window %q, %k before(127) after(0)
  return %0 : i1
}

// FOLD-LABEL: @BoundsAreIncluded
//   FOLD-DAG:   %[[NO:.*]] = arith.constant false
//   FOLD-DAG:   %[[YES:.*]] = arith.constant true
//       FOLD:   return %[[YES]], %[[YES]], %[[NO]], %[[NO]]
func.func @BoundsAreIncluded() -> (i1, i1, i1, i1) {
  %q = arith.constant 5 : index
  %first = arith.constant 3 : index
  %last = arith.constant 6 : index
  %before = arith.constant 2 : index
  %after = arith.constant 7 : index
  %0 = attn.window %q, %first before(2) after(1)
  %1 = attn.window %q, %last before(2) after(1)
  %2 = attn.window %q, %before before(2) after(1)
  %3 = attn.window %q, %after before(2) after(1)
  return %0, %1, %2, %3 : i1, i1, i1, i1
}
