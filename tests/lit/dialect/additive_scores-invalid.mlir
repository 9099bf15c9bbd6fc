// RUN: heed-opt %s --split-input-file --verify-diagnostics

// C1
func.func @RanksDiffer(%q: tensor<2x5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<8xf32>) -> tensor<2x5x7xf32> {
  // expected-error @+1 {{expected query and key of equal rank from 2 to 4, but got 3 and 2}}
  %0 = attn.additive_scores %q, %k, %v : (tensor<2x5x8xf32>, tensor<7x8xf32>, tensor<8xf32>) -> tensor<2x5x7xf32>
  return %0 : tensor<2x5x7xf32>
}

// -----

// C2
func.func @FeaturesDiffer(%q: tensor<5x8xf32>, %k: tensor<7x9xf32>, %v: tensor<8xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{expected key of shape [?, 8], but got [7, 9]}}
  %0 = attn.additive_scores %q, %k, %v : (tensor<5x8xf32>, tensor<7x9xf32>, tensor<8xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

// C3
func.func @VectorOfOtherWidth(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<1xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{expected v of shape [8], but got [1]}}
  %0 = attn.additive_scores %q, %k, %v : (tensor<5x8xf32>, tensor<7x8xf32>, tensor<1xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

// C4
func.func @ScoresOfOtherShape(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<8xf32>) -> tensor<7x5xf32> {
  // expected-error @+1 {{expected scores of shape [5, 7], but got [7, 5]}}
  %0 = attn.additive_scores %q, %k, %v : (tensor<5x8xf32>, tensor<7x8xf32>, tensor<8xf32>) -> tensor<7x5xf32>
  return %0 : tensor<7x5xf32>
}
