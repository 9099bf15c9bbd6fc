// Whether a structured operation can work on vectors along its innermost loop.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace heed {

/// The innermost loop of a linalg.generic as lanes of a vector.
struct LaneAnalysis {
  mlir::linalg::GenericOp op;
  int64_t last; ///< the innermost loop
  llvm::SmallVector<mlir::AffineMap> maps;
  bool reduces;
  std::optional<mlir::vector::CombiningKind> kind; ///< of a reduction, once `obstacle` found none
  mlir::Operation *combiner = nullptr;

  explicit LaneAnalysis(mlir::linalg::GenericOp op);

  bool dependsOnLane(mlir::AffineMap map) const { return map.isFunctionOfDim(last); }
  /// Whether `value` is the innermost loop's index.
  bool isLaneIndex(mlir::Value value) const;
  /// Why this operation stays scalar; empty if it need not.
  llvm::StringRef obstacle();

private:
  llvm::StringRef operandObstacle() const;
  llvm::StringRef reductionObstacle();
  llvm::StringRef bodyObstacle(mlir::Operation *inner);
  /// Whether `value`, inside of the body, differs between the lanes of one vector.
  bool variesByLane(mlir::Value value);
};

} // namespace heed
