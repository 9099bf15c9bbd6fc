// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @ScoresOfRankOne(%s: memref<6xf32>, %a: memref<6x64xf32>, %r: memref<6xf32>) {
  // expected-error @+1 {{expected scores and accumulator of rank 2, but got ranks 1 and 2}}
  attn.tile_softmax outs(%s, %a, %r, %r : memref<6xf32>, memref<6x64xf32>, memref<6xf32>, memref<6xf32>)
  return
}

// -----

// C1
func.func @RowsDiffer(%s: memref<6x32xf32>, %a: memref<5x64xf32>, %r: memref<6xf32>) {
  // expected-error @+1 {{expected accumulator of shape [6, 64], but got [5, 64]}}
  attn.tile_softmax outs(%s, %a, %r, %r : memref<6x32xf32>, memref<5x64xf32>, memref<6xf32>, memref<6xf32>)
  return
}

// -----

// C1
func.func @SumsOfOtherRows(%s: memref<6x32xf32>, %a: memref<6x64xf32>, %r: memref<6xf32>, %l: memref<7x16xf32>) {
  // expected-error @+1 {{expected row_sum of shape [6, 16], but got [7, 16]}}
  attn.tile_softmax outs(%s, %a, %r, %l : memref<6x32xf32>, memref<6x64xf32>, memref<6xf32>, memref<7x16xf32>)
  return
}

// -----

// C1
func.func @SumsOfDynamicParts(%s: memref<6x32xf32>, %a: memref<6x64xf32>, %r: memref<6xf32>, %l: memref<6x?xf32>) {
  // expected-error @+1 {{expected row_sum of rank 2 with static, positive parts, but got [6, ?]}}
  attn.tile_softmax outs(%s, %a, %r, %l : memref<6x32xf32>, memref<6x64xf32>, memref<6xf32>, memref<6x?xf32>)
  return
}

// -----

// C2
func.func @ResultsMissing(%s: tensor<6x32xf32>, %a: tensor<6x64xf32>, %r: tensor<6xf32>, %l: tensor<6x4xf32>) {
  // expected-error @+1 {{expected results of types (tensor<6x32xf32>, tensor<6x64xf32>, tensor<6xf32>, tensor<6x4xf32>), but got ()}}
  attn.tile_softmax outs(%s, %a, %r, %l : tensor<6x32xf32>, tensor<6x64xf32>, tensor<6xf32>, tensor<6x4xf32>)
  return
}
