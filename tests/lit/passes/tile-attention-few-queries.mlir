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

// More are worth transposing the keys of a step. Those of the next one are fetched meanwhile.
// CHECK-LABEL: @StepsFetchTheNextKeys
//       CHECK:   scf.for %[[KEY:.*]] = %{{.*}} to %[[END:.*]] step %c64 iter_args
//       CHECK:     linalg.transpose
//       CHECK:     %[[NEXT:.*]] = arith.addi %[[KEY]], 
//       CHECK:     %[[AHEAD:.*]] = tensor.extract_slice %arg1[%{{.*}}, %{{.*}}, %[[NEXT]], 0]
//       CHECK:     attn.online_attention {{.*}} ahead(%[[AHEAD]] : tensor<?x16xf32>)
func.func @StepsFetchTheNextKeys(%q: tensor<2x3x5x16xf32>, %k: tensor<2x3x?x16xf32>, %v: tensor<2x3x?x16xf32>) -> tensor<2x3x5x16xf32> {
  %0 = attn.attention %q, %k, %v : tensor<2x3x5x16xf32>, tensor<2x3x?x16xf32>, tensor<2x3x?x16xf32> -> tensor<2x3x5x16xf32>
  return %0 : tensor<2x3x5x16xf32>
}

// Where the number of queries is not known, but one of the three ways has anything to do, and memory.
// CHECK-LABEL: @SizesChooseTheWay
//       CHECK:   %[[FEW:.*]] = arith.cmpi ule, %[[QUERIES:.*]], %c3
//       CHECK:   %[[FIRST:.*]] = arith.select %[[FEW]], %c2, %c0
//       CHECK:   tensor.empty(%[[FIRST]]
//       CHECK:   %[[MORE:.*]] = arith.cmpi ugt, %[[QUERIES]], %c3
//       CHECK:   %[[TILE:.*]] = arith.cmpi ule, %[[QUERIES]], %c96
//       CHECK:   %[[BOTH:.*]] = arith.andi %[[MORE]], %[[TILE]]
//       CHECK:   %[[SECOND:.*]] = arith.select %[[BOTH]], %c2, %c0
//       CHECK:   tensor.empty(%[[SECOND]]
//       CHECK:   %[[MANY:.*]] = arith.cmpi ugt, %[[QUERIES]], %c96
//       CHECK:   %[[THIRD:.*]] = arith.select %[[MANY]], %c2, %c0
//       CHECK:   tensor.empty(%[[THIRD]]
func.func @SizesChooseTheWay(%q: tensor<2x3x?x16xf32>, %k: tensor<2x3x?x16xf32>, %v: tensor<2x3x?x16xf32>) -> tensor<2x3x?x16xf32> {
  %0 = attn.attention %q, %k, %v : tensor<2x3x?x16xf32>, tensor<2x3x?x16xf32>, tensor<2x3x?x16xf32> -> tensor<2x3x?x16xf32>
  return %0 : tensor<2x3x?x16xf32>
}

// A size that only a cast hides is a size that is known.
// CHECK-LABEL: @SizesBehindACast
//       CHECK:   tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0, 0] [1, 2, 16] [1, 1, 1]
func.func @SizesBehindACast(%q: tensor<2x2x16xf32>, %k: tensor<2x7x16xf32>, %v: tensor<2x7x16xf32>) -> tensor<2x?x16xf32> {
  %cast = tensor.cast %q : tensor<2x2x16xf32> to tensor<2x?x16xf32>
  %0 = attn.attention %cast, %k, %v layout("bqd,bkd,bke->bqe")
    : tensor<2x?x16xf32>, tensor<2x7x16xf32>, tensor<2x7x16xf32> -> tensor<2x?x16xf32>
  return %0 : tensor<2x?x16xf32>
}

// With a mask that asks there are two. For a few queries, one copy of the code has keys that all keep, and those
// that are asked.
// CHECK-LABEL: @MasksLeaveTwoWays
//       CHECK:   arith.cmpi ule, %{{.*}}, %c8
//       CHECK:   scf.for %[[TURN:.*]] = %c0 to %c2 step %c1
//       CHECK:     %[[ASKS:.*]] = arith.cmpi ne, %[[TURN]], %c0
//       CHECK:     attn.online_attention {{.*}} asks(%[[ASKS]]) keep
//   CHECK-NOT:     attn.online_attention
//       CHECK:   arith.cmpi ugt, %{{.*}}, %c8
//   CHECK-NOT:   arith.cmpi ugt, %{{.*}}, %c96
// CHECK-COUNT-2:   attn.online_attention
//       CHECK:   return
func.func @MasksLeaveTwoWays(%q: tensor<2x3x?x16xf32>, %k: tensor<2x3x?x16xf32>, %v: tensor<2x3x?x16xf32>) -> tensor<2x3x?x16xf32> {
  %0 = attn.attention %q, %k, %v keep(%b, %h, %i, %j, %lq, %lk) {
    %keep = attn.causal %i, %j
    attn.yield %keep : i1
  } : tensor<2x3x?x16xf32>, tensor<2x3x?x16xf32>, tensor<2x3x?x16xf32> -> tensor<2x3x?x16xf32>
  return %0 : tensor<2x3x?x16xf32>
}

// The queries of a tile are at most 16, and may be more than few: keys are transposed, step by step.
// CHECK-LABEL: @TilesHaveAMost
//       CHECK:   scf.forall
//   CHECK-NOT:   arith.cmpi ule
//       CHECK:   linalg.transpose
//       CHECK:   attn.online_attention {{.*}}tensor<?x8x16xf32>
//       CHECK:   return
func.func @TilesHaveAMost(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %0 = scf.forall (%i) = (0) to (%n) step (16) shared_outs(%out = %empty) -> (tensor<?x8xf32>) {
    %rows = affine.min affine_map<(i)[n] -> (16, n - i)>(%i)[%n]
    %tile = tensor.extract_slice %q[%i, 0] [%rows, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %1 = attn.attention %tile, %k, %v layout("qd,kd,ke->qe") : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %out[%i, 0] [%rows, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
    }
  }
  return %0 : tensor<?x8xf32>
}
