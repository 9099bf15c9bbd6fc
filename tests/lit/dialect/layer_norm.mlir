// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @WithWeightAndBias
//       CHECK:   %normalized = attn.layer_norm %arg0, %arg1, %arg2 epsilon(9.9999999999999998E-13) : tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>
func.func @WithWeightAndBias(%x: tensor<?x?x384xf32>, %w: tensor<384xf32>, %b: tensor<384xf32>) -> tensor<?x?x384xf32> {
  %0 = attn.layer_norm %x, %w, %b epsilon(1.0e-12) : tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>
  return %0 : tensor<?x?x384xf32>
}

// CHECK-LABEL: @WithWeight
//       CHECK:   attn.layer_norm %arg0, %arg1 epsilon(1.000000e-05) : tensor<?x8xf16>, tensor<8xf32>
func.func @WithWeight(%x: tensor<?x8xf16>, %w: tensor<8xf32>) -> tensor<?x8xf16> {
  %0 = attn.layer_norm %x, %w epsilon(1.0e-5) : tensor<?x8xf16>, tensor<8xf32>
  return %0 : tensor<?x8xf16>
}

// CHECK-LABEL: @Plain
//       CHECK:   attn.layer_norm %arg0 epsilon(1.000000e-05) : tensor<0xbf16>
func.func @Plain(%x: tensor<0xbf16>) -> tensor<0xbf16> {
  %0 = attn.layer_norm %x epsilon(1.0e-5) : tensor<0xbf16>
  return %0 : tensor<0xbf16>
}
