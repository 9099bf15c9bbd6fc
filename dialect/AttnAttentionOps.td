#ifndef HEED_DIALECT_ATTN_ATTENTION_OPS
#define HEED_DIALECT_ATTN_ATTENTION_OPS

include "dialect/AttnBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def YieldOp : AttnOp<"yield", [Pure, ReturnLike, Terminator,
                               ParentOneOf<["MaskOp", "AttentionOp", "OnlineAttentionOp", "LinearOp", "TileMatmulOp"]>]> {
  let summary = "Ends a region with its value";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ }]>];
}

def AttentionOp : AttnOp<"attention", [Pure, AttrSizedOperandSegments, IsolatedFromAbove, NoTerminator,
                                       ReifiesShape,
                                       DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Softmax of changed and masked scores, times values";
  let description = [{
    For every batch entry b, head h and query q:
    `s[k] = score(scale · sum_d query[b,h,q,d] · key[b,h,k,d])` where `keep(b,h,q,k)`, −inf elsewhere;
    `result[b,h,q,e] = sum_k softmax(s)[k] · value[b,h,k,e]` (Vaswani et al. 2017, eq. 1); f32 inside.
    The layout names the dimensions of each operand and of the result in order: b batch, h head, q query,
    k key, d key width, e value width; b and h may be absent from all. Key and value heads may be fewer
    than query heads: query head h reads head h ÷ group.

    Both regions get the absolute batch, head, query and key index, the query length and the (valid) key length,
    and one value per tensor of `reads`; the score region gets the score before them.
  }];
  let arguments = (ins AttnFloatTensor:$query, AttnFloatTensor:$key, AttnFloatTensor:$value,
    Optional<AttnIntegerTensor>:$key_lengths, Optional<AttnPosition>:$query_offset, Optional<AttnPosition>:$key_offset,
    Optional<AttnFloatTensor>:$sinks,
    Variadic<AnyRankedTensor>:$reads,
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    DefaultValuedAttr<StrAttr, "\"bhqd,bhkd,bhke->bhqe\"">:$layout,
    DefaultValuedAttr<Attn_EmptyRowsAttr, "::heed::attn::EmptyRows::Zeros">:$empty_rows,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$read_maps);
  let results = (outs AttnFloatTensor:$result, Optional<RankedTensorOf<[F32]>>:$log_sum_exp);
  let regions = (region MaxSizedRegion<1>:$score, MaxSizedRegion<1>:$keep);
  let assemblyFormat = [{
    $query `,` $key `,` $value oilist(
      `scale` `(` $scale `)`
      | `layout` `(` $layout `)`
      | `key_lengths` `(` $key_lengths `:` type($key_lengths) `)`
      | `query_offset` `(` $query_offset `:` type($query_offset) `)`
      | `key_offset` `(` $key_offset `:` type($key_offset) `)`
      | `sinks` `(` $sinks `:` type($sinks) `)`
      | `empty_rows` `(` $empty_rows `)`
      | `reads` `(` $reads `:` type($reads) `)` `maps` $read_maps)
    (`score` $score^)? (`keep` $keep^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value) `->` type($result) (`,` type($log_sum_exp)^)?
  }];
  let extraClassDeclaration = [{
    /// The layout's letters of query, key, value and result.
    AttentionLayout getLetters();
    bool hasScore() { return !getScore().empty(); }
    bool hasKeep() { return !getKeep().empty(); }
  }];
  let hasVerifier = 1;
}

def OnlineAttentionOp : AttnOp<"online_attention", [AttrSizedOperandSegments, IsolatedFromAbove, NoTerminator,
                                       DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "One step of attention over some of the keys, with running max and sum";
  let description = [{
    One head: query [q, d], key [k, d] or key panels [k/w, d, w], value [k, e]. With `m' = max(row_max, max_k s[k])`:
    `accumulator ← accumulator · exp(row_max − m') + sum_k exp(s[k] − m') · value[k]`,
    `row_sum ← row_sum · exp(row_max − m') + sum_k exp(s[k] − m')`, `row_max ← m'` (Milakov and Gimelshein 2018). It exists
    because it can be tiled along the keys. `origin`: batch, head, first query, first key, query length and
    key length as the regions see them.
  }];
  let arguments = (ins AttnFloatTensor:$query, AttnFloatTensor:$key, AttnFloatTensor:$value,
    Variadic<Index>:$origin, Variadic<AnyRankedTensor>:$reads,
    RankedTensorOf<[F32]>:$accumulator, RankedTensorOf<[F32]>:$row_max, RankedTensorOf<[F32]>:$row_sum,
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$read_maps);
  let results = (outs Variadic<RankedTensorOf<[F32]>>:$results);
  let regions = (region MaxSizedRegion<1>:$score, MaxSizedRegion<1>:$keep);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)`
    `origin` `(` $origin `)`
    `outs` `(` $accumulator `,` $row_max `,` $row_sum `:` type($accumulator) `,` type($row_max) `,` type($row_sum) `)`
    oilist(`scale` `(` $scale `)`
      | `reads` `(` $reads `:` type($reads) `)` `maps` $read_maps)
    (`score` $score^)? (`keep` $keep^)?
    attr-dict `:` type($results)
  }];
  let hasVerifier = 1;
}

def TileMatmulOp : AttnOp<"tile_matmul", [IsolatedFromAbove, NoTerminator, DestinationStyleOpInterface,
                                      DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Matrix product of one tile, with an epilogue";
  let description = [{
    `result[m, n] = epilogue(sum_k lhs[m, k] · rhs[k, n])`, sums in f32; with `accumulate`, `init[m, n]` is added to the sum.
    `rhs` is [k, n], or panels [ceil(n / w), k, w] as `linalg.pack` makes them. The epilogue gets the sum and
    one element per tensor of `reads`. `masked`: a factor of lhs that is −0.0 marks a pair that is not kept;
    it contributes nothing, whatever rhs holds.
  }];
  let arguments = (ins AttnFloatTensor:$lhs, AttnFloatTensor:$rhs, Variadic<AttnFloatTensor>:$reads, AttnFloatTensor:$init,
    UnitAttr:$accumulate, UnitAttr:$masked,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$read_maps);
  let results = (outs AttnFloatTensor:$result);
  let regions = (region MaxSizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    `ins` `(` $lhs `,` $rhs `:` type($lhs) `,` type($rhs) `)` `outs` `(` $init `:` type($init) `)`
    oilist(`accumulate` $accumulate | `masked` $masked
      | `reads` `(` $reads `:` type($reads) `)` `maps` $read_maps)
    (`epilogue` $epilogue^)?
    attr-dict `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
  let hasVerifier = 1;
}

#endif
