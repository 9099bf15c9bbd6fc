// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: heed-opt model.mlir --attn-apply-schedule=file=heads.mlir | FileCheck model.mlir

// RUN: not heed-opt model.mlir --attn-apply-schedule=file=none.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: could not open input file none.mlir
// RUN: not heed-opt model.mlir --attn-apply-schedule=file=model.mlir 2>&1 | FileCheck %s --check-prefix=UNNAMED
// UNNAMED: model.mlir:{{.*}}: error: expected a transform.named_sequence @__transform_main
// RUN: not heed-opt model.mlir --attn-apply-schedule=file=function.mlir 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: function.mlir:4:{{.*}}: error: only TilingInterface ops are supported

// What heed says of it is one line, and nothing is printed on standard output.
// RUN: not heed compile model.mlir --insert='fused:attn-apply-schedule{file=function.mlir}' --emit=fused 2> error.txt | count 0
// RUN: FileCheck %s --check-prefix=HEED < error.txt
// HEED: heed: error: function.mlir:4:{{.*}}: only TilingInterface ops are supported

//--- model.mlir
!t = tensor<2x4x?x16xf32>

// Attention joins the loop of what it feeds, and no operation on whole tensors stays, not even for its sizes.
// CHECK-LABEL: @ProducerJoins
//   CHECK-NOT:   attn.attention
//       CHECK:   scf.forall (%[[B:.*]], %[[H:.*]]) in (2, 4)
//       CHECK:     %[[TILE:.*]] = attn.attention {{.*}} -> tensor<1x1x?x16xf32>
//       CHECK:     linalg.mul ins(%[[TILE]], %{{.*}} : tensor<1x1x?x16xf32>
//   CHECK-NOT:   attn.attention
//       CHECK:   return
func.func @ProducerJoins(%q: !t, %k: !t, %v: !t) -> !t {
  %0 = attn.attention %q, %k, %v : !t, !t, !t -> !t
  %1 = linalg.mul ins(%0, %k : !t, !t) outs(%q : !t) -> !t
  return %1 : !t
}

//--- heads.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %product = transform.structured.match ops{["linalg.mul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.fuse %product tile_sizes [1, 1] {use_forall}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

//--- function.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %function = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %function tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
