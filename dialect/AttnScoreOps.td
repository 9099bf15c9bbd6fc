#ifndef HEED_DIALECT_ATTN_SCORE_OPS
#define HEED_DIALECT_ATTN_SCORE_OPS

include "dialect/AttnBase.td"
include "dialect/AttnInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// One score in, one score out, any rank.
class AttnScoreOp<string mnemonic, list<Trait> traits = []>
    : AttnOp<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<ScoreOpInterface, ["buildScore", "evaluateScore"]>,
                                    ReifiesShape], traits)> {
  let extraClassDefinition = shapedLikeFirstOperand;
}

def MatmulOp : AttnOp<"matmul", [Pure, ReifiesShape]> {
  let summary = "Product of two stacks of matrices";
  let description = [{
    `result[…, m, n] = sum_k lhs[…, m, k] · rhs[…, k, n]`, with `transpose_rhs` `rhs[…, n, k]`; products and
    sums in f32. Ranks are 2 to 4 and equal. At rank 4, dimension 1 counts heads: the heads of `rhs` may
    be fewer and are then shared by groups of heads of `lhs`.

    ```mlir
    %scores = attn.matmul %query, %key transpose_rhs
      : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x?xf32>
    ```
  }];
  let arguments = (ins AttnFloatTensor:$lhs, AttnFloatTensor:$rhs, UnitAttr:$transpose_rhs);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs (`transpose_rhs` $transpose_rhs^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ScaleOp : AttnScoreOp<"scale", [SameOperandsAndResultType, DeclareOpInterfaceMethods<ScoreOpInterface, ["keepsMinusInfinity"]>]> {
  let summary = "Multiplication by a constant";
  let arguments = (ins AttnFloatTensor:$scores, F64Attr:$factor);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$scores `by` $factor attr-dict `:` type($scores)";
  let hasFolder = 1;
}

def SoftcapOp : AttnScoreOp<"softcap", [SameOperandsAndResultType]> {
  let summary = "Smooth bound on the size of scores";
  let description = "`y = cap · tanh(x / cap)` (Gemma 2).";
  let arguments = (ins AttnFloatTensor:$scores, F64Attr:$cap);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$scores `by` $cap attr-dict `:` type($scores)";
  let hasVerifier = 1;
}

def BiasOp : AttnScoreOp<"bias", [AllTypesMatch<["scores", "result"]>, DeclareOpInterfaceMethods<ScoreOpInterface, ["getScoreReads", "keepsMinusInfinity"]>]> {
  let summary = "Addition of a tensor that broadcasts";
  let description = [{
    `y = x + b`, `b` aligned with the last dimensions of `x`; its dimensions equal those of `x` or are 1.
  }];
  let arguments = (ins AttnFloatTensor:$scores, AttnFloatTensor:$bias);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$scores `,` $bias attr-dict `:` type($scores) `,` type($bias)";
  let hasVerifier = 1;
}

def AlibiOp : AttnScoreOp<"alibi", [AllTypesMatch<["scores", "result"]>, DeclareOpInterfaceMethods<ScoreOpInterface, ["getScoreReads", "keepsMinusInfinity"]>]> {
  let summary = "Linear penalty on distance, one slope per head";
  let description = [{
    `y[b, h, q, k] = x[b, h, q, k] − slopes[h] · |q − k|` (Press et al. 2022; with a causal mask `|q − k| = q − k`).
  }];
  let arguments = (ins AttnFloatTensor:$scores, AttnFloatTensor:$slopes);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = "$scores `,` $slopes attr-dict `:` type($scores) `,` type($slopes)";
  let hasVerifier = 1;
}

def RelativeBiasOp : AttnScoreOp<"relative_bias", [AllTypesMatch<["scores", "result"]>, DeclareOpInterfaceMethods<ScoreOpInterface, ["getScoreReads", "keepsMinusInfinity"]>]> {
  let summary = "Learned bias by bucketed distance";
  let description = [{
    `y[b, h, q, k] = x[b, h, q, k] + table[bucket(k − q), h]` with the buckets of T5 (Raffel et al. 2020).
  }];
  let arguments = (ins AttnFloatTensor:$scores, AttnFloatTensor:$table, UnitAttr:$bidirectional, I64Attr:$max_distance);
  let results = (outs AttnFloatTensor:$result);
  let assemblyFormat = [{$scores `,` $table (`bidirectional` $bidirectional^)? `max_distance` `(` $max_distance `)`
    attr-dict `:` type($scores) `,` type($table)}];
  let hasVerifier = 1;
}

def MaskOp : AttnScoreOp<"mask", [AllTypesMatch<["scores", "result"]>, DeclareOpInterfaceMethods<ScoreOpInterface, ["getScoreReads", "buildKeep", "keepsMinusInfinity", "isDifferentiable"]>,
                                  SingleBlockImplicitTerminator<"YieldOp">, IsolatedFromAbove,
                                  DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Scores of pairs that are not kept become −inf";
  let description = [{
    The region answers for one pair: its arguments are the batch, head, query and key index, the query and the
    key length, and one value per tensor of `reads`, taken at the coordinate that its map gives.
  }];
  let arguments = (ins AttnFloatTensor:$scores, Variadic<AnyRankedTensor>:$reads, DefaultValuedAttr<AffineMapArrayAttr, "{}">:$read_maps);
  let results = (outs AttnFloatTensor:$result);
  let regions = (region SizedRegion<1>:$keep);
  let assemblyFormat = [{$scores (`reads` `(` $reads^ `:` type($reads) `)` `maps` $read_maps)? `keep` $keep
    attr-dict `:` type($scores)}];
  let hasVerifier = 1;
}

def SoftmaxOp : AttnOp<"softmax", [Pure, SameOperandsAndResultType, ReifiesShape]> {
  let summary = "Normalized exponential along one axis";
  let arguments = (ins AttnFloatTensor:$scores, DefaultValuedAttr<I64Attr, "-1">:$axis,
                       DefaultValuedAttr<Attn_EmptyRowsAttr, "::heed::attn::EmptyRows::Zeros">:$empty_rows);
  let results = (outs AttnFloatTensor:$weights);
  let assemblyFormat = "$scores (`axis` `(` $axis^ `)`)? (`empty_rows` `(` $empty_rows^ `)`)? attr-dict `:` type($scores)";
  let hasVerifier = 1;
  let extraClassDefinition = shapedLikeFirstOperand;
}

def AdditiveScoresOp : AttnOp<"additive_scores", [Pure, ReifiesShape]> {
  let summary = "Scores of additive attention";
  let description = "`scores[…, q, k] = sum_u v[u] · tanh(query[…, q, u] + key[…, k, u])` (Bahdanau et al. 2015), in f32.";
  let arguments = (ins AttnFloatTensor:$query, AttnFloatTensor:$key, AttnFloatTensor:$v);
  let results = (outs AttnFloatTensor:$scores);
  let assemblyFormat = "$query `,` $key `,` $v attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
