// Sizes of buffers, computed at the entry of a function.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace heed {

/// Beside every function `@f` stands `@f.workspace`.
inline constexpr llvm::StringLiteral workspaceSuffix = ".workspace";

class EntrySizes {
public:
  /// `b` stays at the entry of `function`.
  EntrySizes(mlir::func::FuncOp function, mlir::ImplicitLocOpBuilder &b) : function(function), b(b) {}

  /// The bytes of a buffer, or a bound of them. An error where they depend on data.
  mlir::FailureOr<mlir::Value> bytesOf(mlir::memref::AllocOp alloc);

  /// `bytes` in whole cache lines: every buffer starts on one.
  mlir::Value roundUp(mlir::Value bytes);

private:
  mlir::func::FuncOp function;
  mlir::ImplicitLocOpBuilder &b;
  mlir::IRMapping atEntry;

  /// `size`, or a bound of it, at the entry.
  mlir::FailureOr<mlir::Value> hoist(mlir::Value size, mlir::memref::AllocOp alloc);
  /// The same, without an error.
  mlir::FailureOr<mlir::Value> boundAtEntry(mlir::Value size);
  /// A bound of a result of `map`, which grows with its operands: of sums, products and quotients of sizes.
  mlir::FailureOr<mlir::Value> boundAtEntry(mlir::AffineMap map, unsigned result, mlir::ValueRange operands);
  /// Recomputes `value` at the entry from the dimensions of the arguments.
  mlir::FailureOr<mlir::Value> cloneAtEntry(mlir::Value value);
};

} // namespace heed
