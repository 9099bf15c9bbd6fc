// What happens to a score between the product of queries and keys and the softmax, as regions over one score.
#pragma once

#include "compiler/passes/Elements.h"

namespace heed {

/// Builds the regions of attn.attention from the scores that a softmax reads. Coordinates are (batch, head,
/// query, key). What has both a query and a key coordinate is computed in the region, since to read it would
/// be to store as many elements as there are scores; everything else is read.
class ScoreChain {
public:
  /// `products`: the result of the first matmul, which is a score at `productsAt`; `factors`: elements that
  /// multiply it first.
  ScoreChain(mlir::ImplicitLocOpBuilder &b, const Elements &elements, mlir::Value products,
             mlir::AffineMap productsAt, llvm::ArrayRef<Element> factors);

  /// Builds both regions for the element that the softmax reads. False where a step has no scalar form; it is
  /// then `getObstacle()`. A region that would change nothing stays empty, −inf for a pair becomes part of
  /// the keep region where what comes after it leaves −inf alone.
  bool build(const Element &scores);
  mlir::Operation *getObstacle() const { return obstacle; }

  mlir::Region &getScore() { return score; }
  mlir::Region &getKeep() { return keep; }
  /// The constant that multiplies the product.
  double getScale() const { return scale; }
  /// What the regions read, with maps over (batch, head, query, key).
  llvm::ArrayRef<mlir::Value> getReads() const { return reads; }
  llvm::ArrayRef<mlir::AffineMap> getMaps() const { return maps; }
  /// The operations through which the scores come, in order, the product not among them.
  llvm::ArrayRef<mlir::Operation *> getSteps() const { return steps.getArrayRef(); }

private:
  mlir::Value elementOf(const Element &element);
  mlir::Value compute(const Element &element);
  mlir::Value computeScoreOp(attn::ScoreOpInterface op, mlir::AffineMap at);
  mlir::Value computeScalar(const Element &element, mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value read(const Element &element);
  mlir::Value readWhole(mlir::Value tensor);
  mlir::Value addRead(mlir::Value tensor, mlir::AffineMap map, mlir::Type type);
  mlir::Value coordinate(mlir::AffineExpr expr);
  mlir::Value lengthOf(mlir::Value tensor, int64_t dim, mlir::AffineExpr at);

  bool dependsOnScore(mlir::Value value);
  mlir::Value unmask(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &masks);
  mlir::Value separateMasks(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &kept);
  void absorbScale();
  void buildKeep(llvm::ArrayRef<mlir::Value> kept);

  mlir::ImplicitLocOpBuilder &b;
  const Elements &elements;
  mlir::Value products;
  mlir::AffineMap productsAt;
  mlir::Region score, keep;
  mlir::Block *block;
  mlir::Value product; ///< the score that the steps start from
  double scale = 1;
  llvm::SmallVector<mlir::Value> reads;
  llvm::SmallVector<mlir::AffineMap> maps;
  llvm::SetVector<mlir::Operation *> steps;
  llvm::DenseMap<std::pair<mlir::Value, mlir::AffineMap>, mlir::Value> built;
  mlir::Operation *obstacle = nullptr;
};

} // namespace heed
