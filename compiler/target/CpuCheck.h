// Code that runs on any CPU of an architecture, and refuses those that the rest of the module would trap on.
#pragma once

#include "compiler/target/Target.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace heed {

/// Appends llvm.func `name` for the least CPU of the target's architecture, with its entry block. One that is
/// not exported has internal linkage.
mlir::LLVM::LLVMFuncOp createBaselineFunction(mlir::ModuleOp module, const Target &target,
                                              llvm::StringRef name, mlir::Type result,
                                              llvm::ArrayRef<mlir::Type> arguments, bool exported);

/// The attributes that make a function one for the least CPU, as LLVM takes them.
mlir::ArrayAttr baselinePassthrough(mlir::MLIRContext *context, const Target &target);

/// Adds `<module>.has_cpu() -> i1`: whether this machine has the instructions of the target, and its
/// operating system keeps their registers. It asks once and caches the answer in the word
/// `<module>_cpu_level`, since CPUID is slow, and traps under virtualization as AArch64's registers always
/// do; there it takes a system that answers for them, as Linux does from 4.11 on. Nothing is added, and null
/// returned, where every CPU of the architecture will do.
mlir::LLVM::LLVMFuncOp emitCpuCheck(mlir::ModuleOp module, const Target &target);

} // namespace heed
