#ifndef HEED_DIALECT_ATTN_LAYER_OPS
#define HEED_DIALECT_ATTN_LAYER_OPS

include "dialect/AttnScoreOps.td"
include "mlir/IR/OpAsmInterface.td"

class AttnLayerOp<string mnemonic, list<Trait> traits = []>
    : AttnOp<mnemonic, !listconcat([Pure, ReifiesShape], traits)>;

/// The result has the type of the first operand.
class AttnInPlaceOp<string mnemonic, string first, list<Trait> traits = []>
    : AttnLayerOp<mnemonic, !listconcat([AllTypesMatch<[first, "result"]>], traits)> {
  let extraClassDefinition = shapedLikeFirstOperand;
}

def ParamOp : AttnOp<"param", [Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A parameter of the model, by name";
  let description = [{
    The value lies in the parameter image, never in the IR. The module's recipe says from which file, tensor and slice it is made.
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs AttnTensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def LinearOp : AttnLayerOp<"linear", [AttrSizedOperandSegments, IsolatedFromAbove, NoTerminator,
                                     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Affine map of the last dimension, with an optional epilogue";
  let description = [{
    `y[…, n] = epilogue(sum_k x[…, k] · weight[n, k] + bias[n])`, sums in f32.
    The epilogue region gets the sum in f32 and one element per tensor of `reads`.
  }];
  let arguments = (ins AttnFloatTensor:$input, AttnFloatTensor:$weight, Optional<AttnFloatTensor>:$bias,
    Variadic<AttnFloatTensor>:$reads, DefaultValuedAttr<AffineMapArrayAttr, "{}">:$read_maps);
  let results = (outs AttnFloatTensor:$result);
  let regions = (region MaxSizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $input `,` $weight (`,` $bias^)? oilist(`reads` `(` $reads `:` type($reads) `)` `maps` $read_maps)
    (`epilogue` $epilogue^)?
    attr-dict `:` type($input) `,` type($weight) (`,` type($bias)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def LayerNormOp : AttnInPlaceOp<"layer_norm", "input", [AttrSizedOperandSegments]> {
  let summary = "Normalization of the last dimension to mean 0 and variance 1";
  let description = "`y = (x − mean(x)) / sqrt(var(x) + epsilon) · weight + bias` (Ba et al. 2016), in f32.";
  let arguments = (ins AttnFloatTensor:$input, Optional<AttnFloatTensor>:$weight, Optional<AttnFloatTensor>:$bias, F64Attr:$epsilon);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = [{$input (`,` $weight^ (`,` $bias^)?)? `epsilon` `(` $epsilon `)` attr-dict
    `:` type($input) (`,` type($weight)^ (`,` type($bias)^)?)?}];
  let hasVerifier = 1;
}

def RmsNormOp : AttnInPlaceOp<"rms_norm", "input"> {
  let summary = "Normalization of the last dimension by its root mean square";
  let description = [{
    `y = x / sqrt(mean(x²) + epsilon) · (weight + offset)` (Zhang and Sennrich 2019), in f32. `offset` is 1 in Gemma.
  }];
  let arguments = (ins AttnFloatTensor:$input, Optional<AttnFloatTensor>:$weight, F64Attr:$epsilon, DefaultValuedAttr<F64Attr, "0.0">:$offset);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = [{$input (`,` $weight^)? `epsilon` `(` $epsilon `)` (`offset` `(` $offset^ `)`)? attr-dict
    `:` type($input) (`,` type($weight)^)?}];
  let hasVerifier = 1;
}

class AttnActivationOp<string mnemonic> : AttnScoreOp<mnemonic, [SameOperandsAndResultType]> {
  let arguments = (ins AttnFloatTensor:$input);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}
def ReluOp : AttnActivationOp<"relu"> {
  let summary = "`max(x, 0)`";
}
def SiluOp : AttnActivationOp<"silu"> {
  let summary = "`x · sigmoid(x)`";
}
def GeluOp : AttnActivationOp<"gelu"> {
  let summary = "`x · Φ(x)`, Φ the normal distribution function";
  let description = [{
    `exact`: `x/2 · (1 + erf(x/√2))`; `tanh`: `x/2 · (1 + tanh(√(2/π)(x + 0.044715 x³)))` (Hendrycks and Gimpel 2016).
  }];
  let arguments = (ins AttnFloatTensor:$input, DefaultValuedAttr<Attn_GeluFormAttr, "::heed::attn::GeluForm::Exact">:$form);
  let assemblyFormat = "$input (`form` `(` $form^ `)`)? attr-dict `:` type($input)";
}
def GatedOp : AttnScoreOp<"gated", [SameOperandsAndResultType, DeclareOpInterfaceMethods<ScoreOpInterface, ["getScoreReads"]>]> {
  let summary = "`activation(gate) · up` (Shazeer 2020)";
  let arguments = (ins AttnFloatTensor:$gate, AttnFloatTensor:$up, Attn_ActivationAttr:$activation);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$gate `,` $up `activation` `(` $activation `)` attr-dict `:` type($gate)";
}

def EmbeddingOp : AttnLayerOp<"embedding"> {
  let summary = "Rows of a table by number";
  let description = "`y[…, d] = table[ids[…], d]`; ids outside the table are refused before any access.";
  let arguments = (ins AttnFloatTensor:$table, AttnIntegerTensor:$ids);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$table `,` $ids attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def SinusoidalPositionsOp : AttnInPlaceOp<"sinusoidal_positions", "input"> {
  let summary = "Addition of sinusoidal positions";
  let description = [{
    `y[…, s, 2i] = x[…, s, 2i] + sin(p / base^(2i/d))`, `y[…, s, 2i+1] = x[…, s, 2i+1] + cos(p / base^(2i/d))`,
    `p = s + offset` (Vaswani et al. 2017, section 3.5).
  }];
  let arguments = (ins AttnFloatTensor:$input, Optional<AttnPosition>:$offset, DefaultValuedAttr<F64Attr, "10000.0">:$base);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = [{$input oilist(`offset` `(` $offset `:` type($offset) `)` | `base` `(` $base `)`) attr-dict `:` type($input)}];
  let hasVerifier = 1;
}

def LearnedPositionsOp : AttnInPlaceOp<"learned_positions", "input"> {
  let summary = "Addition of a learned row per position";
  let description = "`y[…, s, d] = x[…, s, d] + table[s + offset, d]`; more positions than rows are refused before any access.";
  let arguments = (ins AttnFloatTensor:$input, AttnFloatTensor:$table, Optional<AttnPosition>:$offset);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$input `,` $table (`offset` `(` $offset^ `:` type($offset) `)`)? attr-dict `:` type($input) `,` type($table)";
  let hasVerifier = 1;
}

def RotaryOp : AttnInPlaceOp<"rotary", "input"> {
  let summary = "Rotation of pairs of features by an angle that grows with the position";
  let description = [{
    Pair i of `width` features turns by `p / base^(2i/width)`: `(x, y) → (x cos − y sin, y cos + x sin)` (Su et al. 2021).
    `interleaved` pairs 2i with 2i+1, `halves` i with i + width/2. Positions run along `axis` from `offset`. Features past `width` stay.
  }];
  let arguments = (ins AttnFloatTensor:$input, Optional<AttnPosition>:$offset, Attn_PairingAttr:$pairing,
    DefaultValuedAttr<F64Attr, "10000.0">:$base, DefaultValuedAttr<I64Attr, "-2">:$axis, OptionalAttr<I64Attr>:$width);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = [{$input `pairing` `(` $pairing `)` oilist(`offset` `(` $offset `:` type($offset) `)` | `base` `(` $base `)`
    | `axis` `(` $axis `)` | `width` `(` $width `)`) attr-dict `:` type($input)}];
  let hasVerifier = 1;
}

def SplitHeadsOp : AttnLayerOp<"split_heads"> {
  let summary = "[…, s, h·d] to […, h, s, d]";
  let arguments = (ins AttnFloatTensor:$input, I64Attr:$heads);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$input `heads` `(` $heads `)` attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
def MergeHeadsOp : AttnLayerOp<"merge_heads"> {
  let summary = "[…, h, s, d] to […, s, h·d]";
  let arguments = (ins AttnFloatTensor:$input);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def CacheUpdateOp : AttnInPlaceOp<"cache_update", "cache"> {
  let summary = "New keys or values written into a cache";
  let description = [{
    `result[b, …, p + s, d] = entries[b, …, s, d]`, elsewhere the cache; `p` is `position`, one for all or one per batch entry.
    Positions run along `axis`. Done in place where the cache is a state argument. Positions past the capacity are refused.
  }];
  let arguments = (ins AttnFloatTensor:$cache, AttnFloatTensor:$entries, AttnPosition:$position, DefaultValuedAttr<I64Attr, "-2">:$axis);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$cache `,` $entries `at` $position (`axis` `(` $axis^ `)`)? attr-dict `:` type($cache) `,` type($entries) `,` type($position)";
  let hasVerifier = 1;
}

def ArgmaxOp : AttnLayerOp<"argmax"> {
  let summary = "Where the largest element of the last dimension is";
  let description = "Ties take the lowest index; a NaN counts as largest.";
  let arguments = (ins AttnFloatTensor:$input);
  let results = (outs RankedTensorOf<[I64]>:$indices);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($indices)";
  let hasVerifier = 1;
}
def TopKOp : AttnLayerOp<"top_k"> {
  let summary = "The k largest elements of the last dimension, in falling order, and where they are";
  let description = "Ties take the lower index first; a NaN counts as largest.";
  let arguments = (ins AttnFloatTensor:$input, I64Attr:$k);
  let results = (outs AttnFloatTensor:$values, RankedTensorOf<[I64]>:$indices);
  let assemblyFormat = "$input `k` `(` $k `)` attr-dict `:` type($input) `->` type($values) `,` type($indices)";
  let hasVerifier = 1;
}

#endif
