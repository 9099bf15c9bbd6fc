// RUN: heed-opt %s --split-input-file --canonicalize | FileCheck %s

// CHECK-LABEL: @ComparisonIsCausal
//       CHECK:   keep(%batch, %head, %[[Q:[a-z_]+]], %[[K:[a-z_]+]],
//  CHECK-NEXT:     %[[KEEP:.*]] = attn.causal %[[Q]], %[[K]]
//  CHECK-NEXT:     attn.yield %[[KEEP]]
func.func @ComparisonIsCausal(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = attn.attention %q, %k, %v layout("qd,kd,ke->qe") keep(%b, %h, %i, %j, %lq, %lk) {
    %keep = arith.cmpi sge, %i, %j : index
    attn.yield %keep : i1
  } : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: @ComplementOfLaterIsCausal
//       CHECK:   keep
//  CHECK-NEXT:     attn.causal
//  CHECK-NEXT:     attn.yield
func.func @ComplementOfLaterIsCausal(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = attn.attention %q, %k, %v layout("qd,kd,ke->qe") keep(%b, %h, %i, %j, %lq, %lk) {
    %true = arith.constant true
    %later = arith.cmpi sgt, %j, %i : index
    %keep = arith.xori %later, %true : i1
    attn.yield %keep : i1
  } : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// A read that is the triangle itself is no longer read.
// CHECK-LABEL: @TriangleIsCausal
//       CHECK:   attn.attention
//   CHECK-NOT:   reads
//       CHECK:   keep
//  CHECK-NEXT:     attn.causal
func.func @TriangleIsCausal(%q: tensor<3x8xf32>, %k: tensor<3x8xf32>, %v: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %m = arith.constant dense<[[[true, false, false], [true, true, false], [true, true, true]]]> : tensor<1x3x3xi1>
  %0 = attn.attention %q, %k, %v layout("qd,kd,ke->qe") reads(%m : tensor<1x3x3xi1>) maps [affine_map<(b, h, q, k) -> (0, q, k)>]
    keep(%b, %h, %i, %j, %lq, %lk, %e) {
    attn.yield %e : i1
  } : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32> -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

// CHECK-LABEL: @NearlyATriangleStays
//       CHECK:   reads
//   CHECK-NOT:   attn.causal
func.func @NearlyATriangleStays(%q: tensor<2x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %m = arith.constant dense<[[true, false], [false, true]]> : tensor<2x2xi1>
  %0 = attn.attention %q, %k, %v layout("qd,kd,ke->qe") reads(%m : tensor<2x2xi1>) maps [affine_map<(b, h, q, k) -> (q, k)>]
    keep(%b, %h, %i, %j, %lq, %lk, %e) {
    attn.yield %e : i1
  } : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: @CausalMeetsWindow
//       CHECK:     attn.window %{{.*}}, %{{.*}} before(7) after(0)
//  CHECK-NEXT:     attn.yield
func.func @CausalMeetsWindow(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = attn.attention %q, %k, %v layout("qd,kd,ke->qe") keep(%b, %h, %i, %j, %lq, %lk) {
    %causal = attn.causal %i, %j
    %window = attn.window %i, %j before(7) after(9)
    %keep = arith.andi %causal, %window : i1
    attn.yield %keep : i1
  } : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: @PrefixOfAllKeysIsNoMask
//   CHECK-NOT:   keep
func.func @PrefixOfAllKeysIsNoMask(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = attn.attention %q, %k, %v layout("qd,kd,ke->qe") keep(%b, %h, %i, %j, %lq, %lk) {
    %keep = attn.prefix %j, %lk
    attn.yield %keep : i1
  } : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
