// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @WithWeight
//       CHECK:   %normalized = attn.rms_norm %arg0, %arg1 epsilon(9.9999999999999995E-7) : tensor<?x?x8xbf16>, tensor<8xbf16>
func.func @WithWeight(%x: tensor<?x?x8xbf16>, %w: tensor<8xbf16>) -> tensor<?x?x8xbf16> {
  %0 = attn.rms_norm %x, %w epsilon(1.0e-6) : tensor<?x?x8xbf16>, tensor<8xbf16>
  return %0 : tensor<?x?x8xbf16>
}

// CHECK-LABEL: @Gemma
//       CHECK:   attn.rms_norm %arg0, %arg1 epsilon(1.000000e-05) offset(1.000000e+00) : tensor<?x8xf32>, tensor<8xf32>
func.func @Gemma(%x: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = attn.rms_norm %x, %w epsilon(1.0e-5) offset(1.0) : tensor<?x8xf32>, tensor<8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @Plain
//       CHECK:   attn.rms_norm %arg0 epsilon(1.000000e-05) : tensor<8xf32>
func.func @Plain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = attn.rms_norm %x epsilon(1.0e-5) offset(0.0) : tensor<8xf32>
  return %0 : tensor<8xf32>
}
