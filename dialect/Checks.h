// What verifiers and shape inference of several operations share.
#pragma once

#include "dialect/Attn.h"

namespace mlir {
class PatternRewriter;
} // namespace mlir

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

/// Refuses sums of `rows` rows that are not [rows, parts], the parts static and positive.
llvm::LogicalResult verifyRowSum(mlir::Operation *op, mlir::Type type, int64_t rows);

/// Refuses a position given per batch entry whose size is not `batch`. `position` may be null.
llvm::LogicalResult verifyPosition(mlir::Operation *op, llvm::StringRef what, mlir::Value position,
                                   int64_t batch);

/// What a region takes before its reads, the names that these arguments are printed with, and what it yields.
struct RegionSignature {
  llvm::StringRef name;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<llvm::StringRef> argumentNames;
  mlir::Type result;

  static RegionSignature score(mlir::MLIRContext *context);
  static RegionSignature keep(mlir::MLIRContext *context);
  static RegionSignature epilogue(mlir::MLIRContext *context);

  /// The types of all arguments: of each tensor read the element, or all of it where its map has no results.
  llvm::SmallVector<mlir::Type> getArgumentTypes(mlir::TypeRange reads, mlir::ArrayAttr maps) const;

  /// Names the arguments of a region that is printed.
  void setNames(mlir::Region &region, mlir::OpAsmSetValueNameFn setName) const;
};

/// Refuses reads without one map each from `sizes.size()` coordinates to their own, inside their static
/// sizes.
llvm::LogicalResult verifyReads(mlir::Operation *op, mlir::ValueRange reads, mlir::ArrayAttr maps,
                                llvm::ArrayRef<int64_t> sizes);

/// Refuses regions that are not empty and differ from their signature, and reads where all are empty.
/// The maps have been verified.
llvm::LogicalResult verifySignatures(mlir::Operation *op, llvm::ArrayRef<RegionSignature> signatures,
                                     mlir::ValueRange reads, mlir::ArrayAttr maps);

/// The shape of one result: static sizes from its type, dynamic ones from `size(dimension)`.
void reifyShape(mlir::OpBuilder &builder, mlir::Value result,
                llvm::function_ref<mlir::OpFoldResult(int64_t)> size,
                mlir::ReifiedRankedShapedTypeDims &shapes);

/// For operations whose only result has the shape of their first operand.
llvm::LogicalResult reifyLikeFirstOperand(mlir::Operation *op, mlir::OpBuilder &builder,
                                          mlir::ReifiedRankedShapedTypeDims &shapes);

/// Brings the keep region to the form that several spellings share, and drops reads that nothing reads.
llvm::LogicalResult simplifyMask(AttentionOp op, mlir::PatternRewriter &rewriter);

} // namespace heed::attn
