// Where queries, keys, values and the result of a fused attention lie.
#pragma once

#include "compiler/passes/Elements.h"

namespace heed {

/// A tensor as an operand of attn.attention: its letters name its dimensions.
struct FusedOperand {
  mlir::Value tensor;
  std::string letters;
  double scale = 1;                   ///< the constant that multiplied it,
  llvm::SmallVector<Element> factors; ///< and the scalars
  int64_t heads = 1;
};

/// The result of attn.attention, and the value that it replaces once it is collapsed by `groups`, if any.
struct FusedResult {
  mlir::Value replaced;
  std::string letters;
  mlir::RankedTensorType type;
  llvm::SmallVector<mlir::ReassociationIndices> groups;

  mlir::Value reshape(mlir::OpBuilder &b, mlir::Value result) const;
};

/// The coordinates of an attention, given by the matmul with its values: (batch, head, query, key) of scores,
/// (batch, head, row, feature) of operands. Heads that were merged into the batch are told apart again where
/// a reshape says how many there are.
class Coordinates {
public:
  Coordinates(attn::MatmulOp weighted, bool weightsOnLeft);

  llvm::ArrayRef<int64_t> getScoreSizes() const { return sizes; }
  /// Of the weights, as operand of the matmul.
  mlir::AffineMap weightsAt() const;
  /// Whether these are coordinates of a product with one element per score.
  bool isScore(mlir::AffineMap at) const;

  /// The operands, followed through moves of data and uniform factors as far as their dimensions have
  /// letters, so that no copy is made of what they read. Their element types are made equal.
  std::array<FusedOperand, 3> followOperands(mlir::ImplicitLocOpBuilder &b, attn::MatmulOp products,
                                             mlir::AffineMap productsAt) const;
  /// The result, followed through moves and casts that nothing else needs.
  FusedResult followResult() const;

private:
  mlir::AffineExpr dim(unsigned position) const;
  llvm::SmallVector<mlir::AffineExpr> leading(int64_t rank) const;
  mlir::AffineMap over(llvm::ArrayRef<mlir::AffineExpr> results) const;
  FusedOperand follow(mlir::ImplicitLocOpBuilder &b, attn::MatmulOp matmul, bool left,
                      llvm::StringRef letters, bool share) const;
  std::optional<std::string> lettersOf(const Element &element, llvm::StringRef letters, bool share,
                                       int64_t &inner) const;
  void splitDimension(mlir::ImplicitLocOpBuilder &b, FusedOperand &operand, int64_t inner) const;

  mutable attn::MatmulOp weighted; ///< MLIR's accessors are not const
  bool weightsOnLeft, hasBatch, hasHeads;
  bool areMerged = false; ///< heads and batch of the weights
  llvm::SmallVector<int64_t> sizes;
};

} // namespace heed
