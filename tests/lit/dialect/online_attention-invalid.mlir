// RUN: heed-opt %s --split-input-file --verify-diagnostics
!query = tensor<1x16x64xf32>
!key = tensor<7x64xf32>
!value = tensor<7x32xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C1
func.func @QueryOfRankThree(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected query and value of rank 2, but got ranks 3 and 2}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) : !out, !row, !sums
  return %0#0 : !out
}

// -----
!query = tensor<16x64xf32>
!key = tensor<1x1x7x64xf32>
!value = tensor<7x32xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C2
func.func @KeyOfRankFour(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected key of rank 2, or of rank 3 as panels, but got rank 4}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) : !out, !row, !sums
  return %0#0 : !out
}

// -----
!query = tensor<16x64xf32>
!key = tensor<7x64xf32>
!value = tensor<7x32xf16>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C3
func.func @ElementTypesDiffer(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected key and value of one element type, and query of it or f32, but got 'f32', 'f16' and 'f32'}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) : !out, !row, !sums
  return %0#0 : !out
}

// -----
!query = tensor<16x64xf32>
!key = tensor<7x32xf32>
!value = tensor<7x32xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C4
func.func @WidthsDiffer(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected query width to equal key width, but got 64 and 32}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) : !out, !row, !sums
  return %0#0 : !out
}
