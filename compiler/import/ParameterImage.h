// The parameter image of a module: a safetensors file as runtime/heed_kernel.h says, made by recipes.
#pragma once

#include "compiler/import/Safetensors.h"
#include "mlir/IR/BuiltinOps.h"

namespace heed {

/// Told how many of all bytes are written.
using ImageProgress = llvm::function_ref<void(uint64_t done, uint64_t total)>;

/// Executes the module's recipe and writes the parameter image that its `heed.interface` describes. What the
/// source lacks or holds in another shape is one error, before anything is written. Errors of `os` are its
/// owner's.
llvm::Error writeParameterImage(
    mlir::ModuleOp module, const Checkpoint &source, llvm::raw_pwrite_stream &os,
    ImageProgress progress = [](uint64_t, uint64_t) {});

/// The same, into a file.
llvm::Error writeParameterImage(
    mlir::ModuleOp module, const Checkpoint &source, llvm::StringRef path,
    ImageProgress progress = [](uint64_t, uint64_t) {});

/// Writes the data of the image alone, as it lies in a module that embeds its parameters.
llvm::Error writeParameterData(
    mlir::ModuleOp module, const Checkpoint &source, llvm::raw_ostream &os,
    ImageProgress progress = [](uint64_t, uint64_t) {});

/// Compares the data of an image with the digest in its header.
llvm::Error checkParameterImage(llvm::StringRef path);

} // namespace heed
