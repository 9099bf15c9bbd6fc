// Reads what the author of a graph says of an entry's arguments and results.
#pragma once

#include "compiler/target/Interface.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heed {

/// The interface of a public function of the graph phase, from its types and attn.* attributes, checked
/// against what its body computes. Errors are reported at the function. `hasParams` is left to the caller.
mlir::FailureOr<EntryInterface> readSignature(mlir::func::FuncOp function, llvm::StringRef module);

} // namespace heed
