#ifndef HEED_DIALECT_ATTN_LAYER_OPS
#define HEED_DIALECT_ATTN_LAYER_OPS

include "dialect/AttnScoreOps.td"

class AttnLayerOp<string mnemonic, list<Trait> traits = []>
    : AttnOp<mnemonic, !listconcat([Pure, ReifiesShape], traits)>;

/// The result has the type of the first operand, which is called `first`.
class AttnInPlaceOp<string mnemonic, string first, list<Trait> traits = []>
    : AttnOp<mnemonic, !listconcat([Pure, AllTypesMatch<[first, "result"]>, ShapedLikeFirstOperand], traits)>;

def ParamOp : AttnOp<"param", [Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A parameter of the model, by name";
  let description = [{
    The value lies in the parameter image, never in the IR. The module's recipe says from which file, tensor
    and slice it is made; without one it is the tensor of the same name.

    Constraints:
    - (C1) The name is not empty.
    - (C2) The shape is static.

    ```mlir
    %query_weight = attn.param "encoder.layer.0.attention.self.query.weight" : tensor<384x384xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs AttnTensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def LinearOp : AttnLayerOp<"linear", [AttrSizedOperandSegments, IsolatedFromAbove, NoTerminator,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames", "getAsmResultNames"]>]> {
  let summary = "Affine map of the last dimension, with an optional epilogue";
  let description = [{
    `y[…, n] = epilogue(sum_k x[…, k] · weight[n, k] + bias[n])`, sums in f32 (Vaswani et al. 2017, section
    3.3). The result is named after the parameter that the weight is.

    Constraints:
    - (C1) `input` has rank at least 1.
    - (C2) `weight` is [n, k], k the last size of `input`.
    - (C3) Element types of `input` and `weight` are equal.
    - (C4) `bias` is [n].
    - (C5) The result is `input` with n as last size.
    - (C6) Each read has a map from the coordinates of the result, which stays inside the read's static sizes.
    - (C7) The epilogue takes the sum and the reads, and yields f32; there are no reads without it.

    ```mlir
    %hidden = attn.linear %x, %weight, %bias epilogue(%sum) {
      %zero = arith.constant 0.0 : f32
      %relu = arith.maximumf %sum, %zero : f32
      attn.yield %relu : f32
    } : tensor<?x?x512xf32>, tensor<2048x512xf32>, tensor<2048xf32> -> tensor<?x?x2048xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$input, AttnFloatTensor:$weight, Optional<AttnFloatTensor>:$bias,
    Variadic<AttnFloatTensor>:$reads, DefaultValuedAttr<AffineMapArrayAttr, "{}">:$read_maps);
  let results = (outs AttnFloatTensor:$result);
  let regions = (region MaxSizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $input `,` $weight (`,` $bias^)? (`reads` `(` $reads^ `:` type($reads) `)` `maps` $read_maps)?
    `` custom<Epilogue>($epilogue, ref(type($reads)), ref($read_maps))
    attr-dict `:` type($input) `,` type($weight) (`,` type($bias)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def LayerNormOp : AttnInPlaceOp<"layer_norm", "input", [AttrSizedOperandSegments, NamesResult<"normalized">]> {
  let summary = "Normalization of the last dimension to mean 0 and variance 1";
  let description = [{
    `y = (x − mean(x)) / sqrt(var(x) + epsilon) · weight + bias`, var the mean square of `x − mean(x)`, in f32
    (Ba et al. 2016).

    Constraints:
    - (C1) `input` has rank at least 1.
    - (C2) `weight` and `bias` have one element per feature.
    - (C3) `epsilon` is positive and finite.

    ```mlir
    %normalized = attn.layer_norm %x, %weight, %bias epsilon(1.0e-12)
      : tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$input, Optional<AttnFloatTensor>:$weight, Optional<AttnFloatTensor>:$bias,
    F64Attr:$epsilon);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = [{$input (`,` $weight^ (`,` $bias^)?)? `epsilon` `(` $epsilon `)` attr-dict
    `:` type($input) (`,` type($weight)^ (`,` type($bias)^)?)?}];
  let hasVerifier = 1;
}

def RmsNormOp : AttnInPlaceOp<"rms_norm", "input", [NamesResult<"normalized">]> {
  let summary = "Normalization of the last dimension by its root mean square";
  let description = [{
    `y = x / sqrt(mean(x²) + epsilon) · (weight + offset)`, in f32 (Zhang and Sennrich 2019, eq. 4). `offset` is 1
    in Gemma.

    Constraints:
    - (C1) `input` has rank at least 1.
    - (C2) `weight` has one element per feature.
    - (C3) `epsilon` is positive and finite.
    - (C4) `offset` is finite.

    ```mlir
    %normalized = attn.rms_norm %x, %weight epsilon(1.0e-6) : tensor<?x?x2048xbf16>, tensor<2048xbf16>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$input, Optional<AttnFloatTensor>:$weight, F64Attr:$epsilon,
    DefaultValuedAttr<F64Attr, "0.0">:$offset);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = [{$input (`,` $weight^)? `epsilon` `(` $epsilon `)` (`offset` `(` $offset^ `)`)? attr-dict
    `:` type($input) (`,` type($weight)^)?}];
  let hasVerifier = 1;
}

class AttnActivationOp<string mnemonic>
    : AttnScoreOp<mnemonic, [SameOperandsAndResultType, NamesResult<"activated">]> {
  let arguments = (ins AttnFloatTensor:$input);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def ReluOp : AttnActivationOp<"relu"> {
  let summary = "Rectified linear unit";
  let description = [{
    `y = max(x, 0)`; a NaN stays (Vaswani et al. 2017, eq. 2).

    ```mlir
    %activated = attn.relu %x : tensor<?x?x2048xf32>
    ```
  }];
  let hasFolder = 1;
}

def SiluOp : AttnActivationOp<"silu"> {
  let summary = "Sigmoid linear unit";
  let description = [{
    `y = x / (1 + exp(−x))` (Hendrycks and Gimpel 2016).

    ```mlir
    %activated = attn.silu %x : tensor<?x?x2048xf32>
    ```
  }];
}

def GeluOp : AttnActivationOp<"gelu"> {
  let summary = "Gaussian error linear unit";
  let description = [{
    `exact`: `y = x/2 · (1 + erf(x/√2))`; `tanh`: `y = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))`
    (Hendrycks and Gimpel 2016).

    ```mlir
    %activated = attn.gelu %x : tensor<?x?x1536xf32>
    %activated_0 = attn.gelu %x form(tanh) : tensor<?x?x1536xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$input, DefaultValuedAttr<Attn_GeluFormAttr, "::heed::attn::GeluForm::Exact">:$form);
  let assemblyFormat = "$input (`form` `(` custom<Keyword>($form)^ `)`)? attr-dict `:` type($input)";
}

def GatedOp : AttnScoreOp<"gated", [SameOperandsAndResultType, NamesResult<"gated">], ["getScoreReads"]> {
  let summary = "Gated linear unit";
  let description = [{
    `y = activation(gate) · up` (Shazeer 2020, eq. 6); `silu` makes SwiGLU, `gelu` GEGLU.

    ```mlir
    %gated = attn.gated %gate, %up activation(silu) : tensor<?x?x5632xbf16>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$gate, AttnFloatTensor:$up, Attn_ActivationAttr:$activation);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$gate `,` $up `activation` `(` custom<Keyword>($activation) `)` attr-dict `:` type($gate)";
}

def EmbeddingOp : AttnLayerOp<"embedding", [NamesResult<"embedded">]> {
  let summary = "Rows of a table by number";
  let description = [{
    `y[…, d] = table[ids[…], d]` (Vaswani et al. 2017, section 3.4). Ids outside the table are refused at run time
    before any access.

    Constraints:
    - (C1) `table` has rank 2.
    - (C2) The result is the shape of `ids`, then the width of `table`.

    ```mlir
    %embedded = attn.embedding %table, %ids : (tensor<30522x384xf32>, tensor<?x?xi64>) -> tensor<?x?x384xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$table, AttnIntegerTensor:$ids);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$table `,` $ids attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def SinusoidalPositionsOp : AttnInPlaceOp<"sinusoidal_positions", "input", [NamesResult<"positioned">]> {
  let summary = "Addition of sinusoidal positions";
  let description = [{
    `y[…, s, 2i] = x[…, s, 2i] + sin(p / base^(2i/d))`, `y[…, s, 2i+1] = x[…, s, 2i+1] + cos(p / base^(2i/d))`,
    `p = s + offset` (Vaswani et al. 2017, section 3.5).

    Constraints:
    - (C1) `input` has rank at least 2.
    - (C2) Its last size d is even.
    - (C3) `base` is positive and finite.
    - (C4) An `offset` per batch entry has the first size of an `input` of rank at least 3.

    ```mlir
    %positioned = attn.sinusoidal_positions %x offset(%past : index) : tensor<?x?x512xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$input, Optional<AttnPosition>:$offset,
    DefaultValuedAttr<F64Attr, "10000.0">:$base);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = [{$input oilist(`offset` `(` $offset `:` type($offset) `)` | `base` `(` $base `)`)
    attr-dict `:` type($input)}];
  let hasVerifier = 1;
}

def LearnedPositionsOp : AttnInPlaceOp<"learned_positions", "input", [NamesResult<"positioned">]> {
  let summary = "Addition of a learned row per position";
  let description = [{
    `y[…, s, d] = x[…, s, d] + table[s + offset, d]` (Gehring et al. 2017, section 3.1). Positions past the table
    are refused at run time before any access.

    Constraints:
    - (C1) `input` has rank at least 2.
    - (C2) `table` is [positions, last size of `input`].
    - (C3) There are at most as many positions as rows.
    - (C4) An `offset` per batch entry has the first size of an `input` of rank at least 3.

    ```mlir
    %positioned = attn.learned_positions %x, %table : tensor<?x?x384xf32>, tensor<512x384xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$input, AttnFloatTensor:$table, Optional<AttnPosition>:$offset);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = [{$input `,` $table (`offset` `(` $offset^ `:` type($offset) `)`)? attr-dict
    `:` type($input) `,` type($table)}];
  let hasVerifier = 1;
}

def RotaryOp : AttnInPlaceOp<"rotary", "input", [NamesResult<"rotated">]> {
  let summary = "Rotation of pairs of features by an angle that grows with the position";
  let description = [{
    Pair i of the first `width` features turns by `p / base^(2i/width)`: `(x, y) → (x cos − y sin, y cos + x sin)`
    (Su et al. 2021, eq. 34). `interleaved` pairs 2i with 2i + 1, `halves` i with i + width/2. Positions p run
    along `axis` from `offset`. Features past `width` stay; without `width` there are none.

    Constraints:
    - (C1) `axis` is a dimension of `input` before the last.
    - (C2) `width` is even and positive; without it, the last size is even.
    - (C3) `width` is at most the last size.
    - (C4) `base` is positive and finite.
    - (C5) An `offset` per batch entry has the first size of `input`, which is not `axis`.

    ```mlir
    %rotated = attn.rotary %query pairing(halves) offset(%past : index) base(500000.0) : tensor<?x32x?x64xbf16>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$input, Optional<AttnPosition>:$offset, Attn_PairingAttr:$pairing,
    DefaultValuedAttr<F64Attr, "10000.0">:$base, DefaultValuedAttr<I64Attr, "-2">:$axis, OptionalAttr<I64Attr>:$width);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = [{$input `pairing` `(` custom<Keyword>($pairing) `)` oilist(`offset` `(` $offset `:` type($offset) `)`
    | `base` `(` $base `)` | `axis` `(` $axis `)` | `width` `(` $width `)`) attr-dict `:` type($input)}];
  let hasVerifier = 1;
}

def SplitHeadsOp : AttnLayerOp<"split_heads", [NamesResult<"heads">]> {
  let summary = "The last dimension becomes heads of features, heads first";
  let description = [{
    `y[…, h, s, d] = x[…, s, h · width + d]` (Vaswani et al. 2017, section 3.2.2).

    Constraints:
    - (C1) `input` has rank at least 2.
    - (C2) `heads` is at least 1 and divides the last size of `input`.
    - (C3) The result is […, heads, s, last size ÷ heads].

    ```mlir
    %heads = attn.split_heads %x heads(12) : tensor<?x?x384xf32> -> tensor<?x12x?x32xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$input, I64Attr:$heads);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$input `heads` `(` $heads `)` attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def MergeHeadsOp : AttnLayerOp<"merge_heads", [NamesResult<"merged">]> {
  let summary = "Heads of features become the last dimension";
  let description = [{
    `y[…, s, h · width + d] = x[…, h, s, d]`: the inverse of `attn.split_heads`.

    Constraints:
    - (C1) `input` has rank at least 3.
    - (C2) The result is […, s, h · d].

    ```mlir
    %merged = attn.merge_heads %x : tensor<?x12x?x32xf32> -> tensor<?x?x384xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$input);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def CacheUpdateOp : AttnInPlaceOp<"cache_update", "cache", [NamesResult<"cache">]> {
  let summary = "New keys or values written into a cache";
  let description = [{
    `result[b, …, p + s, d] = entries[b, …, s, d]`, elsewhere the cache; `p` is `position`, one for all or one per
    batch entry. Positions run along `axis`. Done in place where the cache is a state argument. Positions past
    the capacity are refused at run time before any access.

    Constraints:
    - (C1) `axis` is a dimension of `cache` before the last.
    - (C2) Element types of `cache` and `entries` are equal.
    - (C3) Sizes of `entries` equal those of `cache`, save along `axis`.
    - (C4) There are at most as many entries as the cache holds.
    - (C5) A `position` per batch entry has the first size of `cache`, which is not `axis`.

    ```mlir
    %cache = attn.cache_update %past_keys, %key at %past
      : tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, index
    ```
  }];
  let arguments = (ins AttnFloatTensor:$cache, AttnFloatTensor:$entries, AttnPosition:$position,
    DefaultValuedAttr<I64Attr, "-2">:$axis);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = [{$cache `,` $entries `at` $position (`axis` `(` $axis^ `)`)? attr-dict
    `:` type($cache) `,` type($entries) `,` type($position)}];
  let hasVerifier = 1;
}

def ArgmaxOp : AttnLayerOp<"argmax", [NamesResult<"indices">]> {
  let summary = "Where the largest element of the last dimension is";
  let description = [{
    Ties take the lowest index; a NaN counts as largest.

    Constraints:
    - (C1) `input` has rank at least 1.
    - (C2) Its last size is not 0.
    - (C3) `indices` is `input` without the last dimension.

    ```mlir
    %indices = attn.argmax %logits : tensor<?x32000xf32> -> tensor<?xi64>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$input);
  let results = (outs RankedTensorOf<[I64]>:$indices);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($indices)";
  let hasVerifier = 1;
}

def TopKOp : AttnLayerOp<"top_k"> {
  let summary = "The k largest elements of the last dimension, in falling order, and where they are";
  let description = [{
    Ties take the lower index first; a NaN counts as largest.

    Constraints:
    - (C1) `input` has rank at least 1.
    - (C2) `1 <= k`, at most the last size.
    - (C3) `values` and `indices` are `input` with k as last size.
    - (C4) `values` has the element type of `input`.

    ```mlir
    %values, %indices = attn.top_k %logits k(40) : tensor<?x32000xf32> -> tensor<?x40xf32>, tensor<?x40xi64>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$input, I64Attr:$k);
  let results = (outs AttnFloatTensor:$values, RankedTensorOf<[I64]>:$indices);
  let assemblyFormat = "$input `k` `(` $k `)` attr-dict `:` type($input) `->` type($values) `,` type($indices)";
  let hasVerifier = 1;
}

#endif
