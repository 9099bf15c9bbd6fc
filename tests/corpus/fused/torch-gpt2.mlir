// CHECK-NOT: attn.softmax
// CHECK: attn.attention %arg0, %arg1, %arg2 scale(2.500000e-01) empty_rows(nan) score({{.*}}) {
// CHECK-NEXT: %{{.*}} = arith.constant -3.40282347E+38 : f32
// CHECK-NEXT: %{{.*}} = arith.constant 0 : i64
// CHECK-NEXT: %{{.*}} = arith.index_cast %key : index to i64
// CHECK-NEXT: %{{.*}} = arith.index_cast %query : index to i64
// CHECK-NEXT: %{{.*}} = arith.subi %{{.*}}, %{{.*}} : i64
// CHECK-NEXT: %{{.*}} = arith.cmpi sle, %{{.*}}, %{{.*}} : i64
// CHECK-NEXT: %{{.*}} = arith.select %{{.*}}, %score, %{{.*}} : f32
// CHECK-NEXT: attn.yield %{{.*}} : f32
// CHECK-NEXT: } : tensor<2x4x6x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x16xf32> -> tensor<2x4x6x16xf32>
// CHECK-NOT: attn.softmax
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> ()>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (0, d1)>
#map4 = affine_map<(d0, d1) -> (d0, 0)>
#map5 = affine_map<(d0, d1) -> (d0, d1)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @attend(%arg0: tensor<2x4x6x16xf32>, %arg1: tensor<2x4x6x16xf32>, %arg2: tensor<2x4x6x16xf32>) -> tensor<2x4x6x16xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant dense<true> : tensor<6x6xi1>
    %cst_3 = arith.constant dense<4.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<2x4x16x6xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x4x6x16xf32>) outs(%0 : tensor<2x4x16x6xf32>) permutation = [0, 1, 3, 2] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<2x4x6x16xf32> into tensor<8x6x16xf32>
    %collapsed_4 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x4x16x6xf32> into tensor<8x16x6xf32>
    %1 = tensor.empty() : tensor<8x6x6xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %3 = linalg.batch_matmul ins(%collapsed, %collapsed_4 : tensor<8x6x16xf32>, tensor<8x16x6xf32>) outs(%2 : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %expanded = tensor.expand_shape %3 [[0, 1], [2], [3]] output_shape [2, 4, 6, 6] : tensor<8x6x6xf32> into tensor<2x4x6x6xf32>
    %4 = tensor.empty() : tensor<2x4x6x6xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %cst_3 : tensor<2x4x6x6xf32>, tensor<f32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %28 = arith.divf %in, %in_11 : f32
      linalg.yield %28 : f32
    } -> tensor<2x4x6x6xf32>
    %6 = tensor.empty() : tensor<6xi64>
    %7 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%6 : tensor<6xi64>) {
    ^bb0(%out: i64):
      %28 = linalg.index 0 : index
      %29 = arith.index_cast %28 : index to i64
      linalg.yield %29 : i64
    } -> tensor<6xi64>
    %expanded_5 = tensor.expand_shape %7 [[0, 1]] output_shape [1, 6] : tensor<6xi64> into tensor<1x6xi64>
    %expanded_6 = tensor.expand_shape %7 [[0, 1]] output_shape [6, 1] : tensor<6xi64> into tensor<6x1xi64>
    %8 = tensor.empty() : tensor<6x6xi64>
    %9 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel"]} ins(%expanded_5, %expanded_6 : tensor<1x6xi64>, tensor<6x1xi64>) outs(%8 : tensor<6x6xi64>) {
    ^bb0(%in: i64, %in_11: i64, %out: i64):
      %28 = arith.subi %in, %in_11 : i64
      linalg.yield %28 : i64
    } -> tensor<6x6xi64>
    %10 = tensor.empty() : tensor<6x6xi1>
    %11 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<6x6xi64>) outs(%10 : tensor<6x6xi1>) {
    ^bb0(%in: i64, %out: i1):
      %28 = arith.cmpi sle, %in, %c0_i64 : i64
      linalg.yield %28 : i1
    } -> tensor<6x6xi1>
    %12 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%11, %cst_2 : tensor<6x6xi1>, tensor<6x6xi1>) outs(%10 : tensor<6x6xi1>) {
    ^bb0(%in: i1, %in_11: i1, %out: i1):
      %28 = arith.andi %in, %in_11 : i1
      linalg.yield %28 : i1
    } -> tensor<6x6xi1>
    %13 = linalg.generic {indexing_maps = [#map6, #map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %5, %cst_1 : tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: i1, %in_11: f32, %in_12: f32, %out: f32):
      %28 = arith.select %in, %in_11, %in_12 : f32
      linalg.yield %28 : f32
    } -> tensor<2x4x6x6xf32>
    %14 = tensor.empty() : tensor<2x4x6xi64>
    %15 = linalg.fill ins(%c0_i64 : i64) outs(%14 : tensor<2x4x6xi64>) -> tensor<2x4x6xi64>
    %16 = tensor.empty() : tensor<2x4x6xf32>
    %17 = linalg.fill ins(%cst_0 : f32) outs(%16 : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
    %18:2 = linalg.generic {indexing_maps = [#map, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%13 : tensor<2x4x6x6xf32>) outs(%17, %15 : tensor<2x4x6xf32>, tensor<2x4x6xi64>) {
    ^bb0(%in: f32, %out: f32, %out_11: i64):
      %28 = linalg.index 3 : index
      %29 = arith.index_cast %28 : index to i64
      %30 = arith.maximumf %in, %out : f32
      %31 = arith.cmpf ogt, %in, %out : f32
      %32 = arith.select %31, %29, %out_11 : i64
      linalg.yield %30, %32 : f32, i64
    } -> (tensor<2x4x6xf32>, tensor<2x4x6xi64>)
    %expanded_7 = tensor.expand_shape %18#0 [[0], [1], [2, 3]] output_shape [2, 4, 6, 1] : tensor<2x4x6xf32> into tensor<2x4x6x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13, %expanded_7 : tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %28 = arith.subf %in, %in_11 : f32
      linalg.yield %28 : f32
    } -> tensor<2x4x6x6xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19 : tensor<2x4x6x6xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %28 = math.exp %in : f32
      linalg.yield %28 : f32
    } -> tensor<2x4x6x6xf32>
    %21 = tensor.empty() : tensor<2x4x6x1xf32>
    %22 = linalg.fill ins(%cst : f32) outs(%21 : tensor<2x4x6x1xf32>) -> tensor<2x4x6x1xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%20 : tensor<2x4x6x6xf32>) outs(%22 : tensor<2x4x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %28 = arith.addf %in, %out : f32
      linalg.yield %28 : f32
    } -> tensor<2x4x6x1xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20, %23 : tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) outs(%4 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %28 = arith.divf %in, %in_11 : f32
      linalg.yield %28 : f32
    } -> tensor<2x4x6x6xf32>
    %collapsed_8 = tensor.collapse_shape %24 [[0, 1], [2], [3]] : tensor<2x4x6x6xf32> into tensor<8x6x6xf32>
    %collapsed_9 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<2x4x6x16xf32> into tensor<8x6x16xf32>
    %25 = tensor.empty() : tensor<8x6x16xf32>
    %26 = linalg.fill ins(%cst : f32) outs(%25 : tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
    %27 = linalg.batch_matmul ins(%collapsed_8, %collapsed_9 : tensor<8x6x6xf32>, tensor<8x6x16xf32>) outs(%26 : tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
    %expanded_10 = tensor.expand_shape %27 [[0, 1], [2], [3]] output_shape [2, 4, 6, 16] : tensor<8x6x16xf32> into tensor<2x4x6x16xf32>
    return %expanded_10 : tensor<2x4x6x16xf32>
  }
}
