// Passes that can be run one by one; see Stage.h.
#include "compiler/driver/Stage.h"

#include "mlir/IR/Action.h"
#include "mlir/Pass/Pass.h"

using namespace llvm;

namespace heed::driver {

Stage::Stage(mlir::MLIRContext *context, std::string name,
             function_ref<void(mlir::OpPassManager &)> addPasses)
    : name(std::move(name)),
      pm(context, mlir::ModuleOp::getOperationName(), mlir::PassManager::Nesting::Implicit) {
  addPasses(pm);
}

mlir::LogicalResult Stage::run(mlir::ModuleOp module, function_ref<bool(unsigned)> wanted,
                               function_ref<void(unsigned)> after) {
  unsigned next = 0;
  bool isInside = false; // passes may run others
  module->getContext()->registerActionHandler(
      [&](function_ref<void()> act, const mlir::tracing::Action &action) {
        auto *execution = dyn_cast<mlir::PassExecutionAction>(&action);
        if (!execution || execution->getOp() != module || isInside)
          return act();
        last = next++;
        if (!wanted(last))
          return;
        isInside = true;
        act();
        isInside = false;
        after(last);
      });
  mlir::LogicalResult result = pm.run(module);
  module->getContext()->registerActionHandler(nullptr);
  return result;
}

std::string Stage::pipelineOf(unsigned number) {
  std::string text;
  raw_string_ostream os(text);
  std::next(pm.begin(), number)->printAsTextualPipeline(os);
  return text;
}

std::string Stage::nameOf(unsigned number) {
  StringRef flag = std::next(pm.begin(), number)->getArgument();
  return flag.empty() ? pipelineOf(number) : flag.str();
}

} // namespace heed::driver
