// RUN: heed-opt %s --split-input-file --attn-expand-math --canonicalize --cse | FileCheck %s

// Two bounds, three operations to reduce, six for the polynomial and two to scale.
module attributes {heed.target = "x86-64-v3"} {
  // CHECK-LABEL: @Exp2IsThirteenOperations
  // CHECK-COUNT-2: arith.select
  //         CHECK: arith.addf
  // CHECK-COUNT-2: arith.subf
  // CHECK-COUNT-6: math.fma
  //         CHECK: arith.shli
  //         CHECK: arith.mulf
  //    CHECK-NEXT: return
  func.func @Exp2IsThirteenOperations(%x: vector<16xf32>) -> vector<16xf32> {
    %0 = math.exp2 %x : vector<16xf32>
    return %0 : vector<16xf32>
  }

  // CHECK-LABEL: @ApproximateExp2IsElevenOperations
  // CHECK-COUNT-1: arith.select
  //         CHECK: arith.addf
  // CHECK-COUNT-2: arith.subf
  // CHECK-COUNT-5: math.fma
  //     CHECK-NOT: math.fma
  //         CHECK: arith.shli
  //         CHECK: arith.mulf
  //    CHECK-NEXT: return
  func.func @ApproximateExp2IsElevenOperations(%x: vector<16xf32>) -> vector<16xf32> {
    %0 = math.exp2 %x fastmath<afn> : vector<16xf32>
    return %0 : vector<16xf32>
  }

  // CHECK-LABEL: @RsqrtDividesByTheRoot
  //       CHECK:   %[[ONE:.*]] = arith.constant 1.0
  //       CHECK:   %[[ROOT:.*]] = math.sqrt %{{.*}} : f32
  //       CHECK:   arith.divf %[[ONE]], %[[ROOT]] : f32
  func.func @RsqrtDividesByTheRoot(%x: f32) -> f32 {
    %0 = math.rsqrt %x : f32
    return %0 : f32
  }

  // CHECK-LABEL: @HalfIsComputedInSingle
  //       CHECK:   arith.extf %{{.*}} : vector<4x8xbf16> to vector<4x8xf32>
  //   CHECK-NOT:   math.log
  //       CHECK:   arith.truncf %{{.*}} : vector<4x8xf32> to vector<4x8xbf16>
  func.func @HalfIsComputedInSingle(%x: vector<4x8xbf16>) -> vector<4x8xbf16> {
    %0 = math.log %x : vector<4x8xbf16>
    return %0 : vector<4x8xbf16>
  }

  // CHECK-LABEL: @WhatTheTargetHasStays
  //       CHECK:   math.fma
  //       CHECK:   math.floor
  //       CHECK:   math.absf
  //       CHECK:   math.sqrt
  func.func @WhatTheTargetHasStays(%x: f64) -> f64 {
    %0 = math.fma %x, %x, %x : f64
    %1 = math.floor %0 : f64
    %2 = math.absf %1 : f64
    %3 = math.sqrt %2 : f64
    return %3 : f64
  }

  // CHECK-LABEL: @FlagsDoNotReachTheFormula
  //   CHECK-NOT: fastmath
  //       CHECK: return
  func.func @FlagsDoNotReachTheFormula(%x: f32) -> f32 {
    %0 = math.exp %x fastmath<fast> : f32
    return %0 : f32
  }
}

// -----

module attributes {heed.target = "x86-64"} {
  // CHECK-LABEL: @NoFusedMultiplyAddBeforeV3
  //   CHECK-NOT: math.fma
  //       CHECK: return
  func.func @NoFusedMultiplyAddBeforeV3(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
    %0 = math.exp %x : vector<4xf32>
    %1 = math.fma %0, %x, %y : vector<4xf32>
    return %1 : vector<4xf32>
  }

  // CHECK-LABEL: @NoRoundingBeforeV2
  //   CHECK-NOT: math.floor
  //       CHECK: return
  func.func @NoRoundingBeforeV2(%x: vector<4xf32>) -> vector<4xf32> {
    %0 = math.floor %x : vector<4xf32>
    return %0 : vector<4xf32>
  }
}
