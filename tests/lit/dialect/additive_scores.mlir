// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @Bahdanau
//       CHECK:   %scores = attn.additive_scores %arg0, %arg1, %arg2 : (tensor<?x5x128xf32>, tensor<?x?x128xf32>, tensor<128xf32>) -> tensor<?x5x?xf32>
func.func @Bahdanau(%q: tensor<?x5x128xf32>, %k: tensor<?x?x128xf32>, %v: tensor<128xf32>) -> tensor<?x5x?xf32> {
  %0 = attn.additive_scores %q, %k, %v
    : (tensor<?x5x128xf32>, tensor<?x?x128xf32>, tensor<128xf32>) -> tensor<?x5x?xf32>
  return %0 : tensor<?x5x?xf32>
}
