// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s
// RUN: heed-opt %s --canonicalize | FileCheck %s --check-prefix=CANONICAL

// CHECK-LABEL: @Plain
//       CHECK:   %attended = attn.attention %arg0, %arg1, %arg2 : tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x32xf32> -> tensor<?x8x?x32xf32>
func.func @Plain(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x32xf32>) -> tensor<?x8x?x32xf32> {
  %0 = attn.attention %q, %k, %v : tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x32xf32> -> tensor<?x8x?x32xf32>
  return %0 : tensor<?x8x?x32xf32>
}

// CHECK-LABEL: @GroupedHeadsOfAnyLayout
//       CHECK:   attn.attention %arg0, %arg1, %arg2 scale(1.250000e-01) layout("bqhd,hbkd,bhek->qbeh") keep(%batch, %head, %query, %key, %query_len, %key_len) {
//       CHECK:     attn.causal %query, %key bottom_right(%query_len, %key_len)
func.func @GroupedHeadsOfAnyLayout(%q: tensor<2x?x8x64xbf16>, %k: tensor<2x2x7x64xbf16>, %v: tensor<2x2x64x7xbf16>) -> tensor<?x2x64x8xf32> {
  %0 = attn.attention %q, %k, %v layout("bqhd,hbkd,bhek->qbeh") scale(0.125)
    keep(%b, %h, %i, %j, %query_len, %key_len) {
    %keep = attn.causal %i, %j bottom_right(%query_len, %key_len)
    attn.yield %keep : i1
  } : tensor<2x?x8x64xbf16>, tensor<2x2x7x64xbf16>, tensor<2x2x64x7xbf16> -> tensor<?x2x64x8xf32>
  return %0 : tensor<?x2x64x8xf32>
}

// CHECK-LABEL: @EveryOption
//       CHECK:   %attended, %log_sum_exp = attn.attention %arg0, %arg1, %arg2 key_lengths(%arg3 : tensor<2xi32>) query_offset(%arg4 : index) key_offset(%arg5 : tensor<2xi64>) sinks(%arg6 : tensor<8xf32>) empty_rows(nan) reads(%arg7 : tensor<8x?x9xf32>) maps [#{{.*}}] score(%score, %batch, %head, %query, %key, %query_len, %key_len, %read) {
//       CHECK:     %[[SUM:.*]] = arith.addf %score, %read : f32
//       CHECK:     attn.yield %[[SUM]] : f32
//       CHECK:   } : tensor<2x8x5x16xf32>, tensor<2x8x9x16xf32>, tensor<2x8x9x16xf32> -> tensor<2x8x5x16xf32>, tensor<2x8x5xf32>
func.func @EveryOption(%q: tensor<2x8x5x16xf32>, %k: tensor<2x8x9x16xf32>, %v: tensor<2x8x9x16xf32>,
                       %lengths: tensor<2xi32>, %past: index, %key_offset: tensor<2xi64>, %sinks: tensor<8xf32>,
                       %bias: tensor<8x?x9xf32>) -> (tensor<2x8x5x16xf32>, tensor<2x8x5xf32>) {
  %0, %1 = attn.attention %q, %k, %v key_lengths(%lengths : tensor<2xi32>) query_offset(%past : index)
    key_offset(%key_offset : tensor<2xi64>) sinks(%sinks : tensor<8xf32>) empty_rows(nan)
    reads(%bias : tensor<8x?x9xf32>) maps [affine_map<(b, h, q, k) -> (h, q, k)>]
    score(%s, %b, %h, %i, %j, %query_len, %key_len, %add) {
    %sum = arith.addf %s, %add : f32
    attn.yield %sum : f32
  } : tensor<2x8x5x16xf32>, tensor<2x8x9x16xf32>, tensor<2x8x9x16xf32> -> tensor<2x8x5x16xf32>, tensor<2x8x5xf32>
  return %0, %1 : tensor<2x8x5x16xf32>, tensor<2x8x5xf32>
}

// CANONICAL-LABEL: @RegionsThatChangeNothing
//       CANONICAL:   attn.attention %arg0, %arg1, %arg2 layout("qd,kd,ke->qe") : tensor<3x4xf32>
func.func @RegionsThatChangeNothing(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x4xf32>, %r: tensor<5xf32>) -> tensor<3x4xf32> {
  %0 = attn.attention %q, %k, %v layout("qd,kd,ke->qe") reads(%r : tensor<5xf32>) maps [affine_map<(b, h, q, k) -> (k)>]
    score(%s, %b, %h, %i, %j, %query_len, %key_len, %read) {
    attn.yield %s : f32
  } keep(%b, %h, %i, %j, %query_len, %key_len, %read) {
    %true = arith.constant true
    attn.yield %true : i1
  } : tensor<3x4xf32>, tensor<5x4xf32>, tensor<5x4xf32> -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
