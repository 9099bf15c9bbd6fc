// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
// RUN: heed-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @Ids
//       CHECK:   %keep = attn.same_document %arg0, %arg1 : i32
func.func @Ids(%q: i32, %k: i32) -> i1 {
  %0 = attn.same_document %q, %k : i32
  return %0 : i1
}

// FOLD-LABEL: @ItselfIsKeptAndOthersAreNot
//   FOLD-DAG:   %[[NO:.*]] = arith.constant false
//   FOLD-DAG:   %[[YES:.*]] = arith.constant true
//       FOLD:   return %[[YES]], %[[NO]]
func.func @ItselfIsKeptAndOthersAreNot(%id: i64) -> (i1, i1) {
  %first = arith.constant 1 : i64
  %second = arith.constant 2 : i64
  %0 = attn.same_document %id, %id : i64
  %1 = attn.same_document %first, %second : i64
  return %0, %1 : i1, i1
}
