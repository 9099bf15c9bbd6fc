// The smallest module that still shows what a whole one shows.
#pragma once

#include "compiler/driver/Driver.h"
#include "compiler/interpreter/Inputs.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace heed::driver {

/// What is asked of each candidate, whose arguments and results are static.
struct Candidates {
  /// Whether it shows what the whole shows.
  llvm::function_ref<bool(mlir::ModuleOp)> show;
  /// The results of its entry for some inputs; nothing where it cannot be run.
  llvm::function_ref<std::optional<std::vector<Tensor>>(mlir::ModuleOp)> evaluate;
  unsigned most; ///< candidates to try
};

/// Makes `module` smaller for at most a minute: one result of one entry, of the sizes of `one`, less and less
/// of what leads to it. `result`: what it is for `one`. Null where even the first candidate does not show it.
mlir::OwningOpRef<mlir::ModuleOp> reduce(mlir::ModuleOp module, const EntryInterface &entry,
                                         const InputCase &one, unsigned number, const Tensor &result,
                                         const Candidates &candidates);

} // namespace heed::driver
