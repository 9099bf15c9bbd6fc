// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
// RUN: heed-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @Chunks
//       CHECK:   %keep = attn.chunk %arg0, %arg1 width(64)
func.func @Chunks(%q: index, %k: index) -> i1 {
  %0 = attn.chunk %q, %k width(64)
  return %0 : i1
}

// FOLD-LABEL: @QuotientsAreFloors
//   FOLD-DAG:   %[[NO:.*]] = arith.constant false
//   FOLD-DAG:   %[[YES:.*]] = arith.constant true
//       FOLD:   return %[[YES]], %[[NO]], %[[NO]]
func.func @QuotientsAreFloors() -> (i1, i1, i1) {
  %minus_one = arith.constant -1 : index
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %0 = attn.chunk %zero, %three width(4)
  %1 = attn.chunk %three, %four width(4)
  %2 = attn.chunk %minus_one, %zero width(4)
  return %0, %1, %2 : i1, i1, i1
}
