// What a tile's data say of its mask when the code runs.
#pragma once

#include "compiler/passes/EmitKeyWalk.h"

namespace heed {

/// Whether a tile may keep a pair, and whether it may drop one.
struct TileBounds {
  mlir::Value maybeKept, maybeDropped;
  /// Whether the code can find out anything.
  bool areKnown() const;
};

/// Bounds what the keep region of `op` yields for the queries of `place` and the `columns` keys from `key`
/// on. Numbers that the region reads are bounded by the least and the greatest of them in the tile, by one
/// pass over what is read: as much work as there are queries and keys, not pairs, unless the tensor has as
/// many elements.
TileBounds buildTileBounds(mlir::ImplicitLocOpBuilder &b, attn::AttentionOp op, const TilePlace &place,
                           mlir::Value key, mlir::OpFoldResult columns);

} // namespace heed
