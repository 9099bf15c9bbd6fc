// Gives every parameter its place in the image; see Passes.td.
#include "compiler/import/Recipe.h"
#include "compiler/passes/Passes.h"
#include "dialect/Attn.h"
#include "runtime/heed_kernel.h"

#include "llvm/Support/MathExtras.h"

namespace heed {
#define GEN_PASS_DEF_LAYOUTPARAMETERS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct LayOutParameters : impl::LayOutParametersBase<LayOutParameters> {
  void runOnOperation() override {
    FailureOr<ModuleInterface> interface = ModuleInterface::get(getOperation());
    if (failed(interface) || failed(collect()))
      return signalPassFailure();
    interface->parameters.clear();
    interface->parameterBytes = 0;
    for (auto &[name, param] : parameters) {
      auto type = cast<RankedTensorType>(param.getType());
      llvm::Expected<ParameterInterface> parameter = describeParameter(getOperation(), name, type);
      if (!parameter) {
        param.emitError(llvm::toString(parameter.takeError()));
        return signalPassFailure();
      }
      parameter->offset = interface->parameterBytes;
      interface->parameterBytes = llvm::alignTo(parameter->offset + parameter->bytes, HEED_ALIGNMENT);
      interface->parameters.push_back(std::move(*parameter));
      ++numParameters;
    }
    interface->attach(getOperation());
  }

  /// Finds every parameter that is used, once.
  LogicalResult collect() {
    WalkResult result = getOperation().walk([&](attn::ParamOp param) {
      auto [it, added] = parameters.try_emplace(param.getName().str(), param);
      if (added || it->second.getType() == param.getType())
        return WalkResult::advance();
      param.emitError("expected one type for parameter '")
              .append(param.getName(), "', but got ", it->second.getType(), " and ", param.getType())
              .attachNote(it->second.getLoc())
          << "the other use is here";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// By name: the layout does not depend on the order of passes or entries.
  std::map<std::string, attn::ParamOp> parameters;
};

} // namespace
} // namespace heed
