// RUN: heed-opt %s --split-input-file --verify-diagnostics
!t = tensor<2x8x5x16xf32>

// C1
func.func @KeyWithoutWidth(%q: !t, %k: !t, %v: !t) -> !t {
  // expected-error @+1 {{expected layout of key to have letters kd, and b and h at most once, but got 'bhkk'}}
  %0 = attn.attention %q, %k, %v layout("bhqd,bhkk,bhke->bhqe") : !t, !t, !t -> !t
  return %0 : !t
}

// -----
!t = tensor<2x8x5x16xf32>

// C1
func.func @LayoutWithoutResult(%q: !t, %k: !t, %v: !t) -> !t {
  // expected-error @+1 {{expected layout of result to have letters qe, and b and h at most once, but got ''}}
  %0 = attn.attention %q, %k, %v layout("bhqd,bhkd,bhke") : !t, !t, !t -> !t
  return %0 : !t
}

// -----
!t = tensor<2x8x5x16xf32>

// C2
func.func @BatchMissingFromValue(%q: !t, %k: !t, %v: !t) -> !t {
  // expected-error @+1 {{expected letter b in all of layout 'bhqd,bhkd,hke->bhqe' or in none}}
  %0 = attn.attention %q, %k, %v layout("bhqd,bhkd,hke->bhqe") : !t, !t, !t -> !t
  return %0 : !t
}

// -----
!t = tensor<2x8x5x16xf32>

// C3
func.func @RankUnlikeLayout(%q: !t, %k: !t, %v: !t) -> !t {
  // expected-error @+1 {{expected query of rank 3 by layout 'hqd', but got rank 4}}
  %0 = attn.attention %q, %k, %v layout("hqd,hkd,hke->hqe") : !t, !t, !t -> !t
  return %0 : !t
}

// -----

// C4
func.func @ElementTypesDiffer(%q: tensor<3x4xf32>, %k: tensor<5x4xf16>, %v: tensor<5x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{expected query, key and value of one element type, but got 'f32' and 'f16'}}
  %0 = attn.attention %q, %k, %v layout("qd,kd,ke->qe") : tensor<3x4xf32>, tensor<5x4xf16>, tensor<5x4xf32> -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// C10
func.func @InfiniteScale(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{expected a finite scale, but got nan}}
  %0 = attn.attention %q, %k, %v layout("qd,kd,ke->qe") scale(0x7FF8000000000000) : tensor<3x4xf32>, tensor<5x4xf32>, tensor<5x4xf32> -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
