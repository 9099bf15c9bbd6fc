// Passes that can be run one by one.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace heed::driver {

/// A list of passes on modules, numbered as they run. While it runs them it is the context's only action
/// handler.
class Stage {
public:
  Stage(mlir::MLIRContext *context, std::string name,
        llvm::function_ref<void(mlir::OpPassManager &)> addPasses);

  const std::string &getName() const { return name; }
  /// Runs those passes that `wanted` picks; `after` sees the module when one has run.
  mlir::LogicalResult run(
      mlir::ModuleOp module, llvm::function_ref<bool(unsigned)> wanted = [](unsigned) { return true; },
      llvm::function_ref<void(unsigned)> after = [](unsigned) {});
  /// Of a pass, once `run` has been called: its flag, or all of the passes in it with their options.
  std::string nameOf(unsigned number);
  std::string pipelineOf(unsigned number);
  /// The pass that ran last.
  unsigned getLast() const { return last; }

private:
  std::string name;
  mlir::PassManager pm;
  unsigned last = 0;
};

} // namespace heed::driver
