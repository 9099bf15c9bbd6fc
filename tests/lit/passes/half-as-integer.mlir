// RUN: heed-opt %s --attn-half-as-integer | FileCheck %s

module attributes {heed.target = "x86-64"} {
  // Values that are only moved are bits.
  // CHECK-LABEL: @MovedAsBits
  //   CHECK-NOT:   bf16
  //       CHECK:   %[[V:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i16
  //       CHECK:   memref.store %[[V]], %{{.*}} : memref<4xi16>
  func.func @MovedAsBits(%a: memref<4xbf16>, %b: memref<4xbf16>, %i: index, %c: i1) {
    %0 = memref.load %a[%i] : memref<4xbf16>
    %1 = memref.load %b[%i] : memref<4xbf16>
    %2 = arith.select %c, %0, %1 : bf16
    memref.store %2, %b[%i] : memref<4xbf16>
    return
  }

  // CHECK-LABEL: @WiderTypesStay
  //       CHECK:   memref.load %{{.*}} : memref<4xf32>
  func.func @WiderTypesStay(%a: memref<4xf32>, %i: index) -> f32 {
    %0 = memref.load %a[%i] : memref<4xf32>
    return %0 : f32
  }
}
