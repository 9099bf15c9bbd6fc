// A schedule: one parallel loop over batch entries and heads, in which the attention of a head feeds its gate. Left to
// itself, heed packs the keys of all heads first, and gates when all are done.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %gate = transform.structured.match ops{["linalg.mul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.fuse %gate tile_sizes [1, 1] {use_forall}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
