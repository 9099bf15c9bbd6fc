// RUN: heed-opt %s | FileCheck %s
// RUN: heed-opt %s --mlir-print-op-generic | heed-opt | FileCheck %s
// RUN: heed-opt %s --emit-bytecode | heed-opt | FileCheck %s

// CHECK-LABEL: @Glu
//       CHECK:   %gated = attn.gated %arg0, %arg1 activation(sigmoid) : tensor<?x8xbf16>
func.func @Glu(%x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %0 = attn.gated %x, %y activation(sigmoid) : tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}

// CHECK-LABEL: @ReGlu
//       CHECK:   %gated = attn.gated %arg0, %arg1 activation(relu) : tensor<?x8xbf16>
func.func @ReGlu(%x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %0 = attn.gated %x, %y activation(relu) : tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}

// CHECK-LABEL: @GeGlu
//       CHECK:   %gated = attn.gated %arg0, %arg1 activation(gelu) : tensor<?x8xbf16>
func.func @GeGlu(%x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %0 = attn.gated %x, %y activation(gelu) : tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}

// CHECK-LABEL: @GeGluTanh
//       CHECK:   %gated = attn.gated %arg0, %arg1 activation(gelu_tanh) : tensor<?x8xbf16>
func.func @GeGluTanh(%x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %0 = attn.gated %x, %y activation(gelu_tanh) : tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}

// CHECK-LABEL: @SwiGlu
//       CHECK:   %gated = attn.gated %arg0, %arg1 activation(silu) : tensor<?x8xbf16>
func.func @SwiGlu(%x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %0 = attn.gated %x, %y activation(silu) : tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}
