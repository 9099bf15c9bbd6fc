// RUN: heed-opt %s --pass-pipeline='builtin.module(func.func(attn-name-kernels))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Each kind is counted by itself; a loop inside of a kernel belongs to it.
// CHECK-LABEL: @NamesSayWhatIsComputed
//       CHECK:   linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
//       CHECK:   } {heed.kernel = "elementwise0"}
//       CHECK:     linalg.matmul
//   CHECK-NOT:     heed.kernel
//       CHECK:   } {heed.kernel = "matmul0"}
//       CHECK:   } {heed.kernel = "rows0"}
//       CHECK:   } {heed.kernel = "elementwise1"}
func.func @NamesSayWhatIsComputed(%x: tensor<4x4xf32>, %r: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %0 = scf.forall (%i) in (1) shared_outs(%o = %x) -> tensor<4x4xf32> {
    %t = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<4x4xf32>) {
    ^bb0(%e: f32):
      %n = arith.negf %e : f32
      linalg.yield %n : f32
    } -> tensor<4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x4xf32>
    }
  }
  %1 = scf.forall (%i) in (1) shared_outs(%o = %0) -> tensor<4x4xf32> {
    %u = scf.forall (%j) in (1) shared_outs(%p = %o) -> tensor<4x4xf32> {
      %t = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%p : tensor<4x4xf32>) -> tensor<4x4xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %t into %p[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x4xf32>
      }
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %u into %o[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x4xf32>
    }
  }
  %2 = scf.forall (%i) in (1) shared_outs(%o = %r) -> tensor<4xf32> {
    %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%1 : tensor<4x4xf32>) outs(%o : tensor<4xf32>) {
    ^bb0(%e: f32, %sum: f32):
      %n = arith.addf %e, %sum : f32
      linalg.yield %n : f32
    } -> tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
    }
  }
  %3 = scf.forall (%i) in (1) shared_outs(%o = %1) -> tensor<4x4xf32> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x4xf32>
    }
  }
  return %3, %2 : tensor<4x4xf32>, tensor<4xf32>
}
