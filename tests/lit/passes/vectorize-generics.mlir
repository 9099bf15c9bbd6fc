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
func.func @TheRestIsMasked(%x: memref<4x?xf32>, %out: memref<4x?xf32>) {
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<4x?xf32>) outs(%out : memref<4x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  }
  return
}

// CHECK-LABEL: @ReductionKeepsSeveralAccumulators
//       CHECK:   scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
//       CHECK:   vector.create_mask
//       CHECK:   arith.select
//       CHECK:   vector.reduction <add>
func.func @ReductionKeepsSeveralAccumulators(%x: memref<4x?xf32>, %init: memref<4xf32>) {
  linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<4x?xf32>) outs(%init : memref<4xf32>) {
  ^bb0(%a: f32, %s: f32):
    %1 = arith.addf %s, %a : f32
    linalg.yield %1 : f32
  }
  return
}

// CHECK-LABEL: @ColumnsStayScalar
//       CHECK:   linalg.generic
func.func @ColumnsStayScalar(%x: memref<4x?xf32>, %out: memref<?x4xf32>) {
  linalg.generic {indexing_maps = [#col, #row], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<4x?xf32>) outs(%out : memref<?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}
