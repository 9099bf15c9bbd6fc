// RUN: heed-opt %s --split-input-file --verify-diagnostics
!query = tensor<16x64xf32>
!key = tensor<7x64xf32>
!value = tensor<7x32xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C7
func.func @OriginOfTwo(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected origin of 6 indices, but got 2}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) : !out, !row, !sums
  return %0#0 : !out
}

// -----
!query = tensor<16x64xf32>
!key = tensor<7x64xf32>
!value = tensor<7x32xf32>
!out = tensor<16x8xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C8
func.func @AccumulatorOfOtherShape(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected accumulator of shape [16, 32], but got [16, 8]}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) : !out, !row, !sums
  return %0#0 : !out
}

// -----
!query = tensor<16x64xf32>
!key = tensor<7x64xf32>
!value = tensor<7x32xf32>
!out = tensor<16x32xf32>
!row = tensor<8xf32>
!sums = tensor<8x16xf32>

// C8
func.func @RowsOfOtherShape(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected row_max of shape [16], but got [8]}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) : !out, !row, !sums
  return %0#0 : !out
}

// -----
!query = tensor<16x64xf32>
!key = tensor<7x64xf32>
!value = tensor<7x32xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C9
func.func @OneResult(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected results of types}}
  %0 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) : !out
  return %0 : !out
}

// -----
!query = tensor<16x64xf32>
!key = tensor<7x64xf32>
!value = tensor<7x32xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// C10
func.func @InfiniteScale(%q: !query, %k: !key, %v: !value, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  // expected-error @+1 {{expected a finite scale, but got INF}}
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, !key, !value) origin(%i, %i, %i, %i, %i, %i)
    outs(%acc, %row, %sum : !out, !row, !sums) scale(0x7FF0000000000000) : !out, !row, !sums
  return %0#0 : !out
}
