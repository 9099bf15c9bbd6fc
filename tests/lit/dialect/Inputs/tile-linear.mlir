module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %layer = transform.structured.match ops{["attn.linear"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %layer tile_sizes [1, 6, 10]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
