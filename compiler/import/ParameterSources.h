// The files that a module's parameters come from.
//
// A module names them in an attribute, which every phase keeps: one file, an index of shards, or a list of
// both, relative to the module's own folder.
//
//   heed.params = "model.safetensors"
#pragma once

#include "compiler/import/Safetensors.h"
#include "mlir/IR/BuiltinOps.h"

namespace heed {

/// Opens the files that the module names, relative to `folder`, or `overrides` instead.
llvm::Expected<Checkpoint> openParameters(mlir::ModuleOp module, llvm::StringRef folder,
                                          llvm::ArrayRef<std::string> overrides = {});

/// Names the module's files relative to `to` instead of `from`.
void rebaseParameters(mlir::ModuleOp module, llvm::StringRef from, llvm::StringRef to);

} // namespace heed
