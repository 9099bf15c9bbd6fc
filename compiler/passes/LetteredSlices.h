// What a tile of an attention sees of its tensors, whose dimensions have letters or maps.
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

/// What a tile sees of a tensor whose map is from (batch, head, query, key), with a map from (query, key).
/// `ranges`: offset and size of the tile along each.
std::pair<mlir::Value, mlir::AffineMap>
sliceRead(mlir::ImplicitLocOpBuilder &b, mlir::Value read, mlir::AffineMap map,
          llvm::ArrayRef<std::pair<mlir::OpFoldResult, mlir::OpFoldResult>> ranges);

} // namespace heed
