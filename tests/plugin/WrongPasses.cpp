// Passes with a fault each, a plugin to show what finds them.
#include "dialect/Attn.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {

/// Attention without a score region loses its mask.
struct ForgetMasks : PassWrapper<ForgetMasks, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForgetMasks)
  StringRef getArgument() const final { return "forget-masks"; }

  void runOnOperation() override {
    getOperation()->walk([](heed::attn::AttentionOp op) {
      if (op.hasScore())
        return;
      op.getKeep().getBlocks().clear();
      op.getReadsMutable().clear();
      op.setReadMapsAttr(ArrayAttr::get(op.getContext(), {}));
    });
  }
};

/// Sums become differences, in machine code at the latest.
struct Subtract : PassWrapper<Subtract, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Subtract)
  StringRef getArgument() const final { return "subtract"; }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](Operation *op) {
      rewriter.setInsertionPoint(op);
      if (isa<arith::AddFOp>(op))
        rewriter.replaceOpWithNewOp<arith::SubFOp>(op, op->getOperand(0), op->getOperand(1));
      else if (isa<LLVM::FAddOp>(op))
        rewriter.replaceOpWithNewOp<LLVM::FSubOp>(op, op->getOperand(0), op->getOperand(1));
    });
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "wrong passes", "1", [] {
            PassRegistration<ForgetMasks>();
            PassRegistration<Subtract>();
          }};
}
