// What the ways to tile an attention share: its sizes, the state of its rows, its results.
#pragma once

#include "compiler/passes/EmitKeyWalk.h"
#include "compiler/passes/LetteredSlices.h"

namespace heed {

struct AttentionTiles {
  /// `mostRows`: the queries of a tile; `askedRows`: of one whose pairs are asked. Code goes before `op`.
  AttentionTiles(attn::AttentionOp op, int64_t mostRows, int64_t askedRows);

  attn::AttentionOp op;
  mlir::ImplicitLocOpBuilder b;
  int64_t mostRows, askedRows;
  attn::AttentionLayout letters;
  mlir::OpFoldResult zero, one;
  mlir::OpFoldResult batches, heads, keyHeads, queries, keys, depth, width;
  mlir::OpFoldResult sumParts; ///< of each row's sum: the lanes that add them up
  mlir::Value group;           ///< query heads per key head
  /// Scores are counted in units of ln 2: not where a score region sees them.
  bool base2;
  /// What each query is multiplied by, and each score: a factor past 1 could make a query overflow.
  double queryFactor = 1, scoreFactor = 1;
  std::optional<MaskAnalysis> mask;
  /// Whether some pair must be asked whether it is kept.
  bool asks() const { return mask && mask->asks(); }

  /// The results, not yet filled, and what becomes of them.
  llvm::SmallVector<mlir::Value> emptyResults();
  void replaceWith(mlir::ValueRange results);

  /// The place of `rows` queries from `query` on.
  TilePlace placeOf(mlir::Value batch, mlir::Value head, mlir::OpFoldResult query, mlir::OpFoldResult rows);
  /// The slices at a place; `head` may be one of the keys.
  Ranges rangesOf(const TilePlace &place, mlir::Value head);
  /// The queries at a place in f32, times their factor.
  mlir::Value scaleQueries(const TilePlace &place);
  /// A tile of f32 rows with a static bound, so that its scratch memory has a size known before the loop.
  mlir::Value scratch(mlir::OpFoldResult rows, mlir::OpFoldResult columns);
  /// Row max, and each part of row sum, before the first key: a sink is a key of that score whose value is
  /// zero.
  std::pair<mlir::Value, mlir::Value> buildFirstState(mlir::Value head);
  /// 2^x, or e^x, according to `base2`.
  mlir::Value buildExponential(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
  struct StepTiles {
    mlir::Value key, value;
    mlir::Value ahead; ///< the keys of the next step, where fetching them pays; may be null
  };
  /// The tiles of a step over so many keys from a panel on.
  using SliceKeys = llvm::function_ref<StepTiles(mlir::Value, mlir::OpFoldResult)>;
  /// A loop over the tiles of a range of keys. Each is one step; where its data say so, none, or one over the
  /// panels that may keep a pair, or one that does not ask. `state`: accumulator, row max, row sum.
  llvm::SmallVector<mlir::Value> buildSteps(mlir::Value query, const TilePlace &place, const KeyRange &keys,
                                            int64_t tileKeys, SliceKeys slice, mlir::ValueRange state);
  /// Walks the keys of a tile of queries: what all queries keep, and then what the mask asks. `walk` makes
  /// the loops of a range from some rows' queries, place and state.
  using WalkRows = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, const TilePlace &,
                                                                     const KeyRange &, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> walkRanges(mlir::Value query, const TilePlace &place, KeySteps steps,
                                            mlir::ValueRange state, WalkRows walk);
  /// Divides by the row sums and says where the tiles go.
  llvm::SmallVector<TileResult> finish(mlir::ValueRange state, const Ranges &ranges,
                                       mlir::ValueRange results);

private:
  /// One step over the keys from `at` on. `asks`: as of a range.
  llvm::SmallVector<mlir::Value> buildStep(mlir::Value query, const TilePlace &place, mlir::Value at,
                                           mlir::OpFoldResult columns, mlir::Value asks, SliceKeys slice,
                                           mlir::ValueRange state);
  /// Walks what a mask asks of a tile, for `askedRows` queries at a time, which have closer bounds.
  llvm::SmallVector<mlir::Value> walkParts(mlir::Value query, const TilePlace &place, KeyLoops &loops,
                                           mlir::ValueRange state, WalkRows walk);
  /// The extent of `letter` in `tensor`; 1 where it has none.
  mlir::OpFoldResult extent(mlir::Value tensor, llvm::StringRef in, char letter);
};

/// How the keys of an attention are split among tasks where its queries are one tile.
struct KeySplit {
  int64_t partKeys; ///< of a task. It does not depend on the number of threads, lest results do
  int64_t tileKeys; ///< of a step
  /// The keys of a step are transposed into panels. Else they are multiplied where they lie, and a task has
  /// all the query heads of a group, so that each key is read from memory once.
  bool packs;
};

/// Tiles an attention whose queries are one tile: each part of the keys makes a state of its own, and the
/// states are merged. `batches`: how many, 0 where there are other sizes.
llvm::SmallVector<mlir::Value> tileFewQueries(AttentionTiles &tiles, const KeySplit &split,
                                              mlir::OpFoldResult batches, mlir::ValueRange results);

} // namespace heed
