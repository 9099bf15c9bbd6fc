// Scalar code over lanes: what the vectorizing passes share.
#pragma once

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace heed {

/// The size of `memory` along `dim`, folded where constant.
mlir::Value sizeOf(mlir::ImplicitLocOpBuilder &b, mlir::Value memory, int64_t dim);
/// `width` elements along the last dimension of `memory` from `at` on; those off `mask` (null: none) are not
/// read and give zero.
mlir::Value loadVector(mlir::ImplicitLocOpBuilder &b, mlir::Value memory, llvm::ArrayRef<mlir::Value> at,
                       int64_t width, mlir::Value mask);
/// The counterpart of `loadVector`.
void storeVector(mlir::ImplicitLocOpBuilder &b, mlir::Value vector, mlir::Value memory,
                 llvm::ArrayRef<mlir::Value> at, mlir::Value mask);
/// The first `size − offset` of `width` lanes.
mlir::Value remainderMask(mlir::ImplicitLocOpBuilder &b, mlir::Value size, mlir::Value offset, int64_t width);

/// The last multiple of `step`, counted from `start`, that does not pass `end`.
mlir::Value wholeSteps(mlir::ImplicitLocOpBuilder &b, mlir::Value start, mlir::Value end, int64_t step);

/// A loop from `from` to `to` that carries `carried`; none where it is known to be empty.
llvm::SmallVector<mlir::Value>
buildLoop(mlir::ImplicitLocOpBuilder &b, mlir::Value from, mlir::Value to, int64_t step,
          mlir::ValueRange carried,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value at, mlir::ValueRange carried)> body);
/// The same, carrying nothing.
void buildLoop(mlir::ImplicitLocOpBuilder &b, mlir::Value from, mlir::Value to, int64_t step,
               llvm::function_ref<void(mlir::Value at)> body);

/// A row of `size` elements in vectors of `width`: four at once, then one, then the rest under a mask.
llvm::SmallVector<mlir::Value>
buildVectorLoop(mlir::ImplicitLocOpBuilder &b, mlir::Value size, int64_t width, mlir::ValueRange carried,
                llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value at, mlir::Value mask,
                                                                  mlir::ValueRange carried)>
                    body);

/// Clones scalar operations for all lanes at once: what depends on the lane becomes a vector, what does not
/// stays a scalar.
class LaneMapping {
public:
  LaneMapping(mlir::ImplicitLocOpBuilder &b, int64_t width) : b(b), width(width) {}

  void map(mlir::Value from, mlir::Value to) { mapping.map(from, to); }
  bool contains(mlir::Value value) const { return mapping.contains(value); }
  mlir::Value lookup(mlir::Value value) const { return mapping.lookupOrDefault(value); }
  mlir::Value asVector(mlir::Value value);
  /// Clones an elementwise operation or a constant.
  void clone(mlir::Operation *op);

private:
  mlir::ImplicitLocOpBuilder &b;
  int64_t width;
  mlir::IRMapping mapping;
};

} // namespace heed
