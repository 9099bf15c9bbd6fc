// RUN: heed-opt %s --split-input-file --verify-diagnostics
!query = tensor<16x64xf32>
!key = tensor<2x64x16xf32>
!value = tensor<40x32xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C5
func.func @PanelsMissing(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected 3 key panels for 40 values, but got 2}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) : !out, !row, !sums
  return %0#0 : !out
}

// -----
!query = tensor<16x64xf32>
!key = tensor<2x64x0xf32>
!value = tensor<7x32xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C5
func.func @PanelsOfNoWidth(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected key panels of width at least 1, but got 0}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) : !out, !row, !sums
  return %0#0 : !out
}

// -----
!query = tensor<16x64xf32>
!key = tensor<7x64xf32>
!value = tensor<5x32xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C6
func.func @LengthsDiffer(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected key length to equal value length, but got 7 and 5}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) : !out, !row, !sums
  return %0#0 : !out
}
