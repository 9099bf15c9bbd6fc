// RUN: heed-opt %s --split-input-file --verify-diagnostics
!lhs = tensor<6x64xf32>
!rhs = tensor<2x64x0xf32>
!init = tensor<6x40xf32>

// C5
func.func @PanelsOfNoWidth(%lhs: !lhs, %rhs: !rhs, %init: !init) -> !init {
  // expected-error @+1 {{expected panels of width at least 1, but got 0}}
  %0 = attn.tile_matmul ins(%lhs, %rhs : !lhs, !rhs) outs(%init : !init) -> !init
  return %0 : !init
}

// -----
!lhs = tensor<6x64xf32>
!rhs = tensor<64x40xf32>
!init = tensor<6x40xf32>

// C6
func.func @ResultUnlikeInit(%lhs: !lhs, %rhs: !rhs, %init: !init) -> tensor<6x?xf32> {
  // expected-error @+1 {{expected results of types (tensor<6x40xf32>), but got (tensor<6x?xf32>)}}
  %0 = attn.tile_matmul ins(%lhs, %rhs : !lhs, !rhs) outs(%init : !init) -> tensor<6x?xf32>
  return %0 : tensor<6x?xf32>
}

// -----

// C6
func.func @TensorsAndBuffers(%lhs: tensor<6x64xf32>, %rhs: tensor<64x40xf32>, %init: memref<6x40xf32>) {
  // expected-error @+1 {{expected tensors or buffers, but got both}}
  attn.tile_matmul ins(%lhs, %rhs : tensor<6x64xf32>, tensor<64x40xf32>) outs(%init : memref<6x40xf32>)
  return
}

// -----
!lhs = tensor<6x64xf32>
!rhs = tensor<64x40xf32>
!init = tensor<6x40xf32>

// C7
func.func @ReadTooSmall(%lhs: !lhs, %rhs: !rhs, %init: !init, %x: tensor<8xf32>) -> !init {
  // expected-error @+1 {{expected dimension 0 of read 0 to be at least 40, but got 8}}
  %0 = attn.tile_matmul ins(%lhs, %rhs : !lhs, !rhs) outs(%init : !init) reads(%x : tensor<8xf32>) maps [affine_map<(m, n) -> (n)>] -> !init
  return %0 : !init
}

// -----
!lhs = tensor<6x64xf32>
!rhs = tensor<64x40xf32>
!init = tensor<6x40xf32>

// C8
func.func @ReadWithoutEpilogue(%lhs: !lhs, %rhs: !rhs, %init: !init, %x: tensor<8xf32>) -> !init {
  // expected-error @+1 {{expected epilogue region to take (f32, f32), but got (f32)}}
  %0 = attn.tile_matmul ins(%lhs, %rhs : !lhs, !rhs) outs(%init : !init) reads(%x : tensor<8xf32>) maps [affine_map<(m, n) -> (m)>] -> !init
  return %0 : !init
}

// -----
!lhs = tensor<6x64xf32>
!rhs = tensor<64x40xf32>
!init = tensor<6x40xf32>

// C9
func.func @AsksWithoutMasked(%lhs: !lhs, %rhs: !rhs, %init: !init, %asks: i1) -> !init {
  // expected-error @+1 {{expected asks beside masked only, but got it without}}
  %0 = attn.tile_matmul ins(%lhs, %rhs : !lhs, !rhs) outs(%init : !init) asks(%asks) -> !init
  return %0 : !init
}

// -----
!lhs = tensor<6x64xf32>
!rhs = tensor<64x40xf32>
!init = tensor<6x40xf32>

// C10
func.func @PanelsAhead(%lhs: !lhs, %rhs: !rhs, %init: !init, %next: tensor<2x64x16xf32>) -> !init {
  // expected-error @+1 {{expected ahead of rank 2, but got rank 3}}
  %0 = attn.tile_matmul ins(%lhs, %rhs : !lhs, !rhs) outs(%init : !init) ahead(%next : tensor<2x64x16xf32>) -> !init
  return %0 : !init
}
