// Runs a transform script on the module; see Passes.td.
#include "compiler/passes/Passes.h"

#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_APPLYSCHEDULE
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct ApplySchedule : impl::ApplyScheduleBase<ApplySchedule> {
  using ApplyScheduleBase::ApplyScheduleBase;

  /// Copies of the pass run the same script.
  std::shared_ptr<OwningOpRef<ModuleOp>> script;

  LogicalResult initialize(MLIRContext *context) override {
    script = std::make_shared<OwningOpRef<ModuleOp>>(parseSourceFile<ModuleOp>(file, context));
    return success(script->get() != nullptr);
  }

  void runOnOperation() override {
    StringRef name = transform::TransformDialect::kTransformEntryPointSymbolName;
    auto sequence = (*script)->lookupSymbol<transform::NamedSequenceOp>(name);
    if (!sequence) {
      (*script)->emitError("expected a transform.named_sequence @") << name;
      return signalPassFailure();
    }
    if (failed(transform::applyTransforms(getOperation(), sequence, {}, transform::TransformOptions(),
                                          /*enforceToplevelTransformOp=*/false)))
      return signalPassFailure();
    // Loops ask the operations that they took apart for their sizes, which would keep these.
    RewritePatternSet patterns(&getContext());
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace heed
