func.func @static(%x: tensor<7x19xELEM>, %w: tensor<37x19xELEM>, %b: tensor<37xELEM>) -> tensor<7x37xELEM> {
  %0 = attn.linear %x, %w, %b : tensor<7x19xELEM>, tensor<37x19xELEM>, tensor<37xELEM> -> tensor<7x37xELEM>
  return %0 : tensor<7x37xELEM>
}
func.func @dynamic(%x: tensor<?x?x?xELEM> {attn.shape = ["b", "s", "k"]}, %w: tensor<?x?xELEM> {attn.shape = ["n", "k"]}) -> tensor<?x?x?xELEM> {
  %0 = attn.linear %x, %w : tensor<?x?x?xELEM>, tensor<?x?xELEM> -> tensor<?x?x?xELEM>
  return %0 : tensor<?x?x?xELEM>
}
func.func @vector(%x: tensor<24xELEM>, %w: tensor<16x24xELEM>) -> tensor<16xELEM> {
  %0 = attn.linear %x, %w : tensor<24xELEM>, tensor<16x24xELEM> -> tensor<16xELEM>
  return %0 : tensor<16xELEM>
}
func.func @epilogue(%x: tensor<?x24xELEM> {attn.shape = ["m", 24]}, %w: tensor<130x24xELEM>, %b: tensor<130xELEM>, %r: tensor<?x130xELEM> {attn.shape = ["m", 130]}) -> tensor<?x130xELEM> {
  %0 = attn.linear %x, %w, %b : tensor<?x24xELEM>, tensor<130x24xELEM>, tensor<130xELEM> -> tensor<?x130xELEM>
  %1 = attn.gelu %0 : tensor<?x130xELEM>
  %2 = arith.addf %1, %r : tensor<?x130xELEM>
  return %2 : tensor<?x130xELEM>
}
func.func @gated(%x: tensor<?x24xELEM>, %wg: tensor<20x24xELEM>, %wu: tensor<20x24xELEM>) -> tensor<?x20xELEM> {
  %g = attn.linear %x, %wg : tensor<?x24xELEM>, tensor<20x24xELEM> -> tensor<?x20xELEM>
  %u = attn.linear %x, %wu : tensor<?x24xELEM>, tensor<20x24xELEM> -> tensor<?x20xELEM>
  %0 = attn.gated %g, %u activation(silu) : tensor<?x20xELEM>
  return %0 : tensor<?x20xELEM>
}
