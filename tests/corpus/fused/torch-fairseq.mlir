// CHECK-NOT: attn.softmax
// CHECK: attn.attention %arg0, %arg1, %arg2 scale(2.500000e-01) empty_rows(nan) reads(%arg3 : tensor<2x6xi1>) maps [#{{.*}}] keep({{.*}}) {
// CHECK-NEXT: %{{.*}} = arith.constant true
// CHECK-NEXT: %{{.*}} = arith.xori %read, %{{.*}} : i1
// CHECK-NEXT: attn.yield %{{.*}} : i1
// CHECK-NEXT: } : tensor<2x4x6x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x16xf32> -> tensor<2x4x6x16xf32>
// CHECK-NOT: attn.softmax
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> ()>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
module {
  func.func @attend(%arg0: tensor<2x4x6x16xf32>, %arg1: tensor<2x4x6x16xf32>, %arg2: tensor<2x4x6x16xf32>, %arg3: tensor<2x6xi1>) -> tensor<8x6x16xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = arith.constant 2.500000e-01 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<2x4x6x16xf32> into tensor<8x6x16xf32>
    %0 = tensor.empty() : tensor<8x6x16xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed : tensor<8x6x16xf32>) outs(%0 : tensor<8x6x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %21 = arith.mulf %in, %cst_2 : f32
      linalg.yield %21 : f32
    } -> tensor<8x6x16xf32>
    %collapsed_3 = tensor.collapse_shape %arg1 [[0, 1], [2], [3]] : tensor<2x4x6x16xf32> into tensor<8x6x16xf32>
    %2 = tensor.empty() : tensor<8x16x6xf32>
    %transposed = linalg.transpose ins(%collapsed_3 : tensor<8x6x16xf32>) outs(%2 : tensor<8x16x6xf32>) permutation = [0, 2, 1] 
    %3 = tensor.empty() : tensor<8x6x6xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %5 = linalg.batch_matmul ins(%1, %transposed : tensor<8x6x16xf32>, tensor<8x16x6xf32>) outs(%4 : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %expanded = tensor.expand_shape %5 [[0, 1], [2], [3]] output_shape [2, 4, 6, 6] : tensor<8x6x6xf32> into tensor<2x4x6x6xf32>
    %expanded_4 = tensor.expand_shape %arg3 [[0], [1, 2, 3]] output_shape [2, 1, 1, 6] : tensor<2x6xi1> into tensor<2x1x1x6xi1>
    %6 = tensor.empty() : tensor<2x4x6x6xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map2, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4, %cst_1, %expanded : tensor<2x1x1x6xi1>, tensor<f32>, tensor<2x4x6x6xf32>) outs(%6 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: i1, %in_8: f32, %in_9: f32, %out: f32):
      %21 = arith.select %in, %in_8, %in_9 : f32
      linalg.yield %21 : f32
    } -> tensor<2x4x6x6xf32>
    %collapsed_5 = tensor.collapse_shape %7 [[0, 1], [2], [3]] : tensor<2x4x6x6xf32> into tensor<8x6x6xf32>
    %8 = tensor.empty() : tensor<8x6xi64>
    %9 = linalg.fill ins(%c0_i64 : i64) outs(%8 : tensor<8x6xi64>) -> tensor<8x6xi64>
    %10 = tensor.empty() : tensor<8x6xf32>
    %11 = linalg.fill ins(%cst_0 : f32) outs(%10 : tensor<8x6xf32>) -> tensor<8x6xf32>
    %12:2 = linalg.generic {indexing_maps = [#map, #map4, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%collapsed_5 : tensor<8x6x6xf32>) outs(%11, %9 : tensor<8x6xf32>, tensor<8x6xi64>) {
    ^bb0(%in: f32, %out: f32, %out_8: i64):
      %21 = linalg.index 2 : index
      %22 = arith.index_cast %21 : index to i64
      %23 = arith.maximumf %in, %out : f32
      %24 = arith.cmpf ogt, %in, %out : f32
      %25 = arith.select %24, %22, %out_8 : i64
      linalg.yield %23, %25 : f32, i64
    } -> (tensor<8x6xf32>, tensor<8x6xi64>)
    %expanded_6 = tensor.expand_shape %12#0 [[0], [1, 2]] output_shape [8, 6, 1] : tensor<8x6xf32> into tensor<8x6x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_5, %expanded_6 : tensor<8x6x6xf32>, tensor<8x6x1xf32>) outs(%3 : tensor<8x6x6xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %21 = arith.subf %in, %in_8 : f32
      linalg.yield %21 : f32
    } -> tensor<8x6x6xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<8x6x6xf32>) outs(%3 : tensor<8x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %21 = math.exp %in : f32
      linalg.yield %21 : f32
    } -> tensor<8x6x6xf32>
    %15 = tensor.empty() : tensor<8x6x1xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<8x6x1xf32>) -> tensor<8x6x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%14 : tensor<8x6x6xf32>) outs(%16 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %21 = arith.addf %in, %out : f32
      linalg.yield %21 : f32
    } -> tensor<8x6x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %17 : tensor<8x6x6xf32>, tensor<8x6x1xf32>) outs(%3 : tensor<8x6x6xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %21 = arith.divf %in, %in_8 : f32
      linalg.yield %21 : f32
    } -> tensor<8x6x6xf32>
    %collapsed_7 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<2x4x6x16xf32> into tensor<8x6x16xf32>
    %19 = linalg.fill ins(%cst : f32) outs(%0 : tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
    %20 = linalg.batch_matmul ins(%18, %collapsed_7 : tensor<8x6x6xf32>, tensor<8x6x16xf32>) outs(%19 : tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
    return %20 : tensor<8x6x16xf32>
  }
}
