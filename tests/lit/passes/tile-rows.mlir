// RUN: heed-opt %s --attn-tile-rows --canonicalize --cse | FileCheck %s

#row = affine_map<(r, c) -> (r, c)>
#sum = affine_map<(r, c) -> (r)>

// CHECK-LABEL: @SumsJoinTheLoopThatNeedsThem
//   CHECK-NOT:   linalg.generic
//       CHECK:   scf.forall
//       CHECK:     linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]{{.*}} ins(%{{.*}} : tensor<1x8xf32>)
//       CHECK:     linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
//       CHECK:     tensor.parallel_insert_slice
func.func @SumsJoinTheLoopThatNeedsThem(%x: tensor<?x8xf32>, %init: tensor<?xf32>, %out: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<?x8xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %1 = arith.addf %s, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %2 = linalg.generic {indexing_maps = [#row, #sum, #row], iterator_types = ["parallel", "parallel"]}
    ins(%x, %0 : tensor<?x8xf32>, tensor<?xf32>) outs(%out : tensor<?x8xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %3 = arith.subf %a, %s : f32
    linalg.yield %3 : f32
  } -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}
