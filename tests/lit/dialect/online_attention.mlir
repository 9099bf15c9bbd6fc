// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
!query = tensor<16x64xf32>
!out = tensor<16x32xf32>
!row = tensor<16xf32>
!sums = tensor<16x16xf32>

// CHECK-LABEL: @OneTile
//       CHECK:   attn.online_attention ins(%arg0, %arg1, %arg2 : tensor<16x64xf32>, tensor<?x64xf32>, tensor<?x32xf32>)
//  CHECK-SAME:     origin(%arg3, %arg3, %arg3, %arg3, %arg3, %arg3)
//  CHECK-SAME:     outs(%arg4, %arg5, %arg6 : tensor<16x32xf32>, tensor<16xf32>, tensor<16x16xf32>) scale(1.250000e-01)
//  CHECK-SAME:     keep(%batch, %head, %query, %key, %query_len, %key_len) {
//       CHECK:     attn.causal %query, %key
func.func @OneTile(%q: !query, %k: tensor<?x64xf32>, %v: tensor<?x32xf32>, %i: index, %acc: !out, %max: !row, %sum: !sums) -> !out {
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, tensor<?x64xf32>, tensor<?x32xf32>)
    origin(%i, %i, %i, %i, %i, %i) outs(%acc, %max, %sum : !out, !row, !sums) scale(0.125)
    keep(%b, %h, %a, %c, %query_len, %key_len) {
    %keep = attn.causal %a, %c
    attn.yield %keep : i1
  } : !out, !row, !sums
  return %0#0 : !out
}

// CHECK-LABEL: @MayKeepAll
//       CHECK:   attn.online_attention {{.*}} asks(%arg7) keep(
func.func @MayKeepAll(%q: !query, %k: tensor<?x64xf32>, %v: tensor<?x32xf32>, %i: index, %acc: !out, %max: !row, %sum: !sums, %asks: i1) -> !out {
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, tensor<?x64xf32>, tensor<?x32xf32>)
    origin(%i, %i, %i, %i, %i, %i) outs(%acc, %max, %sum : !out, !row, !sums) asks(%asks)
    keep(%b, %h, %a, %c, %query_len, %key_len) {
    %keep = attn.causal %a, %c
    attn.yield %keep : i1
  } : !out, !row, !sums
  return %0#0 : !out
}

// CHECK-LABEL: @QueryWiderThanKeys
//       CHECK:   attn.online_attention ins(%arg0, %arg1, %arg1 : tensor<16x32xf32>, tensor<7x32xbf16>, tensor<7x32xbf16>)
//  CHECK-SAME:     outs({{.*}}) base2
func.func @QueryWiderThanKeys(%q: tensor<16x32xf32>, %k: tensor<7x32xbf16>, %i: index, %acc: !out, %row: !row, %sum: !sums) -> !out {
  %0:3 = attn.online_attention ins(%q, %k, %k : tensor<16x32xf32>, tensor<7x32xbf16>, tensor<7x32xbf16>)
    origin(%i, %i, %i, %i, %i, %i) outs(%acc, %row, %sum : !out, !row, !sums) base2 : !out, !row, !sums
  return %0#0 : !out
}

// CHECK-LABEL: @KeyPanels
//       CHECK:   attn.online_attention ins(%arg0, %arg1, %arg2 : tensor<16x64xf32>, tensor<3x64x16xf32>, tensor<40x32xf32>)
func.func @KeyPanels(%q: !query, %k: tensor<3x64x16xf32>, %v: tensor<40x32xf32>, %i: index, %acc: !out, %max: !row, %sum: !sums) -> !out {
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, tensor<3x64x16xf32>, tensor<40x32xf32>)
    origin(%i, %i, %i, %i, %i, %i) outs(%acc, %max, %sum : !out, !row, !sums) : !out, !row, !sums
  return %0#0 : !out
}

// CHECK-LABEL: @FetchesKeysAhead
//       CHECK:   attn.online_attention {{.*}} base2 ahead(%arg7 : tensor<?x64xf32>)
func.func @FetchesKeysAhead(%q: !query, %k: tensor<?x64xf32>, %v: tensor<?x32xf32>, %i: index, %acc: !out, %max: !row, %sum: !sums, %next: tensor<?x64xf32>) -> !out {
  %0:3 = attn.online_attention ins(%q, %k, %v : !query, tensor<?x64xf32>, tensor<?x32xf32>)
    origin(%i, %i, %i, %i, %i, %i) outs(%acc, %max, %sum : !out, !row, !sums) base2 ahead(%next : tensor<?x64xf32>)
    : !out, !row, !sums
  return %0#0 : !out
}
