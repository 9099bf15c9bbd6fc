// RUN: heed-opt %s --split-input-file --attn-expand-half --canonicalize --cse | FileCheck %s

module attributes {heed.target = "x86-64-v3"} {
  // CHECK-LABEL: @ArithmeticIsDoneInSingle
  //   CHECK-DAG:   %[[A:.*]] = arith.extf %arg0 {{.*}}: vector<8xf16> to vector<8xf32>
  //   CHECK-DAG:   %[[B:.*]] = arith.extf %arg1 {{.*}}: vector<8xf16> to vector<8xf32>
  //       CHECK:   %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : vector<8xf32>
  //       CHECK:   arith.truncf %[[SUM]] {{.*}}: vector<8xf32> to vector<8xf16>
  func.func @ArithmeticIsDoneInSingle(%a: vector<8xf16>, %b: vector<8xf16>) -> vector<8xf16> {
    %0 = arith.addf %a, %b : vector<8xf16>
    return %0 : vector<8xf16>
  }

  // CHECK-LABEL: @Bf16BecomesIntegerOperations
  //   CHECK-NOT: extf
  //   CHECK-NOT: truncf
  //       CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
  //   CHECK-NOT: truncf
  //       CHECK: return
  func.func @Bf16BecomesIntegerOperations(%a: bf16, %b: bf16) -> bf16 {
    %0 = arith.mulf %a, %b : bf16
    return %0 : bf16
  }

  // CHECK-LABEL: @SignsNeedNoConversion
  //       CHECK:   arith.bitcast %{{.*}} : f16 to i16
  //       CHECK:   arith.xori
  //   CHECK-NOT:   extf
  //       CHECK: return
  func.func @SignsNeedNoConversion(%a: f16) -> f16 {
    %0 = arith.negf %a : f16
    return %0 : f16
  }

  // CHECK-LABEL: @NarrowingFromDoubleRoundsToOddFirst
  //       CHECK:   arith.truncf %{{.*}} : f64 to f32
  //       CHECK:   arith.cmpf ogt, %{{.*}} : f64
  //       CHECK:   arith.truncf %{{.*}} : f32 to f16
  func.func @NarrowingFromDoubleRoundsToOddFirst(%a: f64) -> f16 {
    %0 = arith.truncf %a : f64 to f16
    return %0 : f16
  }
}

// -----

module attributes {heed.target = "x86-64-v2"} {
  // CHECK-LABEL: @NoConversionBeforeF16C
  //   CHECK-NOT: extf
  //   CHECK-NOT: truncf
  //       CHECK: return
  func.func @NoConversionBeforeF16C(%a: vector<2x4xf16>) -> vector<2x4xf16> {
    %0 = arith.mulf %a, %a : vector<2x4xf16>
    return %0 : vector<2x4xf16>
  }
}
