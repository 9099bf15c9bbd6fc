// Bytes between buffers that the address sanitizer is told to report.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace heed {

class RedZones {
public:
  /// What lies between two buffers, in bytes, beside what rounds the first up to whole cache lines.
  static constexpr int64_t bytes = 64;

  explicit RedZones(mlir::ModuleOp module) : module(module) {}

  /// Poisons `size` bytes of `base` from `offset` on, which are known before `scope`, where the block `scope`
  /// begins, at `start`, and gives them back where it ends.
  void guard(mlir::Block &scope, mlir::Block::iterator start, mlir::Value base, mlir::Value offset,
             mlir::Value size);

private:
  /// `@name(memref<?xi8>)`, which hands address and size to the sanitizer's function of that name.
  mlir::func::FuncOp getOrCreate(llvm::StringRef name, llvm::StringRef sanitizerFunction);

  mlir::ModuleOp module;
};

} // namespace heed
