// Sizes that the compiler computes, as formulas to read.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heed::driver {

/// What `function` returns, in the names of its arguments: "64·keys + 1024·threads". `function` is one that
/// computes a size by arithmetic on indices, such as `@f.workspace` after planning.
std::string formulaOf(mlir::func::FuncOp function, llvm::ArrayRef<std::string> names);

} // namespace heed::driver
