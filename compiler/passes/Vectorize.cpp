#include "compiler/passes/Vectorize.h"

#include "compiler/passes/Structured.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heed;

Value heed::sizeOf(ImplicitLocOpBuilder &b, Value memory, int64_t dim) {
  return asValue(b, memref::getMixedSize(b, b.getLoc(), memory, dim));
}

static AffineMap alongLastDimension(ImplicitLocOpBuilder &b, Value memory) {
  int64_t rank = cast<MemRefType>(memory.getType()).getRank();
  return AffineMap::getMinorIdentityMap(rank, 1, b.getContext());
}

Value heed::loadVector(ImplicitLocOpBuilder &b, Value memory, ArrayRef<Value> at, int64_t width, Value mask) {
  Type element = getElementTypeOrSelf(memory);
  Value padding = arith::ConstantOp::create(b, b.getZeroAttr(element));
  return vector::TransferReadOp::create(b, VectorType::get(width, element), memory, at,
                                        AffineMapAttr::get(alongLastDimension(b, memory)), padding, mask,
                                        b.getBoolArrayAttr({true}));
}

void heed::storeVector(ImplicitLocOpBuilder &b, Value vector, Value memory, ArrayRef<Value> at, Value mask) {
  vector::TransferWriteOp::create(b, Type(), vector, memory, at,
                                  AffineMapAttr::get(alongLastDimension(b, memory)), mask,
                                  b.getBoolArrayAttr({true}));
}

Value heed::remainderMask(ImplicitLocOpBuilder &b, Value size, Value offset, int64_t width) {
  Value rest = b.createOrFold<arith::SubIOp>(size, offset);
  return vector::CreateMaskOp::create(b, VectorType::get(width, b.getI1Type()), rest);
}

Value heed::wholeSteps(ImplicitLocOpBuilder &b, Value start, Value end, int64_t step) {
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  return asValue(b,
                 affine::makeComposedFoldedAffineApply(b, b.getLoc(), s0 + (s1 - s0).floorDiv(step) * step,
                                                       {getAsOpFoldResult(start), getAsOpFoldResult(end)}));
}

SmallVector<Value> heed::buildLoop(ImplicitLocOpBuilder &b, Value from, Value to, int64_t step,
                                   ValueRange carried,
                                   function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  std::optional<int64_t> first = getConstantIntValue(from), last = getConstantIntValue(to);
  if (from == to || (first && last && *first >= *last))
    return carried;
  auto loop = scf::ForOp::create(b, from, to, indexConstant(b, step), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!next.empty()) // a loop that carries nothing comes with its terminator
    scf::YieldOp::create(b, next);
  return loop.getResults();
}

void heed::buildLoop(ImplicitLocOpBuilder &b, Value from, Value to, int64_t step,
                     function_ref<void(Value)> body) {
  buildLoop(b, from, to, step, {}, [&](Value at, ValueRange) {
    body(at);
    return SmallVector<Value>();
  });
}

SmallVector<Value> heed::buildVectorLoop(ImplicitLocOpBuilder &b, Value size, int64_t width,
                                         ValueRange carried,
                                         function_ref<SmallVector<Value>(Value, Value, ValueRange)> body) {
  Value done = indexConstant(b, 0);
  SmallVector<Value> now(carried);
  for (int64_t vectors : {4, 1}) {
    Value end = wholeSteps(b, done, size, vectors * width);
    now = buildLoop(b, done, end, vectors * width, now, [&](Value at, ValueRange carried) {
      SmallVector<Value> next(carried);
      for (int64_t i = 0; i < vectors; ++i)
        next = body(b.createOrFold<arith::AddIOp>(at, indexConstant(b, i * width)), {}, next);
      return next;
    });
    done = end;
  }
  return buildLoop(b, done, size, width, now, [&](Value at, ValueRange carried) {
    return body(at, remainderMask(b, size, at, width), carried);
  });
}

Value LaneMapping::asVector(Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(b, VectorType::get(width, value.getType()), value);
}

void LaneMapping::clone(Operation *op) {
  bool perLane = llvm::any_of(op->getOperands(),
                              [&](Value operand) { return isa<VectorType>(lookup(operand).getType()); });
  if (!perLane) {
    b.clone(*op, mapping);
    return;
  }
  SmallVector<Value> operands;
  // The condition of a select may stay a scalar.
  bool select = isa<arith::SelectOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value mapped = lookup(operand.get());
    operands.push_back(select && operand.getOperandNumber() == 0 ? mapped : asVector(mapped));
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(VectorType::get(width, type));
  Operation *vectorized =
      b.create(op->getLoc(), op->getName().getIdentifier(), operands, types, op->getAttrs());
  mapping.map(op->getResults(), vectorized->getResults());
}
