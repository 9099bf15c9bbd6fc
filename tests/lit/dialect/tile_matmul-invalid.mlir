// RUN: heed-opt %s --split-input-file --verify-diagnostics
!lhs = tensor<1x6x64xf32>
!rhs = tensor<64x40xf32>
!init = tensor<6x40xf32>

// C1
func.func @LhsOfRankThree(%lhs: !lhs, %rhs: !rhs, %init: !init) -> !init {
  // expected-error @+1 {{expected lhs and init of rank 2, but got ranks 3 and 2}}
  %0 = attn.tile_matmul ins(%lhs, %rhs : !lhs, !rhs) outs(%init : !init) -> !init
  return %0 : !init
}

// -----
!lhs = tensor<6x64xf32>
!rhs = tensor<64xf32>
!init = tensor<6x40xf32>

// C2
func.func @RhsOfRankOne(%lhs: !lhs, %rhs: !rhs, %init: !init) -> !init {
  // expected-error @+1 {{expected rhs of rank 2, or of rank 3 as panels, but got rank 1}}
  %0 = attn.tile_matmul ins(%lhs, %rhs : !lhs, !rhs) outs(%init : !init) -> !init
  return %0 : !init
}

// -----
!lhs = tensor<6x64xf32>
!rhs = tensor<32x40xf32>
!init = tensor<6x40xf32>

// C3
func.func @InnerSizesDiffer(%lhs: !lhs, %rhs: !rhs, %init: !init) -> !init {
  // expected-error @+1 {{expected equal inner sizes, but got 64 and 32}}
  %0 = attn.tile_matmul ins(%lhs, %rhs : !lhs, !rhs) outs(%init : !init) -> !init
  return %0 : !init
}

// -----
!lhs = tensor<6x64xf32>
!rhs = tensor<64x40xf32>
!init = tensor<5x40xf32>

// C4
func.func @RowsDiffer(%lhs: !lhs, %rhs: !rhs, %init: !init) -> !init {
  // expected-error @+1 {{expected as many rows in init as in lhs, but got 5 and 6}}
  %0 = attn.tile_matmul ins(%lhs, %rhs : !lhs, !rhs) outs(%init : !init) -> !init
  return %0 : !init
}

// -----
!lhs = tensor<6x64xf32>
!rhs = tensor<64x40xf32>
!init = tensor<6x41xf32>

// C4
func.func @ColumnsDiffer(%lhs: !lhs, %rhs: !rhs, %init: !init) -> !init {
  // expected-error @+1 {{expected as many columns in init as in rhs, but got 41 and 40}}
  %0 = attn.tile_matmul ins(%lhs, %rhs : !lhs, !rhs) outs(%init : !init) -> !init
  return %0 : !init
}

// -----
!lhs = tensor<6x64xf32>
!rhs = tensor<2x64x16xf32>
!init = tensor<6x40xf32>

// C5
func.func @PanelsMissing(%lhs: !lhs, %rhs: !rhs, %init: !init) -> !init {
  // expected-error @+1 {{expected 3 panels for 40 columns, but got 2}}
  %0 = attn.tile_matmul ins(%lhs, %rhs : !lhs, !rhs) outs(%init : !init) -> !init
  return %0 : !init
}
