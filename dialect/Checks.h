// What verifiers and shape inference of several operations share.
#pragma once

#include "dialect/Attn.h"

namespace heed::attn {

/// Whether two sizes may be equal at run time: they are equal, or one of them is dynamic.
inline bool mayEqual(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b);
}

/// A size, shape or list of types as messages show it: `?`, `[2, ?]`, `(f32, index)`.
std::string show(int64_t size);
std::string show(llvm::ArrayRef<int64_t> shape);
std::string show(mlir::TypeRange types);

/// Refuses a `type` whose rank or static sizes differ from `shape`; `what` names the tensor.
llvm::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef what, mlir::Type type,
                                llvm::ArrayRef<int64_t> shape);

/// Refuses a position given per batch entry whose size is not `batch`. `position` may be null.
llvm::LogicalResult verifyPosition(mlir::Operation *op, llvm::StringRef what, mlir::Value position, int64_t batch);

/// Refuses reads without one map each from `sizes.size()` coordinates to their own, inside their static sizes.
llvm::LogicalResult verifyReads(mlir::Operation *op, mlir::ValueRange reads, mlir::ArrayAttr maps,
                                llvm::ArrayRef<int64_t> sizes);

/// Refuses a region that does not take `leading` and one value per read, or does not yield one `result`.
llvm::LogicalResult verifyRegion(mlir::Operation *op, llvm::StringRef what, mlir::Region &region,
                                 llvm::ArrayRef<mlir::Type> leading, mlir::ValueRange reads, mlir::ArrayAttr maps,
                                 mlir::Type result);

/// The type of the region argument that stands for `tensor` read through `map`.
mlir::Type getReadType(mlir::Value tensor, mlir::AffineMap map);

/// Names the arguments of a region: `leading`, then `read` for each read.
void nameRegionArguments(mlir::Region &region, llvm::ArrayRef<llvm::StringRef> leading,
                         mlir::OpAsmSetValueNameFn setName);

/// The shape of one result: static sizes from its type, dynamic ones from `size(dimension)`.
void reifyShape(mlir::OpBuilder &builder, mlir::Value result,
                llvm::function_ref<mlir::OpFoldResult(int64_t)> size,
                mlir::ReifiedRankedShapedTypeDims &shapes);

/// For operations whose only result has the shape of their first operand.
llvm::LogicalResult reifyLikeFirstOperand(mlir::Operation *op, mlir::OpBuilder &builder,
                                          mlir::ReifiedRankedShapedTypeDims &shapes);

} // namespace heed::attn
