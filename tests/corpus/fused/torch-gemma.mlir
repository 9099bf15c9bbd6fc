// CHECK-NOT: attn.softmax
// CHECK: attn.attention %arg0, %arg1, %arg2 scale(1.250000e-03) empty_rows(nan) reads(%arg3 : tensor<2x1x6x6xf32>) maps [#{{.*}}] score({{.*}}) {
// CHECK-NEXT: %{{.*}} = arith.constant 5.000000e+01 : f32
// CHECK-NEXT: %{{.*}} = math.tanh %score : f32
// CHECK-NEXT: %{{.*}} = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %{{.*}} = arith.addf %{{.*}}, %read : f32
// CHECK-NEXT: attn.yield %{{.*}} : f32
// CHECK-NEXT: } : tensor<2x4x6x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x16xf32> -> tensor<2x4x6x16xf32>
// CHECK-NOT: attn.softmax
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @attend(%arg0: tensor<2x4x6x16xf32>, %arg1: tensor<2x4x6x16xf32>, %arg2: tensor<2x4x6x16xf32>, %arg3: tensor<2x1x6x6xf32>) -> tensor<2x4x6x16xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 6.250000e-02 : f32
    %cst_2 = arith.constant 5.000000e+01 : f32
    %0 = tensor.empty() : tensor<2x4x16x6xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x4x6x16xf32>) outs(%0 : tensor<2x4x16x6xf32>) permutation = [0, 1, 3, 2] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<2x4x6x16xf32> into tensor<8x6x16xf32>
    %collapsed_3 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x4x16x6xf32> into tensor<8x16x6xf32>
    %1 = tensor.empty() : tensor<8x6x6xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %3 = linalg.batch_matmul ins(%collapsed, %collapsed_3 : tensor<8x6x16xf32>, tensor<8x16x6xf32>) outs(%2 : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %expanded = tensor.expand_shape %3 [[0, 1], [2], [3]] output_shape [2, 4, 6, 6] : tensor<8x6x6xf32> into tensor<2x4x6x6xf32>
    %4 = tensor.empty() : tensor<2x4x6x6xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x4x6x6xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.mulf %in, %cst_1 : f32
      linalg.yield %24 : f32
    } -> tensor<2x4x6x6xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5 : tensor<2x4x6x6xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.divf %in, %cst_2 : f32
      linalg.yield %24 : f32
    } -> tensor<2x4x6x6xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<2x4x6x6xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = math.tanh %in : f32
      linalg.yield %24 : f32
    } -> tensor<2x4x6x6xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7 : tensor<2x4x6x6xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.mulf %in, %cst_2 : f32
      linalg.yield %24 : f32
    } -> tensor<2x4x6x6xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %arg3 : tensor<2x4x6x6xf32>, tensor<2x1x6x6xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %24 = arith.addf %in, %in_8 : f32
      linalg.yield %24 : f32
    } -> tensor<2x4x6x6xf32>
    %10 = tensor.empty() : tensor<2x4x6xi64>
    %11 = linalg.fill ins(%c0_i64 : i64) outs(%10 : tensor<2x4x6xi64>) -> tensor<2x4x6xi64>
    %12 = tensor.empty() : tensor<2x4x6xf32>
    %13 = linalg.fill ins(%cst_0 : f32) outs(%12 : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
    %14:2 = linalg.generic {indexing_maps = [#map, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%9 : tensor<2x4x6x6xf32>) outs(%13, %11 : tensor<2x4x6xf32>, tensor<2x4x6xi64>) {
    ^bb0(%in: f32, %out: f32, %out_8: i64):
      %24 = linalg.index 3 : index
      %25 = arith.index_cast %24 : index to i64
      %26 = arith.maximumf %in, %out : f32
      %27 = arith.cmpf ogt, %in, %out : f32
      %28 = arith.select %27, %25, %out_8 : i64
      linalg.yield %26, %28 : f32, i64
    } -> (tensor<2x4x6xf32>, tensor<2x4x6xi64>)
    %expanded_4 = tensor.expand_shape %14#0 [[0], [1], [2, 3]] output_shape [2, 4, 6, 1] : tensor<2x4x6xf32> into tensor<2x4x6x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9, %expanded_4 : tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %24 = arith.subf %in, %in_8 : f32
      linalg.yield %24 : f32
    } -> tensor<2x4x6x6xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15 : tensor<2x4x6x6xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = math.exp %in : f32
      linalg.yield %24 : f32
    } -> tensor<2x4x6x6xf32>
    %17 = tensor.empty() : tensor<2x4x6x1xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%17 : tensor<2x4x6x1xf32>) -> tensor<2x4x6x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%16 : tensor<2x4x6x6xf32>) outs(%18 : tensor<2x4x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.addf %in, %out : f32
      linalg.yield %24 : f32
    } -> tensor<2x4x6x1xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16, %19 : tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %24 = arith.divf %in, %in_8 : f32
      linalg.yield %24 : f32
    } -> tensor<2x4x6x6xf32>
    %collapsed_5 = tensor.collapse_shape %20 [[0, 1], [2], [3]] : tensor<2x4x6x6xf32> into tensor<8x6x6xf32>
    %collapsed_6 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<2x4x6x16xf32> into tensor<8x6x16xf32>
    %21 = tensor.empty() : tensor<8x6x16xf32>
    %22 = linalg.fill ins(%cst : f32) outs(%21 : tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
    %23 = linalg.batch_matmul ins(%collapsed_5, %collapsed_6 : tensor<8x6x6xf32>, tensor<8x6x16xf32>) outs(%22 : tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
    %expanded_7 = tensor.expand_shape %23 [[0, 1], [2], [3]] output_shape [2, 4, 6, 16] : tensor<8x6x16xf32> into tensor<2x4x6x16xf32>
    return %expanded_7 : tensor<2x4x6x16xf32>
  }
}
