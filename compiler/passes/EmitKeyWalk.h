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
  bool asks;              ///< pairs are asked whether they are kept; else all are
  bool isWhole;           ///< a multiple of the tile
};
struct KeySteps {
  int64_t panel, tile;
};

/// Walks the keys of a tile: emits the bounds, and in ascending order the loops that `walk` makes of a range
/// and the state before it. Returns the last state. `mask`: the analysis of `op`, none where it keeps all.
llvm::SmallVector<mlir::Value>
emitKeyWalk(mlir::ImplicitLocOpBuilder &b, attn::AttentionOp op, const std::optional<MaskAnalysis> &mask,
            const TilePlace &place, KeySteps steps, llvm::ArrayRef<mlir::Value> state,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(const KeyRange &, mlir::ValueRange)> walk);

} // namespace heed
