// Wraps every entry in its C forms, with all checks of the contract; see Passes.td.
#include "compiler/passes/Passes.h"
#include "compiler/target/CpuCheck.h"
#include "compiler/target/Entry.h"
#include "compiler/target/Tables.h"
#include "runtime/heed_kernel.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_EMITINTERFACE
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr StringLiteral workspaceSuffix = ".workspace";

/// Replaces sums and products by ones that stop at the largest index instead of wrapping around.
void saturate(func::FuncOp function) {
  // Affine maps hide sums and products.
  RewritePatternSet patterns(function.getContext());
  populateAffineToStdConversionPatterns(patterns);
  (void)applyPatternsGreedily(function, std::move(patterns));
  function.walk([&](Operation *op) {
    if (!isa<arith::AddIOp, arith::MulIOp>(op) || !op->getResult(0).getType().isIndex())
      return;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value left = op->getOperand(0), right = op->getOperand(1);
    Value zero = arith::ConstantIndexOp::create(b, 0), most = arith::ConstantIndexOp::create(b, INT64_MAX);
    Value result, overflowed;
    if (isa<arith::AddIOp>(op)) {
      result = arith::AddIOp::create(b, left, right);
      // Offsets may be negative, but only what grows too large matters.
      Value wasPositive =
          arith::AndIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, left, zero),
                                arith::CmpIOp::create(b, arith::CmpIPredicate::sge, right, zero));
      overflowed = arith::AndIOp::create(b, wasPositive,
                                         arith::CmpIOp::create(b, arith::CmpIPredicate::slt, result, zero));
    } else {
      auto wide = arith::MulSIExtendedOp::create(b, left, right);
      result = wide.getLow();
      overflowed = arith::OrIOp::create(
          b, arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, wide.getHigh(), zero),
          arith::AndIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, wide.getHigh(), zero),
                                arith::CmpIOp::create(b, arith::CmpIPredicate::slt, result, zero)));
    }
    op->replaceAllUsesWith(ValueRange(arith::SelectOp::create(b, overflowed, most, result)));
    op->erase();
  });
}

struct EmitInterface : impl::EmitInterfaceBase<EmitInterface> {
  using EmitInterfaceBase::EmitInterfaceBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<ModuleInterface> interface = ModuleInterface::get(module);
    FailureOr<Target> target = Target::of(module);
    if (failed(interface) || failed(target))
      return signalPassFailure();

    SymbolTable symbols(module);
    SmallVector<std::pair<func::FuncOp, func::FuncOp>> bodies;
    for (const EntryInterface &entry : interface->entries) {
      auto body = symbols.lookup<func::FuncOp>(entry.name);
      auto workspace = symbols.lookup<func::FuncOp>(entry.name + workspaceSuffix.str());
      if (!body || !workspace) {
        module.emitError("expected functions @") << entry.name << " and @" << entry.name << workspaceSuffix;
        return signalPassFailure();
      }
      if (failed(checkForm(entry, body, workspace)) || failed(symbols.rename(body, entry.symbol + ".body")))
        return signalPassFailure();
      bodies.emplace_back(body, workspace);
    }

    makeLocal(module, *target);
    LLVM::LLVMFuncOp cpuCheck = emitCpuCheck(module, *target);
    std::string defaultContext = interface->name + ".default_context";
    emitDefaultContext(module, defaultContext);
    for (auto [entry, functions] : llvm::zip_equal(interface->entries, bodies))
      emitEntry(module, *target, entry, functions.first, functions.second, interface->parameterBytes,
                cpuCheck, defaultContext, contracts);
    emitTables(module, *interface, *target);
  }

  /// Whether the functions of the buffer phase agree with what the interface says.
  static LogicalResult checkForm(const EntryInterface &entry, func::FuncOp body, func::FuncOp workspace) {
    unsigned numTensors = entry.arguments.size(), numDynamic = 0;
    if (body.getNumArguments() != numTensors + 4 || body.getNumResults() != 0)
      return body.emitError("expected ")
             << numTensors
             << " tensors, params, workspace, threads and context as arguments and no result, but got "
             << body.getFunctionType();
    for (auto [i, argument] : llvm::enumerate(entry.arguments)) {
      auto type = dyn_cast<MemRefType>(body.getArgumentTypes()[i]);
      if (!type || type.getRank() != argument.rank() || type.getElementType() != argument.elementType ||
          type.getLayout().isIdentity() == argument.strided)
        return body.emitError("argument '")
               << argument.name << "': expected a " << (argument.strided ? "strided" : "dense")
               << " memref of rank " << argument.rank() << " and element type " << argument.elementType
               << ", but got " << body.getArgumentTypes()[i];
      numDynamic += type.getNumDynamicDims();
    }
    if (workspace.getNumArguments() != numDynamic + 1)
      return workspace.emitError("expected ")
             << numDynamic << " dynamic dimensions and the threads as arguments, but got "
             << workspace.getFunctionType();
    return success();
  }

  /// Nothing of the bodies is visible outside the object; what says how much workspace they need runs on any
  /// CPU.
  static void makeLocal(ModuleOp module, const Target &target) {
    MLIRContext *context = module.getContext();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      function.setPrivate();
      function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
      for (NamedAttribute attribute : llvm::to_vector(function->getDiscardableAttrs()))
        if (attribute.getName().getValue().starts_with("attn."))
          function->removeAttr(attribute.getName());
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        for (NamedAttribute attribute :
             SmallVector<NamedAttribute>(mlir::function_interface_impl::getArgAttrs(function, i)))
          if (attribute.getName().getValue().starts_with("attn."))
            function.removeArgAttr(i, attribute.getName());
      if (!function.getSymName().ends_with(workspaceSuffix))
        continue;
      saturate(function);
      function->setAttr("passthrough", baselinePassthrough(context, target));
    }
  }

  /// What a null context stands for, so that bodies never see one.
  static void emitDefaultContext(ModuleOp module, StringRef name) {
    ImplicitLocOpBuilder b(module.getLoc(), OpBuilder::atBlockEnd(module.getBody()));
    Type i32 = b.getI32Type(), pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, pointer, pointer});
    auto global =
        LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Private, name, Attribute());
    b.setInsertionPointToEnd(&global.getInitializerRegion().emplaceBlock());
    Value value = LLVM::ZeroOp::create(b, type);
    const int64_t fields[] = {HEED_CONTEXT_MIN_BYTES, 1};
    for (auto [i, field] : llvm::enumerate(fields))
      value = LLVM::InsertValueOp::create(
          b, value, LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(field)), int64_t(i));
    LLVM::ReturnOp::create(b, value);
  }
};

} // namespace
} // namespace heed
