// The interpreter's tensors, which are doubles and 64-bit integers, as they lie in memory, and back.
#pragma once

#include "compiler/driver/Module.h"
#include "compiler/import/Safetensors.h"
#include "compiler/interpreter/Inputs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heed::driver {

/// In the memory layout of its element type; values are rounded to nearest even.
HostTensor toHost(const Tensor &tensor);
/// A dense tensor of `elementType` from memory.
Tensor fromHost(mlir::Type elementType, const heed_tensor &tensor);
/// A tensor of a file.
Tensor readTensor(mlir::MLIRContext *context, StorageType type, llvm::ArrayRef<int64_t> shape,
                  const void *data);

/// Calls the compiled form of `function` and gives its results, of the function's types, with their names.
std::vector<std::pair<std::string, Tensor>> callCompiled(const LoadedModule &compiled,
                                                         const EntryInterface &entry,
                                                         mlir::func::FuncOp function, const InputCase &one);

} // namespace heed::driver
