// A script with holes: what is done to the last layer, and by which sizes.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %layers = transform.structured.match ops{["attn.linear"]} in %module : (!transform.any_op) -> !transform.any_op
    %first, %last = transform.split_handle %layers : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %tile, %loop = transform.structured.KIND %last tile_sizes SIZES
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
