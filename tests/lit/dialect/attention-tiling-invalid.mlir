// RUN: not heed-opt %s --split-input-file --attn-apply-schedule=file=%S/Inputs/tile-columns.mlir 2>&1 | FileCheck %s

!t = tensor<2x3x35x8xf32>

func.func @ColumnsBesideTheirSum(%q: !t, %k: !t, %v: !t) -> (!t, tensor<2x3x35xf32>) {
  // CHECK: [[#@LINE + 1]]:{{.*}} 'attn.attention' op expected a tile of all value columns, which have one log_sum_exp
  %0, %1 = attn.attention %q, %k, %v : !t, !t, !t -> !t, tensor<2x3x35xf32>
  return %0, %1 : !t, tensor<2x3x35xf32>
}

// -----
!t = tensor<2x3x35x8xf32>

func.func @OffsetsOfTwo(%q: !t, %k: !t, %v: !t, %o: tensor<2xi32>) -> !t {
  // CHECK: [[#@LINE + 1]]:{{.*}} 'attn.attention' op expected a tile of one batch entry, each of which has its own query offset
  %0 = attn.attention %q, %k, %v query_offset(%o : tensor<2xi32>) : !t, !t, !t -> !t
  return %0 : !t
}

// -----
!q = tensor<2x4x35x8xf32>
!k = tensor<2x2x35x8xf32>

func.func @PartsOfTwoGroups(%q: !q, %k: !k, %v: !k) -> !q {
  // CHECK: [[#@LINE + 1]]:{{.*}} 'attn.attention' op expected a tile of one head, or of whole groups of heads, or within one group
  %0 = attn.attention %q, %k, %v : !q, !k, !k -> !q
  return %0 : !q
}
