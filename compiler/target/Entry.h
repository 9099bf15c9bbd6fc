// The functions of an entry that callers reach: the uniform form, the typed form, and their workspaces.
#pragma once

#include "compiler/target/Interface.h"
#include "compiler/target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace heed {

/// Emits `<symbol>.call`, `<symbol>.bytes`, `<symbol>` and `<symbol>_workspace_bytes` around `body` and
/// `workspace`, as the buffer phase leaves them; the parameter image has `parameterBytes`. `cpuCheck` may be
/// null; `defaultContext` names the global that stands for a null context.
void emitEntry(mlir::ModuleOp module, const Target &target, const EntryInterface &entry,
               mlir::func::FuncOp body, mlir::func::FuncOp workspace, uint64_t parameterBytes,
               mlir::LLVM::LLVMFuncOp cpuCheck, llvm::StringRef defaultContext, bool contracts);

} // namespace heed
