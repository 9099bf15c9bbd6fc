// CHECK-NOT: attn.softmax
// CHECK: attn.attention %arg0, %arg1, %arg2 empty_rows(nan) reads(%arg3 : tensor<2x1x6x6xf16>) maps [#{{.*}}] score({{.*}}) {
// CHECK-NEXT: %{{.*}} = arith.constant 2.500000e-01 : f32
// CHECK-NEXT: %{{.*}} = arith.truncf %score : f32 to f16
// CHECK-NEXT: %{{.*}} = arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT: %{{.*}} = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %{{.*}} = arith.extf %read : f16 to f32
// CHECK-NEXT: %{{.*}} = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: attn.yield %{{.*}} : f32
// CHECK-NEXT: } : tensor<2x4x6x16xf16>, tensor<2x2x6x16xf16>, tensor<2x2x6x16xf16> -> tensor<2x4x6x16xf32>
// CHECK-NOT: attn.softmax
#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @attend(%arg0: tensor<2x4x6x16xf16>, %arg1: tensor<2x2x6x16xf16>, %arg2: tensor<2x2x6x16xf16>, %arg3: tensor<2x1x6x6xf16>) -> tensor<2x6x4x16xf16> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 2.500000e-01 : f16
    %0 = tensor.empty() : tensor<2x2x2x6x16xf16>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x2x6x16xf16>) outs(%0 : tensor<2x2x2x6x16xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<2x2x2x6x16xf16>
    %collapsed = tensor.collapse_shape %1 [[0], [1, 2], [3], [4]] : tensor<2x2x2x6x16xf16> into tensor<2x4x6x16xf16>
    %2 = tensor.empty() : tensor<2x4x16x6xf16>
    %transposed = linalg.transpose ins(%collapsed : tensor<2x4x6x16xf16>) outs(%2 : tensor<2x4x16x6xf16>) permutation = [0, 1, 3, 2] 
    %collapsed_2 = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<2x4x6x16xf16> into tensor<8x6x16xf16>
    %collapsed_3 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x4x16x6xf16> into tensor<8x16x6xf16>
    %3 = tensor.empty() : tensor<8x6x6xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %5 = linalg.batch_matmul ins(%collapsed_2, %collapsed_3 : tensor<8x6x16xf16>, tensor<8x16x6xf16>) outs(%4 : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %6 = tensor.empty() : tensor<8x6x6xf16>
    %7 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<8x6x6xf32>) outs(%6 : tensor<8x6x6xf16>) {
    ^bb0(%in: f32, %out: f16):
      %32 = arith.truncf %in : f32 to f16
      linalg.yield %32 : f16
    } -> tensor<8x6x6xf16>
    %expanded = tensor.expand_shape %7 [[0, 1], [2], [3]] output_shape [2, 4, 6, 6] : tensor<8x6x6xf16> into tensor<2x4x6x6xf16>
    %8 = tensor.empty() : tensor<2x4x6x6xf16>
    %9 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x4x6x6xf16>) outs(%8 : tensor<2x4x6x6xf16>) {
    ^bb0(%in: f16, %out: f16):
      %32 = arith.mulf %in, %cst_1 : f16
      linalg.yield %32 : f16
    } -> tensor<2x4x6x6xf16>
    %10 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9, %arg3 : tensor<2x4x6x6xf16>, tensor<2x1x6x6xf16>) outs(%8 : tensor<2x4x6x6xf16>) {
    ^bb0(%in: f16, %in_9: f16, %out: f16):
      %32 = arith.addf %in, %in_9 : f16
      linalg.yield %32 : f16
    } -> tensor<2x4x6x6xf16>
    %11 = tensor.empty() : tensor<2x4x6x6xf32>
    %12 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10 : tensor<2x4x6x6xf16>) outs(%11 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f16, %out: f32):
      %32 = arith.extf %in : f16 to f32
      linalg.yield %32 : f32
    } -> tensor<2x4x6x6xf32>
    %13 = tensor.empty() : tensor<2x4x6xi64>
    %14 = linalg.fill ins(%c0_i64 : i64) outs(%13 : tensor<2x4x6xi64>) -> tensor<2x4x6xi64>
    %15 = tensor.empty() : tensor<2x4x6xf32>
    %16 = linalg.fill ins(%cst_0 : f32) outs(%15 : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
    %17:2 = linalg.generic {indexing_maps = [#map3, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%12 : tensor<2x4x6x6xf32>) outs(%16, %14 : tensor<2x4x6xf32>, tensor<2x4x6xi64>) {
    ^bb0(%in: f32, %out: f32, %out_9: i64):
      %32 = linalg.index 3 : index
      %33 = arith.index_cast %32 : index to i64
      %34 = arith.maximumf %in, %out : f32
      %35 = arith.cmpf ogt, %in, %out : f32
      %36 = arith.select %35, %33, %out_9 : i64
      linalg.yield %34, %36 : f32, i64
    } -> (tensor<2x4x6xf32>, tensor<2x4x6xi64>)
    %expanded_4 = tensor.expand_shape %17#0 [[0], [1], [2, 3]] output_shape [2, 4, 6, 1] : tensor<2x4x6xf32> into tensor<2x4x6x1xf32>
    %18 = linalg.generic {indexing_maps = [#map3, #map6, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %expanded_4 : tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) outs(%11 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %32 = arith.subf %in, %in_9 : f32
      linalg.yield %32 : f32
    } -> tensor<2x4x6x6xf32>
    %19 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18 : tensor<2x4x6x6xf32>) outs(%11 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = math.exp %in : f32
      linalg.yield %32 : f32
    } -> tensor<2x4x6x6xf32>
    %20 = tensor.empty() : tensor<2x4x6x1xf32>
    %21 = linalg.fill ins(%cst : f32) outs(%20 : tensor<2x4x6x1xf32>) -> tensor<2x4x6x1xf32>
    %22 = linalg.generic {indexing_maps = [#map3, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%19 : tensor<2x4x6x6xf32>) outs(%21 : tensor<2x4x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.addf %in, %out : f32
      linalg.yield %32 : f32
    } -> tensor<2x4x6x1xf32>
    %23 = linalg.generic {indexing_maps = [#map3, #map6, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19, %22 : tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) outs(%11 : tensor<2x4x6x6xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %32 = arith.divf %in, %in_9 : f32
      linalg.yield %32 : f32
    } -> tensor<2x4x6x6xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23 : tensor<2x4x6x6xf32>) outs(%8 : tensor<2x4x6x6xf16>) {
    ^bb0(%in: f32, %out: f16):
      %32 = arith.truncf %in : f32 to f16
      linalg.yield %32 : f16
    } -> tensor<2x4x6x6xf16>
    %25 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<2x2x6x16xf16>) outs(%0 : tensor<2x2x2x6x16xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<2x2x2x6x16xf16>
    %collapsed_5 = tensor.collapse_shape %24 [[0, 1], [2], [3]] : tensor<2x4x6x6xf16> into tensor<8x6x6xf16>
    %collapsed_6 = tensor.collapse_shape %25 [[0, 1, 2], [3], [4]] : tensor<2x2x2x6x16xf16> into tensor<8x6x16xf16>
    %26 = tensor.empty() : tensor<8x6x16xf32>
    %27 = linalg.fill ins(%cst : f32) outs(%26 : tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
    %28 = linalg.batch_matmul ins(%collapsed_5, %collapsed_6 : tensor<8x6x6xf16>, tensor<8x6x16xf16>) outs(%27 : tensor<8x6x16xf32>) -> tensor<8x6x16xf32>
    %29 = tensor.empty() : tensor<8x6x16xf16>
    %30 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28 : tensor<8x6x16xf32>) outs(%29 : tensor<8x6x16xf16>) {
    ^bb0(%in: f32, %out: f16):
      %32 = arith.truncf %in : f32 to f16
      linalg.yield %32 : f16
    } -> tensor<8x6x16xf16>
    %expanded_7 = tensor.expand_shape %30 [[0, 1], [2], [3]] output_shape [2, 4, 6, 16] : tensor<8x6x16xf16> into tensor<2x4x6x16xf16>
    %31 = tensor.empty() : tensor<2x6x4x16xf16>
    %transposed_8 = linalg.transpose ins(%expanded_7 : tensor<2x4x6x16xf16>) outs(%31 : tensor<2x6x4x16xf16>) permutation = [0, 2, 1, 3] 
    return %transposed_8 : tensor<2x6x4x16xf16>
  }
}
