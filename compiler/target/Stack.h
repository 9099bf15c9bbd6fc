// How much stack a thread needs inside emitted code.
#pragma once

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Module.h"

#include <optional>

namespace heed {

/// Adds up the frames that the code generator reports along the calls of a module.
class StackMeter {
public:
  /// Notes who calls whom, and has the code generator report every frame. Call it just before it runs.
  void watch(llvm::Module &module);

  /// Takes a report; it reaches the handler of diagnostics.
  void record(const llvm::DiagnosticInfoStackSize &frame);

  /// The deepest stack, in bytes, once code has been generated. Nothing where a function calls itself or has
  /// a frame without bound. What the functions of a heed_context use comes on top.
  std::optional<uint64_t> deepest() const;

private:
  struct Node {
    uint64_t frameBytes = 0;
    bool isBounded = true;
    llvm::SmallSetVector<llvm::StringRef, 4> callees;
  };

  llvm::MapVector<llvm::StringRef, Node> nodes; ///< the names are the module's
};

} // namespace heed
