// Emits the bounds of the loops over keys.
#pragma once

#include "compiler/passes/KeyWalk.h"

namespace heed {

/// A tile of `rows` queries, by index values of the code around it; offsets are 0 where there are none.
struct TilePlace {
  mlir::Value tileBegin, rows, queryLength, keyLength, queryOffset, keyOffset, batch, head;
};

/// A range of keys that one loop visits.
struct KeyRange {
  mlir::Value begin, end; ///< `begin` lies on a panel
  mlir::Value asks;       ///< whether pairs are asked that they are kept; null where all are
  bool isWhole;           ///< a multiple of the tile
};
struct KeySteps {
  int64_t panel, tile;
};

/// The loops over the keys that a tile of queries visits: whole tiles that all its queries keep, and the
/// others, where pairs are asked. These can be walked for parts of the tile, which have closer bounds.
class KeyLoops {
public:
  /// Makes the loops of a range out of the state before it; returns the state behind it.
  using Walk = llvm::function_ref<llvm::SmallVector<mlir::Value>(const KeyRange &, mlir::ValueRange)>;

  /// Emits the bounds. `mask`: the analysis of `op`, none where it keeps all.
  KeyLoops(mlir::ImplicitLocOpBuilder &b, attn::AttentionOp op, const std::optional<MaskAnalysis> &mask,
           const TilePlace &place, KeySteps steps);

  /// The keys that all queries of the tile keep.
  llvm::SmallVector<mlir::Value> walkFull(mlir::ValueRange state, Walk walk);

  /// Of the others, those that the queries of `part`, the tile or a part of it, may keep. The mask asks.
  llvm::SmallVector<mlir::Value> walkAsked(const TilePlace &part, mlir::ValueRange state, Walk walk);

  /// What `part` asks, or what all keep where `asks` is false, in one copy of the code.
  llvm::SmallVector<mlir::Value> walkEither(mlir::Value asks, const TilePlace &part, mlir::ValueRange state,
                                            Walk walk);

  /// Whether the code may find keys that all queries keep.
  bool hasFull() const { return !full.empty(); }

private:
  /// What `part` asks.
  llvm::SmallVector<KeySpan<mlir::Value>> getAsked(const TilePlace &part);

  mlir::ImplicitLocOpBuilder &b;
  attn::AttentionOp op;
  const std::optional<MaskAnalysis> &mask;
  KeySteps steps;
  llvm::SmallVector<KeySpan<mlir::Value>> full;
  bool asks = false;
};

} // namespace heed
