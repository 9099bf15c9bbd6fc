// One parameter of an image, made from the tensors of a checkpoint as its recipe says.
#pragma once

#include "compiler/import/ConvertElements.h"
#include "compiler/import/Recipe.h"

namespace heed {

/// A part as it lies in its file: a strided view.
struct View {
  const char *data;
  llvm::SmallVector<int64_t> shape, strides; // in elements; in bytes
  ConvertRun convert;
};

/// One parameter of the image, ready to be written.
class Production {
public:
  static llvm::Expected<Production> plan(mlir::ModuleOp module, const Checkpoint &source,
                                         const ParameterInterface &parameter);

  /// Calls `write` with one piece of the stored tensor after the other.
  void run(llvm::function_ref<void(llvm::StringRef)> write) const;

  StorageType type;
  /// As stored.
  llvm::SmallVector<int64_t> shape;

private:
  /// Copies `count` elements from `index` on along dimension `dim`.
  void copyRun(llvm::SmallVector<int64_t> index, size_t dim, int64_t count, char *to) const;

  llvm::SmallVector<View> views;
  llvm::SmallVector<int64_t> logical;
  size_t concatenation = 0;
  std::optional<Panels> panels;
};

} // namespace heed
