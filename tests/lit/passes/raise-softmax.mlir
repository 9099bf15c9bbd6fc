// RUN: heed-opt %s --attn-raise-softmax --canonicalize | FileCheck %s
// RUN: heed-opt %s --attn-raise-softmax=remarks=true 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: @Upstream
//       CHECK:   attn.softmax %arg0 axis(1) empty_rows(nan)
func.func @Upstream(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %empty = tensor.empty() : tensor<5x7xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<5x7xf32>) outs(%empty : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// CHECK-LABEL: @OneOperationForAllThatFollowsTheMaximum
//       CHECK:   attn.softmax %arg0 axis(1) empty_rows(nan)
//   CHECK-NOT:   math.exp
func.func @OneOperationForAllThatFollowsTheMaximum(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<5xf32>
  %all = tensor.empty() : tensor<5x7xf32>
  %lows = linalg.fill ins(%low : f32) outs(%rows : tensor<5xf32>) -> tensor<5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<5x7xf32>) outs(%lows : tensor<5xf32>) dimensions = [1]
  %exp = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %max : tensor<5x7xf32>, tensor<5xf32>) outs(%all : tensor<5x7xf32>) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<5x7xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<5x7xf32>) outs(%zeros : tensor<5xf32>) dimensions = [1]
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%exp, %sum : tensor<5x7xf32>, tensor<5xf32>) outs(%all : tensor<5x7xf32>) {
  ^bb0(%e: f32, %s: f32, %out: f32):
    %w = arith.divf %e, %s : f32
    linalg.yield %w : f32
  } -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// CHECK-LABEL: @WithoutMaximumStays
//   CHECK-NOT:   attn.softmax
//      REMARK: remark: [softmax-without-maximum] not fused: expected exponentials of scores less their maximum, but got
func.func @WithoutMaximumStays(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<5xf32>
  %all = tensor.empty() : tensor<5x7xf32>
  %exp = math.exp %x : tensor<5x7xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<5x7xf32>) outs(%zeros : tensor<5xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<5xf32>) outs(%all : tensor<5x7xf32>) dimensions = [1]
  %0 = arith.divf %exp, %sums : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}
