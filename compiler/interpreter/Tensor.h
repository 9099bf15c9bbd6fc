// Tensors as the oracle keeps them: floats of every type in double precision, integers as 64 bits.
#pragma once

#include "compiler/interpreter/Real.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/LLVM.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace heed {

/// A dense, row-major tensor. Floats fill `values`, integers (index and i1 too, i1 as 0 or 1) fill
/// `integers`.
struct Tensor {
  mlir::Type elementType;
  llvm::SmallVector<int64_t> shape;
  std::vector<double> values;
  std::vector<int64_t> integers;
  /// The variance of each value as in Real; empty where all values are exact.
  std::vector<double> variance;
  /// Softmax weights: −0.0 stands for a pair that is not kept, which contributes nothing to a product.
  bool marksDropped = false;
  /// Of an argmax or top-k's indices: what was chosen from, along the last dimension.
  std::shared_ptr<const Tensor> candidates;
  /// Of a result where an intermediate left the range of its type: the result if such are infinite.
  std::shared_ptr<const Tensor> overflown;
  /// Of a result of a graph that may write masks as −inf added: the result if such pairs are left out.
  std::shared_ptr<const Tensor> leftOut;

  Tensor() = default;
  /// Zeros. Every size is at least 0, and their product fits the machine.
  Tensor(mlir::Type elementType, llvm::ArrayRef<int64_t> shape);
  /// From values in row-major order, rounded to `elementType`.
  static Tensor ofFloats(mlir::FloatType elementType, llvm::ArrayRef<int64_t> shape,
                         std::vector<double> values);
  static Tensor ofIntegers(mlir::Type elementType, llvm::ArrayRef<int64_t> shape,
                           std::vector<int64_t> values);

  bool isFloat() const { return mlir::isa_and_present<mlir::FloatType>(elementType); }
  int64_t rank() const { return shape.size(); }
  int64_t size() const { return isFloat() ? values.size() : integers.size(); }
  /// Size of dimension `dim`, counted from the end where negative.
  int64_t dim(int64_t dim) const { return shape[dim < 0 ? dim + rank() : dim]; }

  Real real(int64_t at) const { return {values[at], variance.empty() ? 0 : variance[at]}; }
  void setReal(int64_t at, Real x);
  /// Makes room for variances.
  void trackVariance() { variance.resize(values.size()); }
  /// Copies element `from` of `source`, of the same element type or at least the same kind.
  void copyElement(int64_t at, const Tensor &source, int64_t from);

  /// The offset of a coordinate, or −1 where it lies outside.
  int64_t offset(llvm::ArrayRef<int64_t> coordinate) const;

  /// Rounds every float to the element type, to nearest even, as storing it would.
  void round();
};

/// `value` rounded to nearest even in `type`; a double where `type` is f64.
double roundTo(mlir::FloatType type, double value);
/// The most that one rounding to `type` moves `value`: a half step, or all of a subnormal number of f32 or
/// bf16.
double rounding(mlir::FloatType type, double value);
/// The first size that a rounding to `type` makes infinite.
double overflowOf(mlir::FloatType type);
/// x as the result of an operation on `type`: one more rounding where `type` is narrower than f32. The value
/// itself stays wide, as an intermediate may, also beyond the type's range unless `Overflow` holds.
Real roundedLike(mlir::Type type, Real x);

/// Number of elements, or −1 where a size is negative or the product exceeds `limit`.
int64_t countElements(llvm::ArrayRef<int64_t> shape, int64_t limit);
/// Row-major strides in elements.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);
/// Steps `coordinate` through `shape` in row-major order; false after the last.
bool advance(llvm::MutableArrayRef<int64_t> coordinate, llvm::ArrayRef<int64_t> shape);
/// "[2, 3]".
std::string showShape(llvm::ArrayRef<int64_t> shape);

} // namespace heed
