// Reads what the author of a graph says of an entry's arguments and results.
#pragma once

#include "compiler/target/Interface.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heed {

/// Marks an argument that callers pass in panels.
inline constexpr llvm::StringLiteral packedAttr = "attn.packed";

/// The module's name; one without takes that of its file.
std::string moduleName(mlir::ModuleOp module);

/// The interface of a public function of the graph phase, from its types and attn.* attributes, checked
/// against what its body computes; what that needs of sizes with names of their own is added to the
/// relations. Errors are reported at the function. `hasParams` is left to the caller.
mlir::FailureOr<EntryInterface> readSignature(mlir::func::FuncOp function, llvm::StringRef module);

} // namespace heed
