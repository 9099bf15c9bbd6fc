// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
// RUN: heed-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @EveryFourth
//       CHECK:   %keep = attn.dilated %arg0, %arg1 step(4)
func.func @EveryFourth(%q: index, %k: index) -> i1 {
  %0 = attn.dilated %q, %k step(4)
  return %0 : i1
}

// FOLD-LABEL: @CountedFromTheQuery
//   FOLD-DAG:   %[[NO:.*]] = arith.constant false
//   FOLD-DAG:   %[[YES:.*]] = arith.constant true
//       FOLD:   return %[[YES]], %[[YES]], %[[NO]]
func.func @CountedFromTheQuery() -> (i1, i1, i1) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %seven = arith.constant 7 : index
  %0 = attn.dilated %seven, %one step(3)
  %1 = attn.dilated %one, %four step(3)
  %2 = attn.dilated %seven, %one step(4)
  return %0, %1, %2 : i1, i1, i1
}
