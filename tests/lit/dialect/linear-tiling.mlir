// RUN: heed-opt %s --attn-apply-schedule=file=%S/Inputs/tile-linear.mlir --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @RowsAndFeatures
//       CHECK:   scf.forall (%[[B:.*]], %[[I:.*]], %[[J:.*]]) in (%{{.*}}, %{{.*}}, 2)
//   CHECK-DAG:     %[[ROW:.*]] = affine.apply #{{.*}}(%[[I]])
//   CHECK-DAG:     %[[FEATURE:.*]] = affine.apply #{{.*}}(%[[J]])
//   CHECK-DAG:     %[[X:.*]] = tensor.extract_slice %arg0[%[[B]], %[[ROW]], 0] [1, %[[ROWS:.*]], 24] [1, 1, 1]
//   CHECK-DAG:     %[[W:.*]] = tensor.extract_slice %arg1[%[[FEATURE]], 0] [10, 24] [1, 1]
//       CHECK:     %[[Y:.*]] = attn.linear %[[X]], %[[W]] : tensor<1x?x24xf32>, tensor<10x24xf32> -> tensor<1x?x10xf32>
//       CHECK:     tensor.parallel_insert_slice %[[Y]] into %{{.*}}[%[[B]], %[[ROW]], %[[FEATURE]]] [1, %[[ROWS]], 10] [1, 1, 1]
func.func @RowsAndFeatures(%x: tensor<?x?x24xf32>, %w: tensor<20x24xf32>) -> tensor<?x?x20xf32> {
  %0 = attn.linear %x, %w : tensor<?x?x24xf32>, tensor<20x24xf32> -> tensor<?x?x20xf32>
  return %0 : tensor<?x?x20xf32>
}

// What the epilogue reads is cut where it goes with the result.
// CHECK-LABEL: @BiasReadsAndEpilogue
//   CHECK-DAG:     %[[BIAS:.*]] = tensor.extract_slice %arg2[%[[FEATURE:.*]]] [10] [1]
//   CHECK-DAG:     %[[RESIDUAL:.*]] = tensor.extract_slice %arg3[%{{.*}}, %{{.*}}, %[[FEATURE]]] [1, %{{.*}}, 10] [1, 1, 1]
//   CHECK-DAG:     %[[GAIN:.*]] = tensor.extract_slice %arg4[%[[FEATURE]]] [10] [1]
//       CHECK:     attn.linear %{{.*}}, %{{.*}}, %[[BIAS]] reads(%[[RESIDUAL]], %[[GAIN]] : {{.*}}) maps [#{{.*}}, #{{.*}}] epilogue
//  CHECK-NEXT:       arith.mulf
//  CHECK-NEXT:       arith.addf
func.func @BiasReadsAndEpilogue(%x: tensor<2x?x24xf16>, %w: tensor<20x24xf16>, %bias: tensor<20xf16>,
                                %residual: tensor<2x?x20xf32>, %gain: tensor<20xf32>) -> tensor<2x?x20xf16> {
  %0 = attn.linear %x, %w, %bias reads(%residual, %gain : tensor<2x?x20xf32>, tensor<20xf32>)
    maps [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (j)>] epilogue(%sum, %add, %times) {
    %0 = arith.mulf %sum, %times : f32
    %1 = arith.addf %0, %add : f32
    attn.yield %1 : f32
  } : tensor<2x?x24xf16>, tensor<20x24xf16>, tensor<20xf16> -> tensor<2x?x20xf16>
  return %0 : tensor<2x?x20xf16>
}
