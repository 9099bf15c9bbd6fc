// What emitted code may need at most.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>

namespace heed::driver {

/// Bytes of workspace and stack that every entry must do with. A workspace grows with dynamic sizes and
/// threads: it is asked for at `sizes`, and without bound in those that are not named there.
struct Limits {
  std::optional<int64_t> workspace, stack;
  std::vector<std::string> sizes; ///< NAME=N

  void addFlags(CLI::App &command);

  /// Fails, at an entry, where a workspace may exceed its limit. False where `module` has none planned yet.
  bool checkWorkspace(mlir::ModuleOp module) const;
  /// Fails, about `file`, where the stack of its code exceeds its limit or is not known.
  void checkStack(llvm::StringRef file, std::optional<uint64_t> bytes) const;

private:
  std::map<std::string, double> parseSizes() const;
};

} // namespace heed::driver
