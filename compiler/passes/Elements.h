// How one element of a tensor comes about: what fusing asks instead of matching operations.
#pragma once

#include "dialect/Attn.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace heed {

/// One number: the element of a tensor at `at`, or, with `body`, a scalar in the region of that structured
/// operation at its loops `at`. `at` maps the coordinates in which the question was asked.
struct Element {
  mlir::Value value;
  mlir::AffineMap at;
  mlir::linalg::LinalgOp body;

  bool operator==(const Element &other) const { return value == other.value && at == other.at; }
};

/// Answers for coordinates of these sizes; a dynamic one is ShapedType::kDynamic.
class Elements {
public:
  explicit Elements(llvm::ArrayRef<int64_t> sizes) : sizes(sizes) {}

  /// Where the element comes from: through transposes, reshapes, broadcasts, static slices and tensor casts,
  /// into the regions of elementwise structured operations and out of them by their inputs; as far as
  /// coordinates stay affine.
  Element resolve(Element element) const;
  /// One such step; null at the end of the way.
  std::optional<Element> step(const Element &element) const;
  /// The operands of the scalar or elementwise operation that computes a resolved element; none where it is
  /// not computed so.
  std::optional<llvm::SmallVector<Element>> operandsOf(const Element &element) const;
  /// The operand of a resolved element that only a float cast separates from it.
  std::optional<Element> castOperand(const Element &element) const;

private:
  mlir::AffineMap simplify(mlir::AffineMap map) const;
  mlir::AffineExpr simplify(mlir::AffineExpr expr) const;

  llvm::SmallVector<int64_t> sizes;
};

/// The one value of the element if it is a constant.
mlir::TypedAttr constantOf(const Element &element);

} // namespace heed
