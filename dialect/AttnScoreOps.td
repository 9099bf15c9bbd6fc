#ifndef HEED_DIALECT_ATTN_SCORE_OPS
#define HEED_DIALECT_ATTN_SCORE_OPS

include "dialect/AttnBase.td"
include "dialect/AttnInterfaces.td"

/// Changes one element at a time; `methods`: what else of the interface it defines.
class AttnScoreOp<string mnemonic, list<Trait> traits = [], list<string> methods = []>
    : AttnOp<mnemonic, !listconcat([Pure, ShapedLikeFirstOperand,
                                    DeclareOpInterfaceMethods<ScoreOpInterface,
                                      !listconcat(["buildScore", "evaluateScore"], methods)>], traits)>;

def MatmulOp : AttnOp<"matmul", [Pure, ReifiesShape,
                                 DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Product of two stacks of matrices";
  let description = [{
    `result[…, m, n] = sum_k lhs[…, m, k] · rhs[…, k, n]`, with `transpose_rhs` `rhs[…, n, k]`; sums in f32.
    At rank 3 the first dimension counts batch entries; at rank 4 batch entries, then heads. The heads of
    `rhs` may be fewer and are then shared: head h of `lhs` meets head h ÷ group of `rhs`
    (Ainslie et al. 2023).

    Constraints:
    - (C1) Ranks are equal, 2 to 4.
    - (C2) Element types of `lhs` and `rhs` are equal.
    - (C3) Inner sizes k are equal.
    - (C4) Batch sizes are equal.
    - (C5) The heads of `rhs` divide those of `lhs`.
    - (C6) The result is [batch and heads of `lhs`, m, n].

    ```mlir
    %scores = attn.matmul %query, %key transpose_rhs
      : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x?xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$lhs, AttnFloatTensor:$rhs, UnitAttr:$transpose_rhs);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs (`transpose_rhs` $transpose_rhs^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ScaleOp : AttnScoreOp<"scale", [SameOperandsAndResultType, NamesResult<"scores">], ["keepsMinusInfinity"]> {
  let summary = "Multiplication by a constant";
  let description = [{
    `y = factor · x`; in attention the factor is `1 / sqrt(d)` (Vaswani et al. 2017, eq. 1). Two factors in a
    row become one where their product is a normal number of the element type.

    Constraints:
    - (C1) `factor` is finite.

    ```mlir
    %scores_0 = attn.scale %scores by 0.125 : tensor<?x8x?x?xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$scores, F64Attr:$factor);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$scores `by` $factor attr-dict `:` type($scores)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def SoftcapOp : AttnScoreOp<"softcap", [SameOperandsAndResultType, NamesResult<"scores">]> {
  let summary = "Smooth bound on the size of scores";
  let description = [{
    `y = cap · tanh(x / cap)` (Gemma Team 2024, section 2).

    Constraints:
    - (C1) `cap` is positive and finite.

    ```mlir
    %scores_0 = attn.softcap %scores by 50.0 : tensor<?x8x?x?xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$scores, F64Attr:$cap);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$scores `by` $cap attr-dict `:` type($scores)";
  let hasVerifier = 1;
}

def BiasOp : AttnScoreOp<"bias", [AllTypesMatch<["scores", "result"]>, NamesResult<"scores">],
                         ["getScoreReads", "keepsMinusInfinity"]> {
  let summary = "Addition of a tensor that broadcasts";
  let description = [{
    `y = x + b`, `b` aligned with the last dimensions of `x`. A dimension broadcasts where its static size is 1;
    a dynamic one must equal that of `x`. An additive mask is a bias of 0 and −inf. Where x is −inf, y is,
    whatever b: a pair that is not kept stays so.

    Constraints:
    - (C1) The rank of `bias` is at most that of `scores`.
    - (C2) Each size of `bias` is 1 or that of `scores`.

    ```mlir
    %scores_0 = attn.bias %scores, %bias : tensor<?x8x?x?xf32>, tensor<8x?x?xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$scores, AttnFloatTensor:$bias);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$scores `,` $bias attr-dict `:` type($scores) `,` type($bias)";
  let hasVerifier = 1;
}

def AlibiOp : AttnScoreOp<"alibi", [AllTypesMatch<["scores", "result"]>, NamesResult<"scores">],
                         ["getScoreReads", "keepsMinusInfinity"]> {
  let summary = "Linear penalty on distance, one slope per head";
  let description = [{
    `y[b, h, q, k] = x[b, h, q, k] − slopes[h] · |q − k|` (Press et al. 2022, section 3; under a causal mask
    `|q − k| = q − k`).

    Constraints:
    - (C1) `scores` has rank 4.
    - (C2) There is one slope per head.

    ```mlir
    %scores_0 = attn.alibi %scores, %slopes : tensor<?x8x?x?xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$scores, AttnFloatTensor:$slopes);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$scores `,` $slopes attr-dict `:` type($scores) `,` type($slopes)";
  let hasVerifier = 1;
}

def RelativeBiasOp : AttnScoreOp<"relative_bias", [AllTypesMatch<["scores", "result"]>, NamesResult<"scores">],
                                 ["getScoreReads", "keepsMinusInfinity"]> {
  let summary = "Learned bias by bucketed distance";
  let description = [{
    `y[b, h, q, k] = x[b, h, q, k] + table[bucket(k − q), h]` (Raffel et al. 2020, section 2.1, and its
    released code). With n buckets a direction and `e = n / 2`: distances below e have a bucket each,
    `e + floor((n − e) · log(distance / e) / log(max_distance / e))`, at most n − 1, holds the others.
    `bidirectional` gives half of the table to keys after the query; without it those have distance 0. The
    choice of a bucket is that of the formula in float32.

    Constraints:
    - (C1) `scores` has rank 4.
    - (C2) `table` is [buckets, heads], the number of buckets static.
    - (C3) The number of buckets is a positive multiple of 2, of 4 if `bidirectional`.
    - (C4) `max_distance > e`.

    ```mlir
    %scores_0 = attn.relative_bias %scores, %table bidirectional max_distance(128)
      : tensor<?x8x?x?xf32>, tensor<32x8xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$scores, AttnFloatTensor:$table, UnitAttr:$bidirectional, I64Attr:$max_distance);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = [{$scores `,` $table (`bidirectional` $bidirectional^)? `max_distance` `(` $max_distance `)`
    attr-dict `:` type($scores) `,` type($table)}];
  let hasVerifier = 1;
}

def MaskOp : AttnScoreOp<"mask", [AllTypesMatch<["scores", "result"]>, IsolatedFromAbove, NoTerminator,
                                  DeclareOpInterfaceMethods<OpAsmOpInterface,
                                    ["getAsmBlockArgumentNames", "getAsmResultNames"]>],
                         ["getScoreReads", "buildKeep", "keepsMinusInfinity"]> {
  let summary = "Scores of pairs that are not kept become −inf";
  let description = [{
    `y = x` where the *keep* region yields true, `−inf` elsewhere, which what is added afterwards does not
    change. The region answers for one pair; a tensor of flags is a read:

    ```mlir
    %scores_0 = attn.mask %scores reads(%valid : tensor<?x?xi1>) maps [affine_map<(b, h, q, k) -> (b, k)>]
      keep(%batch, %head, %query, %key, %query_len, %key_len, %flag) {
      %causal = attn.causal %query, %key
      %both = arith.andi %causal, %flag : i1
      attn.yield %both : i1
    } : tensor<?x8x?x?xf32>
    ```

    Constraints:
    - (C1) `scores` has rank 2 (query, key), 3 (batch, query, key) or 4 (batch, head, query, key); a region
      sees index 0 for what is missing.
    - (C2) Each read has a map from the four coordinates, which stays inside the read's static sizes.
    - (C3) The region takes six indices and the reads, and yields i1.
  }];
  let arguments = (ins AttnFloatTensor:$scores, Variadic<AnyRankedTensor>:$reads,
                       DefaultValuedAttr<AffineMapArrayAttr, "{}">:$read_maps);
  let results = (outs AttnFloatTensor:$result);
  let regions = (region SizedRegion<1>:$keep);
  let assemblyFormat = [{$scores (`reads` `(` $reads^ `:` type($reads) `)` `maps` $read_maps)?
    `` custom<Keep>($keep, ref(type($reads)), ref($read_maps)) attr-dict `:` type($scores)}];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def SoftmaxOp : AttnOp<"softmax", [Pure, SameOperandsAndResultType, ShapedLikeFirstOperand, NamesResult<"weights">]> {
  let summary = "Normalized exponential along one axis";
  let description = [{
    `y[i] = exp(x[i] − m) / sum_j exp(x[j] − m)`, `m = max_j x[j]`, along `axis`, in f32 (Vaswani et al. 2017,
    eq. 1). A slice that is −inf throughout gives zeros, or NaN under `empty_rows(nan)`; a NaN in a slice makes
    the slice NaN.

    Constraints:
    - (C1) `-rank <= axis < rank`.

    ```mlir
    %weights = attn.softmax %scores : tensor<?x8x?x?xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$scores, DefaultValuedAttr<I64Attr, "-1">:$axis,
                       DefaultValuedAttr<Attn_EmptyRowsAttr, "::heed::attn::EmptyRows::Zeros">:$empty_rows);
  let results = (outs AttnFloatTensor:$weights);
  let assemblyFormat = "$scores (`axis` `(` $axis^ `)`)? (`empty_rows` `(` custom<Keyword>($empty_rows)^ `)`)? attr-dict `:` type($scores)";
  let hasVerifier = 1;
}

def AdditiveScoresOp : AttnOp<"additive_scores", [Pure, ReifiesShape, NamesResult<"scores">]> {
  let summary = "Scores of additive attention";
  let description = [{
    `scores[…, q, k] = sum_u v[u] · tanh(query[…, q, u] + key[…, k, u])`, in f32 (Bahdanau et al. 2015,
    section A.1.2; query and key already projected).

    Constraints:
    - (C1) Ranks of `query` and `key` are equal, 2 to 4.
    - (C2) Sizes of `key` equal those of `query`, save the length.
    - (C3) `v` has one element per feature.
    - (C4) `scores` is [leading sizes, query length, key length].

    ```mlir
    %scores = attn.additive_scores %query, %key, %v
      : (tensor<?x?x128xf32>, tensor<?x?x128xf32>, tensor<128xf32>) -> tensor<?x?x?xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$query, AttnFloatTensor:$key, AttnFloatTensor:$v);
  let results = (outs AttnFloatTensor:$scores);
  let assemblyFormat = "$query `,` $key `,` $v attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
