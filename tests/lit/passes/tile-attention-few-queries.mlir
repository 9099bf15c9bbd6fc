// RUN: heed-opt %s --attn-tile-attention --canonicalize --cse | FileCheck %s

// Keys and values are read where they lie, in parts; the heads of a group go over one part in turn. Then the
// states of the parts are merged.
// CHECK-LABEL: @FewQueriesReadKeysWhereTheyLie
//   CHECK-NOT:   linalg.transpose
//       CHECK:   scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (2, 3, {{.*}})
//       CHECK:     scf.for %{{.*}} = %c0 to %c4 step %c1
//       CHECK:       attn.online_attention ins(%{{.*}} : tensor<1x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>)
//       CHECK:   scf.forall (%{{.*}}, %{{.*}}) in (2, 12)
//       CHECK:     arith.divf
//   CHECK-NOT:   scf.forall (
//       CHECK:   return
func.func @FewQueriesReadKeysWhereTheyLie(%q: tensor<2x12x1x16xf32>, %k: tensor<2x3x?x16xf32>, %v: tensor<2x3x?x16xf32>) -> tensor<2x12x1x16xf32> {
  %0 = attn.attention %q, %k, %v : tensor<2x12x1x16xf32>, tensor<2x3x?x16xf32>, tensor<2x3x?x16xf32> -> tensor<2x12x1x16xf32>
  return %0 : tensor<2x12x1x16xf32>
}

// Where the number of queries is not known, one of the two ways has nothing to do, and no memory.
// CHECK-LABEL: @SizesChooseTheWay
//       CHECK:   %[[FEW:.*]] = arith.cmpi ule, %{{.*}}, %c8
//   CHECK-DAG:   %[[ONE:.*]] = arith.select %[[FEW]], %c2, %c0
//   CHECK-DAG:   %[[OTHER:.*]] = arith.select %[[FEW]], %c0, %c2
//       CHECK:   tensor.empty(%[[ONE]]
//       CHECK:   tensor.empty(%[[OTHER]]
func.func @SizesChooseTheWay(%q: tensor<2x3x?x16xf32>, %k: tensor<2x3x?x16xf32>, %v: tensor<2x3x?x16xf32>) -> tensor<2x3x?x16xf32> {
  %0 = attn.attention %q, %k, %v : tensor<2x3x?x16xf32>, tensor<2x3x?x16xf32>, tensor<2x3x?x16xf32> -> tensor<2x3x?x16xf32>
  return %0 : tensor<2x3x?x16xf32>
}
