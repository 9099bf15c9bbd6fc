// Conversions and functions for which other compilers call libraries.
module @alone {
  func.func @alone(%x: tensor<9xf16> {attn.name = "x"}, %z: tensor<9xbf16> {attn.name = "z"})
      -> (tensor<9xf16> {attn.name = "tanh"}, tensor<9xbf16> {attn.name = "exp"}, tensor<9xf16> {attn.name = "softmax"},
          tensor<9xf16> {attn.name = "gelu"}, tensor<9xbf16> {attn.name = "floor"}) {
    %0 = math.tanh %x : tensor<9xf16>
    %1 = math.exp %z : tensor<9xbf16>
    %2 = attn.softmax %x : tensor<9xf16>
    %3 = attn.gelu %x : tensor<9xf16>
    %4 = math.floor %z : tensor<9xbf16>
    return %0, %1, %2, %3, %4 : tensor<9xf16>, tensor<9xbf16>, tensor<9xf16>, tensor<9xf16>, tensor<9xbf16>
  }
}
