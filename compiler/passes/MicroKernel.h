// The micro-kernel of a tile matmul: a block of rows and panels whose sums stay in registers.
#pragma once

#include "compiler/passes/Structured.h"
#include "compiler/target/Target.h"

namespace heed {

class MicroKernel {
public:
  /// The width of one accumulator, in columns: that of a panel.
  static constexpr int64_t width = panelWidth;

  /// What of the panels is brought into the cache meanwhile, where the tile is a slice of all of them.
  enum class Fetch {
    Nothing,
    Next,  ///< the panels after these, in parts that the blocks of rows share
    Onward ///< the lines that come next: for a block that has its panels to itself
  };

  MicroKernel(mlir::ImplicitLocOpBuilder &b, attn::TileMatmulOp op, const Target &target);

  /// Computes `height` rows × `blocks` panels from (`row`, `column`) on. `mask`: the columns that exist, null
  /// where all do. `careful`: leaves out factors of −0.0.
  void build(mlir::Value row, int64_t height, mlir::Value column, int64_t blocks, mlir::Value mask,
             bool careful, Fetch fetch);

private:
  struct Block {
    mlir::Value row;
    int64_t height;
    mlir::Value column;
    int64_t blocks;
    mlir::Value mask;
    bool careful;
  };
  using Sums = llvm::SmallVector<mlir::Value>;

  mlir::Value loadRhs(const Block &block, mlir::Value k, int64_t panel);
  Sums addStep(const Block &block, mlir::Value k, mlir::ValueRange sums);
  Sums addStepsAt(const Block &block, mlir::Value k, int64_t count, mlir::ValueRange carried);
  Sums addSteps(const Block &block, mlir::Value begin, mlir::Value end, int64_t atOnce,
                mlir::ValueRange sums);
  Sums addStepsFetchingNext(const Block &block, mlir::Value end, mlir::ValueRange sums);
  Sums addStepsFetchingOnward(const Block &block, mlir::Value end, mlir::ValueRange sums);
  void fetchLine(mlir::Value panel, mlir::Value line);
  mlir::Value applyEpilogue(mlir::Value sum, mlir::Value row, mlir::Value column, mlir::Value mask);
  mlir::Value isNegativeZero(mlir::Value x);

  mlir::ImplicitLocOpBuilder &b;
  attn::TileMatmulOp op;
  const Target &target;
  mlir::VectorType vector;
  mlir::Value depth;
  bool hasPanels;
  /// Where the tile is a slice of all panels: those, from `firstPanel` on.
  mlir::Value allPanels;
  mlir::OpFoldResult firstPanel;
};

} // namespace heed
