#ifndef HEED_DIALECT_ATTN_ATTENTION_OPS
#define HEED_DIALECT_ATTN_ATTENTION_OPS

include "dialect/AttnBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def YieldOp : AttnOp<"yield", [Pure, ReturnLike, Terminator,
                               ParentOneOf<["MaskOp", "AttentionOp", "OnlineAttentionOp", "LinearOp", "TileMatmulOp"]>]> {
  let summary = "Ends a region with its value";
  let description = [{
    ```mlir
    attn.yield %keep : i1
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ }]>];
}

def AttentionOp : AttnOp<"attention", [Pure, AttrSizedOperandSegments, IsolatedFromAbove, NoTerminator, ReifiesShape,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames", "getAsmResultNames"]>,
    DeclareOpInterfaceMethods<TilingInterface, ["getLoopIteratorTypes", "getIterationDomain",
        "getTiledImplementation", "getResultTilePosition", "generateResultTileValue",
        "getIterationDomainTileFromResultTile"]>]> {
  let summary = "Softmax of changed and masked scores, times values";
  let description = [{
    For every batch entry b, head h and query q, in f32 (Vaswani et al. 2017, eq. 1):
    `s[k] = score(scale · sum_d query[b,h,q,d] · key[b,h,k,d])` where `keep(b,h,q,k)`, −inf elsewhere;
    `result[b,h,q,e] = sum_k softmax(s)[k] · value[b,h,k,e]`;
    `log_sum_exp[b,h,q] = log(sum_k exp(s[k]))`. A pair that is not kept contributes nothing, whatever its key
    and value hold. A query that keeps no key gets zeros, or NaN under `empty_rows(nan)`, and −inf as log_sum_exp.

    - `layout` names the dimensions of query, key, value and result in order: b batch, h head, q query, k key,
      d key width, e value width. Key and value heads may be fewer: query head h reads head h ÷ group
      (Ainslie et al. 2023).
    - `key_lengths`: per batch entry, keys from there on do not exist; regions see it as key length.
    - `query_offset`, `key_offset`: added to the indices that regions see.
    - `sinks[h]` is the score of a key without value: it adds `exp(sinks[h])` to the sum (Xiao et al. 2024).

    MLIR's tiling interface sees four parallel loops, over b, h, q and e, whatever the layout. Regions of a tile
    see what those of the whole do. A tile may not take part of several groups of heads, part of e beside
    log_sum_exp, or later queries of several batch entries that have a `query_offset` each.

    Constraints:
    - (C1) The layout of query has the letters q and d, of key k and d, of value k and e, of result q and e,
      each once, and b and h at most once.
    - (C2) b, and likewise h, is in all of them or in none.
    - (C3) Ranks are the numbers of letters.
    - (C4) Element types of query, key and value are equal.
    - (C5) Sizes of one letter are equal, save h.
    - (C6) Key heads equal value heads and divide query heads, which are those of the result.
    - (C7) `key_lengths` has one element per batch entry.
    - (C8) A `query_offset` or `key_offset` per batch entry has one element for each.
    - (C9) `sinks` has one element per query head.
    - (C10) `scale` is finite.
    - (C11) `log_sum_exp` is the shape of the result without e.
    - (C12) Each read has a map from the four coordinates, which stays inside the read's static sizes; the
      regions have the signatures of the dialect's introduction, and there are no reads without a region.
    - (C13) Under a `query_offset`, attn.causal is aligned top_left, or by another query length than the region's.
    - (C14) Widths are at least 1.

    ```mlir
    %attended = attn.attention %query, %key, %value scale(0.125) layout("bqhd,bkhd,bkhe->bqhe")
      keep(%batch, %head, %q, %k, %query_len, %key_len) {
      %keep = attn.causal %q, %k
      attn.yield %keep : i1
    } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
    ```
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
      | `empty_rows` `(` custom<Keyword>($empty_rows) `)`
      | `reads` `(` $reads `:` type($reads) `)` `maps` $read_maps)
    `` custom<ScoreAndKeep>($score, $keep, ref(type($reads)), ref($read_maps))
    attr-dict `:` type($query) `,` type($key) `,` type($value) `->` type($result) (`,` type($log_sum_exp)^)?
  }];
  let extraClassDeclaration = [{
    /// The layout's letters of query, key, value and result.
    AttentionLayout getLetters();
    bool hasScore() { return !getScore().empty(); }
    bool hasKeep() { return !getKeep().empty(); }
  }];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def OnlineAttentionOp : AttnOp<"online_attention", [AttrSizedOperandSegments, IsolatedFromAbove, NoTerminator,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "One step of attention over some of the keys, with running max and sum";
  let description = [{
    For one head, with s the scores of `attn.attention` and `m' = max(row_max, max_k s[k])`:
    `accumulator ← accumulator · exp(row_max − m') + sum_k exp(s[k] − m') · value[k]`,
    `row_sum ← row_sum · exp(row_max − m') + sum_k exp(s[k] − m')`, `row_max ← m'` (Milakov and Gimelshein
    2018). The sum of a row is that of its p parts, as the lanes of a vector add them up; what is added to which part is
    free. The operation exists because it can be tiled along the keys. Under `base2` powers of two take the place of
    those of e: scores count in units of ln 2, and so does row_max. The query may be f32 beside narrower keys. The key is
    [k, d], or panels [ceil(k / w), d, w] as `linalg.pack` makes them. `origin` is the batch, head, query index of row 0, key index of key 0, query
    length and key length that the regions see. `asks`: where false, every pair is kept, whatever the keep region says.
    `ahead`: keys of a later step, brought into the cache meanwhile; they have no part in the results.

    Constraints:
    - (C1) query is [q, d] and value [k, e].
    - (C2) key is [k, d] or panels of rank 3.
    - (C3) Element types of key and value are equal, and that of the query is theirs or f32.
    - (C4) Query and key width are equal.
    - (C5) There are ceil(k / w) panels, `w >= 1`.
    - (C6) Key and value length are equal.
    - (C7) `origin` has six indices.
    - (C8) The accumulator is [q, e], row_max [q] and row_sum [q, p], p static and positive.
    - (C9) Results have the types of the destinations.
    - (C10) `scale` is finite.
    - (C11) Reads and regions are as in `attn.attention`.
    - (C12) With `asks` there is a keep region.
    - (C13) `ahead` is of rank 2.

    ```mlir
    %results:3 = attn.online_attention
      ins(%query, %key, %value : tensor<16x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>)
      origin(%b, %h, %q, %k, %query_len, %key_len)
      outs(%acc, %max, %sum : tensor<16x64xf32>, tensor<16xf32>, tensor<16x16xf32>) scale(0.125)
      : tensor<16x64xf32>, tensor<16xf32>, tensor<16x16xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$query, AttnFloatTensor:$key, AttnFloatTensor:$value,
    Variadic<Index>:$origin, Variadic<AnyRankedTensor>:$reads, Optional<I1>:$asks, Optional<AttnFloatTensor>:$ahead,
    RankedTensorOf<[F32]>:$accumulator, RankedTensorOf<[F32]>:$row_max, RankedTensorOf<[F32]>:$row_sum,
    DefaultValuedAttr<F64Attr, "1.0">:$scale, UnitAttr:$base2,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$read_maps);
  let results = (outs Variadic<RankedTensorOf<[F32]>>:$results);
  let regions = (region MaxSizedRegion<1>:$score, MaxSizedRegion<1>:$keep);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)`
    `origin` `(` $origin `)`
    `outs` `(` $accumulator `,` $row_max `,` $row_sum `:` type($accumulator) `,` type($row_max) `,` type($row_sum) `)`
    oilist(`scale` `(` $scale `)`
      | `base2` $base2
      | `asks` `(` $asks `)`
      | `ahead` `(` $ahead `:` type($ahead) `)`
      | `reads` `(` $reads `:` type($reads) `)` `maps` $read_maps)
    `` custom<ScoreAndKeep>($score, $keep, ref(type($reads)), ref($read_maps))
    attr-dict `:` type($results)
  }];
  let hasVerifier = 1;
}

#endif
