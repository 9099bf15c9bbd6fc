// RUN: heed-opt %s --attn-tile-matmuls --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @LinearPacksItsWeight
//       CHECK:   linalg.pack %arg1 {{.*}} inner_dims_pos = [0] inner_tiles = [16] {{.*}} -> tensor<3x8x16xf32>
//       CHECK:   scf.forall
//       CHECK:     attn.tile_matmul {{.*}} epilogue
//       CHECK:       arith.addf
func.func @LinearPacksItsWeight(%x: tensor<?x8xf32>, %w: tensor<40x8xf32>, %b: tensor<40xf32>) -> tensor<?x40xf32> {
  %0 = attn.linear %x, %w, %b : tensor<?x8xf32>, tensor<40x8xf32>, tensor<40xf32> -> tensor<?x40xf32>
  return %0 : tensor<?x40xf32>
}

// CHECK-LABEL: @RowMajorRightSideIsReadInPlace
//   CHECK-NOT:   linalg.pack
//       CHECK:   scf.forall
//       CHECK:     attn.tile_matmul
func.func @RowMajorRightSideIsReadInPlace(%a: tensor<2x5x8xf32>, %b: tensor<2x8x9xf32>) -> tensor<2x5x9xf32> {
  %0 = attn.matmul %a, %b : (tensor<2x5x8xf32>, tensor<2x8x9xf32>) -> tensor<2x5x9xf32>
  return %0 : tensor<2x5x9xf32>
}

// CHECK-LABEL: @TransposedRightSideIsPacked
//       CHECK:   linalg.pack %arg1
//       CHECK:   attn.tile_matmul
func.func @TransposedRightSideIsPacked(%a: tensor<2x5x8xf32>, %b: tensor<2x9x8xf32>) -> tensor<2x5x9xf32> {
  %0 = attn.matmul %a, %b transpose_rhs : (tensor<2x5x8xf32>, tensor<2x9x8xf32>) -> tensor<2x5x9xf32>
  return %0 : tensor<2x5x9xf32>
}

// Four tiles of 96 columns and one of all rows, whose sizes are known.
// CHECK-LABEL: @TilesAreWhole
//       CHECK:   scf.forall (%{{.*}}) in (4)
//       CHECK:     attn.tile_matmul ins(%{{.*}} : tensor<77x64xf32>, tensor<6x64x16xf32>)
func.func @TilesAreWhole(%x: tensor<77x64xf32>, %w: tensor<384x64xf32>) -> tensor<77x384xf32> {
  %0 = attn.linear %x, %w : tensor<77x64xf32>, tensor<384x64xf32> -> tensor<77x384xf32>
  return %0 : tensor<77x384xf32>
}

// 1024 rows of 2048 elements are 16 times the target's cache.
// CHECK-LABEL: @RowsFitInTheCache
//       CHECK:   scf.forall (%{{.*}}, %{{.*}}) in (16, 8)
func.func @RowsFitInTheCache(%x: tensor<1024x2048xf32>, %w: tensor<512x2048xf32>) -> tensor<1024x512xf32> {
  %0 = attn.linear %x, %w : tensor<1024x2048xf32>, tensor<512x2048xf32> -> tensor<1024x512xf32>
  return %0 : tensor<1024x512xf32>
}
