// Sizes that the compiler computes, as formulas to read.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>
#include <string>

namespace heed::driver {

/// A size to read, and what it comes to.
struct Formula {
  std::string text;
  double value = NAN; ///< NaN where it depends on what is not known
  bool isSum = false; ///< a product puts it in parentheses

  std::string factor() const { return isSum ? "(" + text + ")" : text; }
};

/// What `function` returns, in terms of its arguments: "64·keys + 1024·threads". `function` is one that
/// computes a size by arithmetic on indices, such as `@f.workspace` after planning.
Formula formulaOf(mlir::func::FuncOp function, llvm::ArrayRef<Formula> arguments);

} // namespace heed::driver
