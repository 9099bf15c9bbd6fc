// Layers to schedule: their parts are as large as what comes in, and the last ones are smaller.
module @layers {
  func.func @layers(%x: tensor<?x?x24xf32> {attn.name = "x", attn.shape = ["batch", "seq", 24]},
                    %gate: tensor<?x?x40xf32> {attn.name = "gate", attn.shape = ["batch", "seq", 40]},
                    %up: tensor<40x24xf32> {attn.name = "up"}, %bias: tensor<40xf32> {attn.name = "bias"},
                    %down: tensor<24x40xf32> {attn.name = "down"}) -> (tensor<?x?x24xf32> {attn.name = "y"}) {
    %0 = attn.linear %x, %up, %bias reads(%gate : tensor<?x?x40xf32>) maps [affine_map<(b, i, j) -> (b, i, j)>]
      epilogue(%sum, %read) {
      %0 = arith.mulf %sum, %read : f32
      attn.yield %0 : f32
    } : tensor<?x?x24xf32>, tensor<40x24xf32>, tensor<40xf32> -> tensor<?x?x40xf32>
    %1 = attn.linear %0, %down : tensor<?x?x40xf32>, tensor<24x40xf32> -> tensor<?x?x24xf32>
    return %1 : tensor<?x?x24xf32>
  }
}
