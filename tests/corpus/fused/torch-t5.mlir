// CHECK-NOT: attn.softmax
// CHECK: attn.attention %arg0, %arg1, %arg2 empty_rows(nan) reads(%arg3 : tensor<1x4x6x6xf32>) maps [#{{.*}}] score({{.*}}) {
// CHECK-NEXT: %{{.*}} = arith.addf %score, %read : f32
// CHECK-NEXT: attn.yield %{{.*}} : f32
// CHECK-NEXT: } : tensor<2x4x6x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x16xf32> -> tensor<2x4x6x16xf32>
// CHECK-NOT: attn.softmax
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @attend(%arg0: tensor<2x4x6x16xf32>, %arg1: tensor<2x4x6x16xf32>, %arg2: tensor<2x4x6x16xf32>, %arg3: tensor<1x4x6x6xf32>) -> tensor<2x4x6x16xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %0 = tensor.empty() : tensor<2x4x16x6xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x4x6x16xf32>) outs(%0 : tensor<2x4x16x6xf32>) permutation = [0, 1, 3, 2] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<2x4x6x16xf32> into tensor<8x6x16xf32>
    %collapsed_1 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x4x16x6xf32> into tensor<8x16x6xf32>
    %1 = tensor.empty() : tensor<8x6x6xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %3 = linalg.batch_matmul ins(%collapsed, %collapsed_1 : tensor<8x6x16xf32>, tensor<8x16x6xf32>) outs(%2 : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %expanded = tensor.expand_shape %3 [[0, 1], [2], [3]] output_shape [2, 4, 6, 6] : tensor<8x6x6xf32> into tensor<2x4x6x6xf32>
    %4 = tensor.empty() : tensor<2x4x6x6xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %arg3 : tensor<2x4x6x6xf32>, tensor<1x4x6x6xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %20 = arith.addf %in, %in_6 : f32
      linalg.yield %20 : f32
    } -> tensor<2x4x6x6xf32>
    %6 = tensor.empty() : tensor<2x4x6xi64>
    %7 = linalg.fill ins(%c0_i64 : i64) outs(%6 : tensor<2x4x6xi64>) -> tensor<2x4x6xi64>
    %8 = tensor.empty() : tensor<2x4x6xf32>
    %9 = linalg.fill ins(%cst_0 : f32) outs(%8 : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
    %10:2 = linalg.generic {indexing_maps = [#map, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%5 : tensor<2x4x6x6xf32>) outs(%9, %7 : tensor<2x4x6xf32>, tensor<2x4x6xi64>) {
    ^bb0(%in: f32, %out: f32, %out_6: i64):
      %20 = linalg.index 3 : index
      %21 = arith.index_cast %20 : index to i64
      %22 = arith.maximumf %in, %out : f32
      %23 = arith.cmpf ogt, %in, %out : f32
      %24 = arith.select %23, %21, %out_6 : i64
      linalg.yield %22, %24 : f32, i64
    } -> (tensor<2x4x6xf32>, tensor<2x4x6xi64>)
    %expanded_2 = tensor.expand_shape %10#0 [[0], [1], [2, 3]] output_shape [2, 4, 6, 1] : tensor<2x4x6xf32> into tensor<2x4x6x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5, %expanded_2 : tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %20 = arith.subf %in, %in_6 : f32
      linalg.yield %20 : f32
    } -> tensor<2x4x6x6xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11 : tensor<2x4x6x6xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = math.exp %in : f32
      linalg.yield %20 : f32
    } -> tensor<2x4x6x6xf32>
    %13 = tensor.empty() : tensor<2x4x6x1xf32>
    %14 = linalg.fill ins(%cst : f32) outs(%13 : tensor<2x4x6x1xf32>) -> tensor<2x4x6x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%12 : tensor<2x4x6x6xf32>) outs(%14 : tensor<2x4x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.addf %in, %out : f32
      linalg.yield %20 : f32
    } -> tensor<2x4x6x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %15 : tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %20 = arith.divf %in, %in_6 : f32
      linalg.yield %20 : f32
    } -> tensor<2x4x6x6xf32>
    %collapsed_3 = tensor.collapse_shape %16 [[0, 1], [2], [3]] : tensor<2x4x6x6xf32> into tensor<8x6x6xf32>
    %collapsed_4 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<2x4x6x16xf32> into tensor<8x6x16xf32>
    %17 = tensor.empty() : tensor<8x6x16xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%17 : tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
    %19 = linalg.batch_matmul ins(%collapsed_3, %collapsed_4 : tensor<8x6x6xf32>, tensor<8x6x16xf32>) outs(%18 : tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
    %expanded_5 = tensor.expand_shape %19 [[0, 1], [2], [3]] output_shape [2, 4, 6, 16] : tensor<8x6x16xf32> into tensor<2x4x6x16xf32>
    return %expanded_5 : tensor<2x4x6x16xf32>
  }
}
