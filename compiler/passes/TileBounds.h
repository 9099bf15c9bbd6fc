// What a tile's data say of its mask when the code runs.
#pragma once

#include "compiler/passes/EmitKeyWalk.h"

namespace heed {

/// Where the values of all pairs of a tile lie.
struct TileInterval {
  mlir::Value low, high;
};
/// Which values a Boolean takes in a tile.
struct TileTruth {
  mlir::Value maybeTrue, maybeFalse;
};

/// Whether a tile may keep a pair, and whether it may drop one.
struct TileBounds {
  mlir::Value maybeKept, maybeDropped;
  /// Whether the code can find out anything.
  bool areKnown() const;
};

/// Bounds what the keep region of an attention yields for the queries of a place and some keys. Numbers that
/// the region reads are bounded by the least and the greatest of them in the tile, by one pass over what is
/// read: as much work as there are queries and keys, not pairs, unless the tensor has as many elements. What
/// the keys do not change is read where the object is made.
class TileBounder {
public:
  TileBounder(mlir::ImplicitLocOpBuilder &b, attn::AttentionOp op, const TilePlace &place);

  /// For the `columns` keys from `key` on.
  TileBounds bound(mlir::Value key, mlir::OpFoldResult columns);

private:
  mlir::ImplicitLocOpBuilder &b;
  attn::AttentionOp op;
  TilePlace place;
  llvm::DenseMap<mlir::Value, TileInterval> intervals; ///< of the region's arguments that no key changes
  llvm::DenseMap<mlir::Value, TileTruth> truths;
};

} // namespace heed
