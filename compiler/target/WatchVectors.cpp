// Shows accesses of vectors to the thread sanitizer; see WatchVectors.h.
#include "compiler/target/WatchVectors.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace heed {

using namespace llvm;

namespace {

struct Watcher {
  Function &function;
  const DataLayout &layout;
  IRBuilder<> b;

  explicit Watcher(Function &function)
      : function(function), layout(function.getDataLayout()), b(function.getContext()) {}

  void announce(bool isWrite, Value *address, Value *bytes) {
    FunctionCallee range =
        function.getParent()->getOrInsertFunction(isWrite ? "__tsan_write_range" : "__tsan_read_range",
                                                  b.getVoidTy(), address->getType(), bytes->getType());
    b.CreateCall(range, {address, bytes})->setDoesNotThrow();
  }

  void announceWhole(bool isWrite, Value *address, Type *type) {
    uint64_t bytes = layout.getTypeStoreSize(type);
    if (!is_contained({1, 2, 4, 8, 16}, bytes))
      announce(isWrite, address, b.getInt64(bytes));
  }

  /// Lane by lane, as any lanes may be masked; one that is has no bytes. `address` is one for all lanes,
  /// which lie side by side, or one for each.
  void announceLanes(bool isWrite, Value *address, Value *mask, Type *type) {
    auto *vector = cast<FixedVectorType>(type);
    Type *element = vector->getElementType();
    uint64_t bytes = layout.getTypeStoreSize(element);
    for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
      Value *own = address->getType()->isVectorTy() ? b.CreateExtractElement(address, lane)
                                                    : b.CreateConstGEP1_64(element, address, lane);
      announce(isWrite, own,
               b.CreateSelect(b.CreateExtractElement(mask, lane), b.getInt64(bytes), b.getInt64(0)));
    }
  }

  void watch(Instruction &access) {
    b.SetInsertPoint(&access);
    if (auto *load = dyn_cast<LoadInst>(&access))
      return announceWhole(false, load->getPointerOperand(), load->getType());
    if (auto *store = dyn_cast<StoreInst>(&access))
      return announceWhole(true, store->getPointerOperand(), store->getValueOperand()->getType());
    auto *call = dyn_cast<IntrinsicInst>(&access);
    switch (call ? call->getIntrinsicID() : Intrinsic::not_intrinsic) {
    case Intrinsic::masked_load:
    case Intrinsic::masked_gather:
      return announceLanes(false, call->getArgOperand(0), call->getArgOperand(1), call->getType());
    case Intrinsic::masked_store:
    case Intrinsic::masked_scatter:
      return announceLanes(true, call->getArgOperand(1), call->getArgOperand(2),
                           call->getArgOperand(0)->getType());
    default:
      return;
    }
  }
};

} // namespace

PreservedAnalyses WatchVectorsPass::run(Function &function, FunctionAnalysisManager &) {
  if (!function.hasFnAttribute(Attribute::SanitizeThread))
    return PreservedAnalyses::all();
  SmallVector<Instruction *> accesses;
  for (Instruction &instruction : instructions(function))
    if (instruction.mayReadOrWriteMemory())
      accesses.push_back(&instruction);
  Watcher watcher(function);
  for (Instruction *access : accesses)
    watcher.watch(*access);
  return PreservedAnalyses::none();
}

} // namespace heed
