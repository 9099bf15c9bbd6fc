// Compiled modules in this process, and the tensors they are called with.
#pragma once

#include "compiler/driver/Driver.h"
#include "runtime/heed.h"

#include <functional>
#include <map>
#include <optional>

namespace heed::driver {

/// A tensor that owns its memory.
class HostTensor {
public:
  HostTensor() = default;
  /// Zeros.
  HostTensor(heed_type type, llvm::ArrayRef<int64_t> shape);
  explicit HostTensor(heed_tensor adopted) : tensor(adopted) {}
  HostTensor(HostTensor &&other) noexcept : tensor(other.tensor) { other.tensor = {}; }
  HostTensor &operator=(HostTensor &&other) noexcept {
    std::swap(tensor, other.tensor);
    return *this;
  }
  ~HostTensor() { heed_tensor_free(&tensor); }

  heed_tensor &operator*() { return tensor; }
  const heed_tensor &operator*() const { return tensor; }
  const heed_tensor *operator->() const { return &tensor; }
  llvm::ArrayRef<int64_t> shape() const { return {tensor.sizes, size_t(tensor.rank)}; }
  size_t bytes() const { return heed_tensor_count(&tensor) * (tensor.type.bits / 8); }

  /// Reads a .npy file, or of a .safetensors file the tensor `name`, or its only one.
  static HostTensor read(llvm::StringRef path, llvm::StringRef name);

private:
  heed_tensor tensor = {};
};

/// "f32[2x384]".
std::string describe(const heed_tensor &tensor);

/// Writes `FOLDER/<name>.npy` each, or all to one file where `place` ends in .safetensors. What .npy cannot
/// hold (bf16) becomes `<name>.safetensors`. Returns the files, in order.
std::vector<std::string>
writeTensors(llvm::StringRef place, const std::vector<std::pair<std::string, const heed_tensor *>> &tensors);

/// A shared library with its parameters and threads.
class LoadedModule {
public:
  /// `params`: the parameter image; empty: NAME.heed beside NAME.so, unless embedded. `threads`: 0 for one
  /// per processor.
  LoadedModule(llvm::StringRef path, llvm::StringRef params, int32_t threads);
  ~LoadedModule();
  LoadedModule(const LoadedModule &) = delete;

  const heed_module &operator*() const { return *heed_library_module(library); }
  /// Empty: the only one.
  const heed_entry &findEntry(llvm::StringRef name) const;
  /// Its pool, to which a trace may be added.
  heed_context context() const { return *heed_pool_context(pool); }
  const void *parameters() const { return heed_params_data(params); }

private:
  heed_library *library = nullptr;
  heed_params *params = nullptr;
  heed_pool *pool = nullptr;
};

/// One entry with its arguments, called as often as wanted in one workspace.
class Call {
public:
  /// `inputs` by name; optional ones may be absent.
  /// `sizes`: one for each size of the entry; empty: as the inputs' shapes say.
  Call(const LoadedModule &module, const heed_entry &entry, std::map<std::string, HostTensor> inputs,
       llvm::ArrayRef<int64_t> sizes = {});
  ~Call();
  Call(const Call &) = delete;

  void run(const heed_context &context);
  /// States and outputs with their names.
  std::vector<std::pair<std::string, const heed_tensor *>> results() const;
  const HostTensor &argument(int32_t index) const { return tensors[index]; }
  llvm::ArrayRef<int64_t> sizes() const { return sizeValues; }

private:
  std::vector<heed_tensor> views() const;

  const LoadedModule &module;
  const heed_entry &entry;
  std::vector<HostTensor> tensors; ///< one for each argument
  std::vector<int64_t> sizeValues;
  heed_workspace workspace = {};
};

/// "a, b", of all that `name` picks.
template <typename T> std::string listNames(T *const *items, int32_t count) {
  std::string names;
  for (int32_t i = 0; i < count; ++i)
    names += std::string(i ? ", " : "") + items[i]->name;
  return names;
}

} // namespace heed::driver
