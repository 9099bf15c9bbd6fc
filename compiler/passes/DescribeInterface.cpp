// Computes what the module offers to its callers from the graph; see Passes.td.
#include "compiler/passes/Passes.h"
#include "compiler/target/Interface.h"
#include "compiler/target/Signature.h"

#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SCCIterator.h"

namespace heed {
#define GEN_PASS_DEF_DESCRIBEINTERFACE
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Whether `function` reads parameters, itself or through a call.
bool usesParams(func::FuncOp function, llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (!seen.insert(function).second)
    return false;
  return function
      .walk([&](Operation *op) {
        if (op->getName().getStringRef() == "attn.param")
          return WalkResult::interrupt();
        if (auto call = dyn_cast<func::CallOp>(op))
          if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr()))
            if (usesParams(callee, seen))
              return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// A graph whose functions call themselves has no end, and its workspace no size.
LogicalResult refuseRecursion(ModuleOp module) {
  CallGraph graph(module);
  for (auto calls = llvm::scc_begin(static_cast<const CallGraph *>(&graph)); !calls.isAtEnd(); ++calls)
    if (calls.hasCycle() && !calls->front()->isExternal())
      return calls->front()->getCallableRegion()->getParentOp()->emitError(
          "expected a function that does not call itself");
  return success();
}

/// Gives functions of the module that call an entry a private copy of it: an entry fills memory of its
/// caller's, and what its interface says is checked of calls from outside alone.
void separateCalls(ModuleOp module) {
  SymbolTable symbols(module);
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    if (!function.isPublic() || function.isExternal() || SymbolTable::symbolKnownUseEmpty(function, module))
      continue;
    func::FuncOp copy = function.clone();
    copy.setPrivate();
    copy.setSymName((function.getName() + ".called").str());
    symbols.insert(copy, std::next(function->getIterator()));
    (void)SymbolTable::replaceAllSymbolUses(function, copy.getSymNameAttr(), module);
  }
}

struct DescribeInterface : impl::DescribeInterfaceBase<DescribeInterface> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ModuleInterface interface;
    interface.name = moduleName(module);
    if (!isCIdentifier(interface.name) || interface.name == "heed") {
      module.emitError("expected the name of the module to be a C identifier other than 'heed', but got '")
          << interface.name << "'";
      return signalPassFailure();
    }
    module.setSymName(interface.name);
    if (failed(refuseRecursion(module)))
      return signalPassFailure();
    separateCalls(module);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function.isPublic() || function.isExternal())
        continue;
      FailureOr<EntryInterface> entry = readSignature(function, interface.name);
      if (failed(entry))
        return signalPassFailure();
      llvm::SmallPtrSet<Operation *, 8> seen;
      entry->hasParams = usesParams(function, seen);
      interface.entries.push_back(std::move(*entry));
    }
    if (interface.entries.empty()) {
      module.emitError("expected a public function with a body to be the entry, but found none");
      return signalPassFailure();
    }
    interface.attach(module);
  }
};

} // namespace
} // namespace heed
