// Tells the caller's context when a kernel begins and ends, and what it computed; see Passes.td.
#include "compiler/passes/Passes.h"
#include "compiler/passes/Structured.h"
#include "compiler/target/Interface.h"
#include "runtime/heed_kernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace heed {
#define GEN_PASS_DEF_TRACEKERNELS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// The buffer that `memref` is a part of, as seen from outside of `loop`.
Value rootOutside(Value memref, Operation *loop) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!loop->isAncestor(op))
      break;
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      return {};
    memref = view.getViewSource();
  }
  return memref;
}

/// The tensors that `loop` leaves: what it writes to, save scratch of its own.
SetVector<Value> writtenBy(Operation *loop) {
  SetVector<Value> written;
  loop->walk([&](MemoryEffectOpInterface op) {
    if (isa<memref::PrefetchOp>(op)) // claims to write, so that it is kept
      return;
    SmallVector<MemoryEffects::EffectInstance> effects;
    op.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (!isa<MemoryEffects::Write>(effect.getEffect()) || !effect.getValue() ||
          !isa<MemRefType>(effect.getValue().getType()))
        continue;
      Value root = rootOutside(effect.getValue(), loop);
      auto type = root ? dyn_cast<MemRefType>(root.getType()) : MemRefType();
      bool isBytes = type && type.getElementType().isInteger(8); // the workspace itself
      if (type && !isBytes && isInterfaceType(type.getElementType()) && type.getRank() > 0)
        written.insert(root);
    }
  });
  return written;
}

struct TraceKernels : impl::TraceKernelsBase<TraceKernels> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Operation *> kernels;
      unsigned unnamed = 0;
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        auto call = dyn_cast<func::CallOp>(op);
        if (call && call.getNumOperands() && isa<LLVM::LLVMPointerType>(call.getOperands().back().getType()))
          kernels.push_back(op);
        if (!isa<scf::ForallOp>(op))
          return WalkResult::advance();
        if (!op->hasAttr(kernelAttr)) // rebuilt on the way by a pattern that does not know of names
          op->setAttr(kernelAttr, StringAttr::get(&getContext(), "loop" + Twine(unnamed++)));
        kernels.push_back(op);
        return WalkResult::skip();
      });
      if (!kernels.empty())
        trace(function, kernels);
    }
  }

private:
  void trace(func::FuncOp function, ArrayRef<Operation *> kernels) {
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(), &function.getBody().front());
    context = function.getArguments().back();
    pointer = LLVM::LLVMPointerType::get(&getContext());
    // A caller whose context ends before `trace` is not traced.
    Value size = LLVM::LoadOp::create(b, b.getI32Type(), context);
    Value hasTrace = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, size, i32(b, sizeof(heed_context)));
    callback = buildIf(
        b, hasTrace, pointer, [&] { return SmallVector<Value>{load(b, offsetof(heed_context, trace))}; },
        [&] { return SmallVector<Value>{LLVM::ZeroOp::create(b, pointer)}; })[0];
    isTraced = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, callback, LLVM::ZeroOp::create(b, pointer));
    entry = &function.getBody().front();

    for (Operation *kernel : kernels) {
      std::string name = function.getName().str() + ".";
      if (auto call = dyn_cast<func::CallOp>(kernel))
        name = call.getCallee();
      else
        name += kernel->getAttrOfType<StringAttr>(kernelAttr).getValue();
      ImplicitLocOpBuilder before(kernel->getLoc(), kernel),
          after(kernel->getLoc(), kernel->getBlock(), std::next(kernel->getIterator()));
      tell(before, HEED_TRACE_BEGIN, name, {});
      SetVector<Value> written;
      if (!isa<func::CallOp>(kernel))
        written = writtenBy(kernel);
      tell(after, HEED_TRACE_END, name, {});
      for (auto [i, tensor] : llvm::enumerate(written))
        tell(after, HEED_TRACE_TENSOR, i ? name + "." + std::to_string(i) : name, tensor);
    }
  }

  /// if (trace) trace(trace_data, kind, name, tensor);
  void tell(ImplicitLocOpBuilder &b, int kind, StringRef name, Value memref) {
    auto guarded = scf::IfOp::create(b, isTraced);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(guarded.thenBlock());
    Value tensor = memref ? describe(b, memref) : LLVM::ZeroOp::create(b, pointer).getResult();
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                            {pointer, b.getI32Type(), pointer, pointer});
    LLVM::CallOp::create(b, type,
                         ValueRange{callback, load(b, offsetof(heed_context, trace_data)), i32(b, kind),
                                    text(b, name), tensor});
  }

  /// A heed_tensor on the stack that describes `memref`.
  Value describe(ImplicitLocOpBuilder &b, Value memref) {
    auto type = cast<MemRefType>(memref.getType());
    Type i8 = b.getI8Type(), i16 = b.getIntegerType(16), i64 = b.getI64Type();
    auto dataType = LLVM::LLVMStructType::getLiteral(&getContext(), {i8, i8, i16});
    auto tensorType = LLVM::LLVMStructType::getLiteral(&getContext(),
                                                       {pointer, dataType, b.getI32Type(), pointer, pointer});
    auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
    Value tensor = stack(b, tensorType, 1);
    Value sizes = stack(b, i64, type.getRank()), strides = stack(b, i64, type.getRank());
    auto toI64 = [&](Value index) { return arith::IndexCastOp::create(b, i64, index).getResult(); };
    auto store = [&](Value value, Type element, Value base, ArrayRef<LLVM::GEPArg> at) {
      LLVM::StoreOp::create(b, value, LLVM::GEPOp::create(b, pointer, element, base, at));
    };
    for (int32_t i = 0; i < type.getRank(); ++i) {
      store(toI64(metadata.getSizes()[i]), i64, sizes, {i});
      store(toI64(metadata.getStrides()[i]), i64, strides, {i});
    }
    Value address = toI64(memref::ExtractAlignedPointerAsIndexOp::create(b, memref));
    Value base = LLVM::IntToPtrOp::create(b, pointer, address);
    Type inMemory = b.getIntegerType(8 * elementBytes(type.getElementType()));
    Value data = LLVM::GEPOp::create(b, pointer, inMemory, base, toI64(metadata.getOffset()));
    auto [code, bits] = typeCode(type.getElementType());
    store(data, tensorType, tensor, {0, 0});
    auto number = [&](Type type, int64_t value) {
      return LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, value)).getResult();
    };
    store(number(i8, code), tensorType, tensor, {0, 1, 0});
    store(number(i8, bits), tensorType, tensor, {0, 1, 1});
    store(number(i16, 1), tensorType, tensor, {0, 1, 2});
    store(i32(b, type.getRank()), tensorType, tensor, {0, 2});
    store(sizes, tensorType, tensor, {0, 3});
    store(strides, tensorType, tensor, {0, 4});
    return tensor;
  }

  /// Room for `count` elements, in the entry block, so that loops do not grow the stack.
  Value stack(ImplicitLocOpBuilder &b, Type type, int64_t count) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    return LLVM::AllocaOp::create(b, pointer, type, i32(b, count));
  }

  Value i32(ImplicitLocOpBuilder &b, int64_t value) {
    return LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(value));
  }
  Value load(ImplicitLocOpBuilder &b, int64_t offset) {
    Value address =
        LLVM::GEPOp::create(b, pointer, b.getI8Type(), context, LLVM::GEPArg(static_cast<int32_t>(offset)));
    return LLVM::LoadOp::create(b, pointer, address);
  }

  /// The address of a text, one constant for each.
  Value text(ImplicitLocOpBuilder &b, StringRef text) {
    std::string symbol = ("trace." + text).str();
    if (!getOperation().lookupSymbol(symbol)) {
      auto top = OpBuilder::atBlockEnd(getOperation().getBody());
      std::string terminated = text.str() + '\0';
      LLVM::GlobalOp::create(top, b.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), terminated.size()),
                             /*isConstant=*/true, LLVM::Linkage::Private, symbol,
                             b.getStringAttr(terminated));
    }
    return LLVM::AddressOfOp::create(b, pointer, symbol);
  }

  Value context, callback, isTraced;
  Type pointer;
  Block *entry = nullptr;
};

} // namespace
} // namespace heed
