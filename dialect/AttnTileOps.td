#ifndef HEED_DIALECT_ATTN_TILE_OPS
#define HEED_DIALECT_ATTN_TILE_OPS

include "dialect/AttnBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def TileMatmulOp : AttnOp<"tile_matmul", [AttrSizedOperandSegments, IsolatedFromAbove, NoTerminator,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames", "getAsmResultNames"]>]> {
  let summary = "Matrix product of one tile, with an epilogue";
  let description = [{
    `result[m, n] = epilogue(sum_k lhs[m, k] · rhs[k, n])`, sums in f32; with `accumulate`, `init[m, n]` is added
    to the sum. `rhs` is [k, n], or panels [ceil(n / w), k, w] as `linalg.pack` makes them. `masked`: a factor of
    `lhs` that is −0.0 marks a pair that is not kept; it contributes nothing, whatever `rhs` holds. `asks`: where
    false, −0.0 is a factor like any other. `ahead`: what is read after this, brought into the cache meanwhile; it has
    no part in the result.

    Constraints:
    - (C1) `lhs` is [m, k] and `init` [m, n].
    - (C2) `rhs` is [k, n] or panels of rank 3.
    - (C3) Inner sizes k are equal.
    - (C4) `init` has the rows of `lhs` and the columns of `rhs`.
    - (C5) There are ceil(n / w) panels, `w >= 1`.
    - (C6) Operands are tensors and the result has the type of `init`, or they are buffers and there is no result.
    - (C7) Each read has a map from (m, n), which stays inside the read's static sizes.
    - (C8) The epilogue takes the sum and the reads, and yields f32. Without one in the text, it yields the sum.
    - (C9) `asks` comes with `masked`.
    - (C10) `ahead` is of rank 2.

    ```mlir
    %tile = attn.tile_matmul ins(%lhs, %rhs : tensor<6x64xf32>, tensor<4x64x16xf32>)
      outs(%init : tensor<6x64xf32>) accumulate -> tensor<6x64xf32>
    ```
  }];
  let arguments = (ins AttnFloatTile:$lhs, AttnFloatTile:$rhs, Variadic<AttnFloatTile>:$reads, Optional<I1>:$asks,
    Optional<AttnFloatTile>:$ahead, AttnFloatTile:$init, UnitAttr:$accumulate, UnitAttr:$masked,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$read_maps);
  let results = (outs Optional<AttnFloatTensor>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    `ins` `(` $lhs `,` $rhs `:` type($lhs) `,` type($rhs) `)` `outs` `(` $init `:` type($init) `)`
    oilist(`accumulate` $accumulate | `masked` $masked | `asks` `(` $asks `)` | `ahead` `(` $ahead `:` type($ahead) `)`
      | `reads` `(` $reads `:` type($reads) `)` `maps` $read_maps)
    `` custom<TileEpilogue>($epilogue, ref(type($reads)), ref($read_maps))
    attr-dict (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    /// Fills `epilogue` with one that yields the sum.
    static void buildEpilogue(::mlir::Builder &builder, ::mlir::Location loc, ::mlir::Region &epilogue);
    /// Whether the epilogue yields the sum as it is.
    bool hasIdentityEpilogue();
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::mlir::Value":$init, "bool":$accumulate,
                                 "bool":$masked, CArg<"::mlir::Value", "{}">:$asks, CArg<"::mlir::Value", "{}">:$ahead)>];
  let hasVerifier = 1;
}

def TileSoftmaxOp : AttnOp<"tile_softmax", [DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Softmax of one tile of scores, with running max and sum";
  let description = [{
    With `m' = max(row_max, max_n scores[n])` in every row, the scores become weights, `exp(scores[n] − m')`, and what
    was summed up before is scaled: `accumulator ← accumulator · exp(row_max − m')`,
    `row_sum ← row_sum · exp(row_max − m') + sum_n exp(scores[n] − m')`, `row_max ← m'` (Milakov and Gimelshein 2018).
    The sum of a row is that of its p parts, as the lanes of a vector add them up; what is added to which part is free.
    A row without a score above −inf so far stays as it is, its weights zero. Under `base2` powers of two take the place of
    those of e. `masked`: the weight of a score of −inf is −0.0, as `attn.tile_matmul` marks a pair that is not kept.

    Constraints:
    - (C1) Scores are [m, n], the accumulator [m, e], row_max [m] and row_sum [m, p], p static and positive.
    - (C2) Operands are tensors and results have their types, or they are buffers and there are no results.

    ```mlir
    %weights, %acc_0, %max_0, %sum_0 = attn.tile_softmax
      outs(%scores, %acc, %max, %sum : tensor<6x32xf32>, tensor<6x64xf32>, tensor<6xf32>, tensor<6x16xf32>) base2
      -> tensor<6x32xf32>, tensor<6x64xf32>, tensor<6xf32>, tensor<6x16xf32>
    ```
  }];
  let arguments = (ins AttnF32Tile:$scores, AttnF32Tile:$accumulator, AttnF32Tile:$row_max, AttnF32Tile:$row_sum,
    UnitAttr:$base2, UnitAttr:$masked);
  let results = (outs Variadic<RankedTensorOf<[F32]>>:$results);
  let assemblyFormat = [{
    `outs` `(` $scores `,` $accumulator `,` $row_max `,` $row_sum `:` type($scores) `,` type($accumulator) `,` type($row_max) `,` type($row_sum) `)`
    oilist(`base2` $base2 | `masked` $masked) attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return {*this, 0, 4}; }
  }];
  let hasVerifier = 1;
}

#endif
