// RUN: heed-opt %s --attn-pack-arguments | FileCheck %s
// RUN: heed-opt %s --heed-tiled | FileCheck %s --check-prefix=TILED

module @layer {
  // The panels come as they are: nothing is unpacked, nothing packed again.
  // CHECK-LABEL: func.func @layer
  //  CHECK-SAME:   %[[W:[a-z0-9]+]]: tensor<2x24x16xf32> {attn.name = "w", attn.packed}
  //       CHECK:   %[[LOGICAL:.*]] = linalg.unpack %[[W]] inner_dims_pos = [0] inner_tiles = [16] into {{.*}} -> tensor<20x24xf32>
  //       CHECK:   attn.linear %{{.*}}, %[[LOGICAL]]
  // TILED-LABEL: func.func @layer
  //   TILED-NOT:   linalg.{{(un)?}}pack
  //       TILED:   attn.tile_matmul ins(%{{.*}}, %arg1 : {{.*}}, tensor<2x24x16xf32>)
  func.func @layer(%x: tensor<?x24xf32> {attn.name = "x"}, %w: tensor<20x24xf32> {attn.name = "w", attn.packed})
      -> (tensor<?x20xf32> {attn.name = "y"}) {
    %0 = attn.linear %x, %w : tensor<?x24xf32>, tensor<20x24xf32> -> tensor<?x20xf32>
    return %0 : tensor<?x20xf32>
  }
  // CHECK-LABEL: func.func @pack_w
  //  CHECK-SAME:   %[[W:.*]]: tensor<20x24xf32> {attn.name = "w"}) -> (tensor<2x24x16xf32> {attn.name = "packed"})
  //       CHECK:   linalg.pack %[[W]] padding_value({{.*}}) inner_dims_pos = [0] inner_tiles = [16]

  // An entry of another name says which it packs for. Other uses see the matrix.
  // CHECK-LABEL: func.func @twice
  //       CHECK:   %[[LOGICAL:.*]] = linalg.unpack
  //       CHECK:   arith.addf %[[LOGICAL]], %[[LOGICAL]]
  // CHECK-LABEL: func.func @twice_pack_matrix
  // TILED-LABEL: func.func @twice(
  //   TILED-NOT:   linalg.unpack
  //       TILED:   linalg.transpose
  func.func @twice(%w: tensor<16x8xbf16> {attn.name = "matrix", attn.packed}) -> tensor<16x8xbf16> {
    %0 = arith.addf %w, %w : tensor<16x8xbf16>
    return %0 : tensor<16x8xbf16>
  }
}
