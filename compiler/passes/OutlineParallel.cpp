// Turns a loop over slots into a task for the caller's threads; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Transforms/RegionUtils.h"

namespace heed {
#define GEN_PASS_DEF_OUTLINEPARALLEL
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Positions of `pool` and `parallel` in heed_context, and its type up to there; see runtime/heed_kernel.h.
constexpr int32_t poolField = 2, parallelField = 3;

LLVM::LLVMStructType contextType(MLIRContext *context) {
  auto i32 = IntegerType::get(context, 32);
  auto pointer = LLVM::LLVMPointerType::get(context);
  return LLVM::LLVMStructType::getLiteral(context, {i32, i32, pointer, pointer});
}

struct OutlineParallel : impl::OutlineParallelBase<OutlineParallel> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp loop) { loops.push_back(loop); });
    DenseMap<func::FuncOp, int64_t> counts;
    for (scf::ForallOp loop : loops) {
      auto function = loop->getParentOfType<func::FuncOp>();
      outline(loop, function, counts[function]++);
    }
  }

  void outline(scf::ForallOp loop, func::FuncOp function, int64_t number) {
    MLIRContext *context = &getContext();
    LLVMTypeConverter converter(context);
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    auto pointer = LLVM::LLVMPointerType::get(context);
    Type i32 = b.getI32Type();

    // What the body uses from outside: constants are made again, the rest travels in the closure.
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(loop.getRegion(), captured);
    SmallVector<Value> carried;
    SmallVector<Operation *> remade;
    for (Value value : captured) {
      Operation *producer = value.getDefiningOp();
      if (producer && producer->hasTrait<OpTrait::ConstantLike>())
        remade.push_back(producer);
      else
        carried.push_back(value);
    }
    SmallVector<Type> fields;
    for (Value value : carried)
      fields.push_back(converter.convertType(value.getType()));
    auto closureType = LLVM::LLVMStructType::getLiteral(context, fields);

    Value slots = asValue(b, loop.getMixedUpperBound()[0]);
    Value count = arith::IndexCastOp::create(b, i32, slots);
    Value closure;
    {
      // In the entry block, so that a loop around does not grow the stack.
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&function.getBody().front());
      Value one = LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(1));
      closure = LLVM::AllocaOp::create(b, pointer, closureType, one);
    }
    for (auto [i, value] : llvm::enumerate(carried)) {
      Value field = LLVM::GEPOp::create(b, pointer, closureType, closure,
                                        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
      Value lowered = UnrealizedConversionCastOp::create(b, fields[i], value).getResult(0);
      LLVM::StoreOp::create(b, lowered, field);
    }

    // The task.
    auto kernel = loop->getAttrOfType<StringAttr>(kernelAttr);
    std::string name =
        function.getName().str() + "." + (kernel ? kernel.str() : "task" + std::to_string(number));
    func::FuncOp task;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(function);
      task = func::FuncOp::create(b, name, b.getFunctionType({pointer, i32}, {}));
      task.setPrivate();
      Block *entry = task.addEntryBlock();
      b.setInsertionPointToStart(entry);
      IRMapping mapping;
      for (auto [i, value] : llvm::enumerate(carried)) {
        Value field = LLVM::GEPOp::create(b, pointer, closureType, entry->getArgument(0),
                                          ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
        Value loaded = LLVM::LoadOp::create(b, fields[i], field);
        mapping.map(value, UnrealizedConversionCastOp::create(b, value.getType(), loaded).getResult(0));
      }
      for (Operation *constant : remade)
        b.clone(*constant, mapping);
      mapping.map(loop.getInductionVar(0),
                  arith::IndexCastOp::create(b, b.getIndexType(), entry->getArgument(1)));
      for (Operation &op : loop.getBody()->without_terminator())
        b.clone(op, mapping);
      func::ReturnOp::create(b);
    }

    // One slot runs here; several go to the pool; none does nothing.
    Value kernelContext = function.getArguments().back();
    Value several = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count,
                                          arith::ConstantOp::create(b, b.getI32IntegerAttr(1)));
    auto runInPool = [&] {
      auto field = [&](int32_t position) -> Value {
        Value address = LLVM::GEPOp::create(b, pointer, contextType(context), kernelContext,
                                            ArrayRef<LLVM::GEPArg>{0, position});
        return LLVM::LoadOp::create(b, pointer, address);
      };
      Value address = func::ConstantOp::create(b, task.getFunctionType(), name);
      Value taskPointer = UnrealizedConversionCastOp::create(b, pointer, address).getResult(0);
      auto callType =
          LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer, pointer, pointer, i32});
      LLVM::CallOp::create(b, callType,
                           ValueRange{field(parallelField), field(poolField), taskPointer, closure, count});
    };
    auto runHere = [&] {
      Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, count,
                                         arith::ConstantOp::create(b, b.getI32IntegerAttr(1)));
      auto one = scf::IfOp::create(b, some);
      b.setInsertionPointToStart(one.thenBlock());
      Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
      func::CallOp::create(b, task, ValueRange{closure, zero});
    };
    buildIf(b, several, runInPool, runHere);
    loop.erase();
  }
};

} // namespace
} // namespace heed
