// RUN: heed-opt %s --attn-apply-schedule=file=%S/Inputs/tile-attention.mlir --canonicalize --cse | FileCheck %s

!q = tensor<2x4x35x8xf32>
!k = tensor<2x4x?x8xf32>

// CHECK-LABEL: @AGroupReadsItsKeyHead
//       CHECK:     %[[SHARED:.*]] = arith.divui %[[H:.*]], %c2
//       CHECK:     tensor.extract_slice %arg0[%[[Q:.*]], %[[B:.*]], %[[H]], 0] [%{{.*}}, 1, 2, 8]
//       CHECK:     tensor.extract_slice %arg1[%[[B]], %[[SHARED]], 0, 0] [1, 1, %{{.*}}, 8]
//       CHECK:     tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[B]], %[[Q]], %[[H]], 0]
func.func @AGroupReadsItsKeyHead(%q: tensor<35x2x4x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x?x8xf32>) -> tensor<2x35x4x8xf32> {
  %0 = attn.attention %q, %k, %v layout("qbhd,bhkd,bhke->bqhe") : tensor<35x2x4x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x8xf32> -> tensor<2x35x4x8xf32>
  return %0 : tensor<2x35x4x8xf32>
}

// CHECK-LABEL: @EveryOption
//   CHECK-DAG:     %[[LENGTHS:.*]] = tensor.extract_slice %arg3[%[[B:.*]]] [1] [1]
//   CHECK-DAG:     %[[OFFSETS:.*]] = tensor.extract_slice %arg4[%[[B]]] [1] [1]
//   CHECK-DAG:     %[[OFFSET:.*]] = tensor.extract %[[OFFSETS]][%c0]
//   CHECK-DAG:     %[[BEGIN:.*]] = arith.index_cast %[[OFFSET]]
//   CHECK-DAG:     %[[FIRST:.*]] = arith.addi %[[BEGIN]], %[[Q:.*]] : index
//   CHECK-DAG:     %[[SINKS:.*]] = tensor.extract_slice %arg5[%[[H:.*]]] [2] [1]
//       CHECK:     %[[PART:.*]], %[[SUMS:.*]] = attn.attention %{{.*}} key_lengths(%[[LENGTHS]] : {{.*}}) query_offset(%[[FIRST]] : index) key_offset(%[[OFFSETS]] : {{.*}}) sinks(%[[SINKS]] : {{.*}})
//       CHECK:     tensor.parallel_insert_slice %[[PART]] into %{{.*}}[%[[B]], %[[H]], %[[Q]], 0]
//       CHECK:     tensor.parallel_insert_slice %[[SUMS]] into %{{.*}}[%[[B]], %[[H]], %[[Q]]]
func.func @EveryOption(%q: !q, %k: !k, %v: !k, %n: tensor<2xi64>, %o: tensor<2xi32>, %s: tensor<4xf32>) -> (!q, tensor<2x4x35xf32>) {
  %0, %1 = attn.attention %q, %k, %v key_lengths(%n : tensor<2xi64>) query_offset(%o : tensor<2xi32>) key_offset(%o : tensor<2xi32>) sinks(%s : tensor<4xf32>)
    : !q, !k, !k -> !q, tensor<2x4x35xf32>
  return %0, %1 : !q, tensor<2x4x35xf32>
}

// CHECK-LABEL: @WithoutBatchAndHead
//       CHECK:   scf.forall (%[[TILE:.*]]) in (%{{.*}})
//       CHECK:     %[[Q:.*]] = affine.apply #{{.*}}(%[[TILE]])
//       CHECK:     tensor.extract_slice %arg0[%[[Q]], 0] [%{{.*}}, 8]
//       CHECK:     attn.attention %{{.*}} query_offset(%[[Q]] : index)
func.func @WithoutBatchAndHead(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = attn.attention %q, %k, %v layout("qd,kd,ke->qe") : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
