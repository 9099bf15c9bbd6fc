// RUN: heed-opt %s --attn-vectorize-generics --canonicalize --cse | FileCheck %s

#row = affine_map<(r, c) -> (r, c)>
#sum = affine_map<(r, c) -> (r)>
#col = affine_map<(r, c) -> (c, r)>

// CHECK-LABEL: @TheRestIsMasked
//       CHECK:   vector.transfer_read %arg0[%{{.*}}, %{{.*}}], %{{[^,]*}} {in_bounds = [true]}
//       CHECK:   arith.addf %{{.*}} : vector<8xf32>
//       CHECK:   %[[MASK:.*]] = vector.create_mask
//       CHECK:   vector.transfer_read %arg0[%{{.*}}, %{{.*}}], %{{.*}}, %[[MASK]]
//       CHECK:   vector.transfer_write {{.*}}, %[[MASK]]
func.func @TheRestIsMasked(%x: tensor<4x?xf32>, %out: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<4x?xf32>) outs(%out : tensor<4x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// CHECK-LABEL: @ReductionKeepsSeveralAccumulators
//       CHECK:   scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
//       CHECK:   vector.create_mask
//       CHECK:   arith.select
//       CHECK:   vector.reduction <add>
func.func @ReductionKeepsSeveralAccumulators(%x: tensor<4x?xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<4x?xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %s: f32):
    %1 = arith.addf %s, %a : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @ColumnsStayScalar
//       CHECK:   linalg.generic
func.func @ColumnsStayScalar(%x: tensor<4x?xf32>, %out: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = linalg.generic {indexing_maps = [#col, #row], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<4x?xf32>) outs(%out : tensor<?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
