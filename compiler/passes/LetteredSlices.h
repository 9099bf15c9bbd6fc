// Matrices out of tensors whose dimensions have letters, as the layout of an attention gives them.
#pragma once

#include "compiler/passes/Structured.h"

namespace heed {

/// Offset and size of a slice along each lettered dimension.
using Ranges = llvm::DenseMap<char, std::pair<mlir::OpFoldResult, mlir::OpFoldResult>>;

/// The matrix [first, second] of a slice of `tensor`, written to `destination`.
mlir::Value copyMatrix(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor, llvm::StringRef letters,
                       const Ranges &ranges, char first, char second, mlir::Value destination);

/// The slice of `tensor` as a matrix [first, second]. One that lies the other way round is transposed into a
/// small tile.
mlir::Value sliceMatrix(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor, llvm::StringRef letters,
                        const Ranges &ranges, char first, char second);

} // namespace heed
