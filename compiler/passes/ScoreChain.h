// What stands between the first matmul of an attention and its softmax, as regions over one score.
#pragma once

#include "dialect/Attn.h"

namespace heed {

/// One step: a score operation, a cast, or an elementwise operation one of whose operands is the scores.
struct ScoreStep {
  mlir::Operation *op;
  mlir::Value scores;
};

class ScoreChain {
public:
  /// `steps` from the first matmul to the softmax, on scores of rank `rank` (2: q, k; 3: b, q, k; 4: b, h, q,
  /// k).
  ScoreChain(mlir::ImplicitLocOpBuilder &b, int64_t rank, llvm::ArrayRef<ScoreStep> steps);

  /// What the steps read, with maps over (batch, head, query, key).
  llvm::ArrayRef<mlir::Value> getReads() const { return reads; }
  llvm::ArrayRef<mlir::AffineMap> getMaps() const { return maps; }

  /// Builds the regions of attn.attention; one that would change nothing stays empty. A mask goes to the keep
  /// region if what comes after it leaves −inf alone, else it stays in its place among the scores.
  void buildRegions(mlir::Region &score, mlir::Region &keep);

private:
  mlir::ImplicitLocOpBuilder &b;
  llvm::ArrayRef<ScoreStep> steps;
  llvm::SmallVector<mlir::Value> reads;
  llvm::SmallVector<mlir::AffineMap> maps;
  llvm::SmallVector<unsigned> firstRead; ///< where each step's reads begin

  mlir::Block *addBlock(mlir::Region &region, bool withScore);
  llvm::SmallVector<mlir::Value> elementsOf(mlir::ValueRange arguments, unsigned step);
  mlir::Value applyElementwise(const ScoreStep &step, mlir::Value score,
                               llvm::ArrayRef<mlir::Value> elements);
};

} // namespace heed
