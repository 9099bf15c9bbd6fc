// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @FromZero
//       CHECK:   %positioned = attn.sinusoidal_positions %arg0 : tensor<?x?x512xf32>
func.func @FromZero(%x: tensor<?x?x512xf32>) -> tensor<?x?x512xf32> {
  %0 = attn.sinusoidal_positions %x base(10000.0) : tensor<?x?x512xf32>
  return %0 : tensor<?x?x512xf32>
}

// CHECK-LABEL: @FromAnOffset
//       CHECK:   attn.sinusoidal_positions %arg0 offset(%arg1 : tensor<2xi64>) base(1.000000e+03) : tensor<2x?x512xf32>
func.func @FromAnOffset(%x: tensor<2x?x512xf32>, %p: tensor<2xi64>) -> tensor<2x?x512xf32> {
  %0 = attn.sinusoidal_positions %x base(1000.0) offset(%p : tensor<2xi64>) : tensor<2x?x512xf32>
  return %0 : tensor<2x?x512xf32>
}
