// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @NamedByItsLastParts
//       CHECK:   %query_weight = attn.param "encoder.layer.0.attention.self.query.weight" : tensor<384x384xf32>
func.func @NamedByItsLastParts() -> tensor<384x384xf32> {
  %0 = attn.param "encoder.layer.0.attention.self.query.weight" : tensor<384x384xf32>
  return %0 : tensor<384x384xf32>
}

// CHECK-LABEL: @NumbersAreNoNames
//       CHECK:   %blocks_gamma = attn.param "blocks.11.gamma" : tensor<8xbf16>
func.func @NumbersAreNoNames() -> tensor<8xbf16> {
  %0 = attn.param "blocks.11.gamma" : tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// CHECK-LABEL: @OtherCharactersBecomeUnderscores
//       CHECK:   %layer_norm_b = attn.param "layer-norm/b" : tensor<f16>
func.func @OtherCharactersBecomeUnderscores() -> tensor<f16> {
  %0 = attn.param "layer-norm/b" : tensor<f16>
  return %0 : tensor<f16>
}

// CHECK-LABEL: @Table
//       CHECK:   %ids = attn.param "ids" : tensor<2x3xi64>
func.func @Table() -> tensor<2x3xi64> {
  %0 = attn.param "ids" : tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}
