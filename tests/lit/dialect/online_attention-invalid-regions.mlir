// RUN: heed-opt %s --split-input-file --verify-diagnostics
!query = tensor<16x64xf32>
!key = tensor<7x64xf32>
!value = tensor<7x32xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C11
func.func @ReadWithoutRegion(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected no reads without a region, but got 1}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) reads(%row : !row) maps [affine_map<(b, h, q, k) -> (q)>] : !out, !row, !sums
  return %0#0 : !out
}

// -----
!query = tensor<16x64xf32>
!key = tensor<7x64xf32>
!value = tensor<7x32xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C12
func.func @AsksWithoutKeep(%q: !query, %k: !key, %v: !value, %i: index, %asks: i1, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected a keep region beside asks, but got none}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) asks(%asks) : !out, !row, !sums
  return %0#0 : !out
}

// -----
!query = tensor<16x64xf32>
!key = tensor<7x64xf32>
!value = tensor<7x32xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C13
func.func @PanelsAhead(%q: !query, %k: !key, %v: !value, %i: index, %next: tensor<1x64x16xf32>, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected ahead of rank 2, but got rank 3}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) ahead(%next : tensor<1x64x16xf32>) : !out, !row, !sums
  return %0#0 : !out
}
