// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @WithoutBias
//       CHECK:   %projected = attn.linear %arg0, %arg1 : tensor<?x?x384xf32>, tensor<1536x384xf32> -> tensor<?x?x1536xf32>
func.func @WithoutBias(%x: tensor<?x?x384xf32>, %w: tensor<1536x384xf32>) -> tensor<?x?x1536xf32> {
  %0 = attn.linear %x, %w : tensor<?x?x384xf32>, tensor<1536x384xf32> -> tensor<?x?x1536xf32>
  return %0 : tensor<?x?x1536xf32>
}

// CHECK-LABEL: @WithBias
//       CHECK:   attn.linear %arg0, %arg1, %arg2 : tensor<384xf16>, tensor<?x384xf16>, tensor<?xf32> -> tensor<?xf32>
func.func @WithBias(%x: tensor<384xf16>, %w: tensor<?x384xf16>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = attn.linear %x, %w, %b : tensor<384xf16>, tensor<?x384xf16>, tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @ResidualInTheEpilogue
//       CHECK:   attn.linear %arg0, %arg1 reads(%arg2 : tensor<?x?x8xbf16>) maps [#{{.*}}] epilogue(%sum, %read) {
//       CHECK:     %[[WIDE:.*]] = arith.extf %read : bf16 to f32
//       CHECK:     arith.addf %sum, %[[WIDE]] : f32
//       CHECK:   } : tensor<?x?x4xbf16>, tensor<8x4xbf16> -> tensor<?x?x8xbf16>
func.func @ResidualInTheEpilogue(%x: tensor<?x?x4xbf16>, %w: tensor<8x4xbf16>, %r: tensor<?x?x8xbf16>) -> tensor<?x?x8xbf16> {
  %0 = attn.linear %x, %w reads(%r : tensor<?x?x8xbf16>) maps [affine_map<(b, s, n) -> (b, s, n)>]
    epilogue(%sum, %residual) {
    %wide = arith.extf %residual : bf16 to f32
    %1 = arith.addf %sum, %wide : f32
    attn.yield %1 : f32
  } : tensor<?x?x4xbf16>, tensor<8x4xbf16> -> tensor<?x?x8xbf16>
  return %0 : tensor<?x?x8xbf16>
}

// CHECK-LABEL: @NamedByItsWeight
//       CHECK:   %query_weight = attn.param
//       CHECK:   %query = attn.linear %arg0, %query_weight
func.func @NamedByItsWeight(%x: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %w = attn.param "layer.3.query.weight" : tensor<8x4xf32>
  %0 = attn.linear %x, %w : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
