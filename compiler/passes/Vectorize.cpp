#include "compiler/passes/Vectorize.h"

#include "compiler/passes/Structured.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heed;

static AffineMap alongLastDimension(ImplicitLocOpBuilder &b, Value tensor) {
  int64_t rank = cast<ShapedType>(tensor.getType()).getRank();
  return AffineMap::getMinorIdentityMap(rank, 1, b.getContext());
}

Value heed::loadVector(ImplicitLocOpBuilder &b, Value tensor, ArrayRef<Value> at, int64_t width, Value mask) {
  Type element = getElementTypeOrSelf(tensor);
  Value padding = arith::ConstantOp::create(b, b.getZeroAttr(element));
  return vector::TransferReadOp::create(b, VectorType::get(width, element), tensor, at,
                                        AffineMapAttr::get(alongLastDimension(b, tensor)), padding, mask,
                                        b.getBoolArrayAttr({true}));
}

Value heed::storeVector(ImplicitLocOpBuilder &b, Value vector, Value tensor, ArrayRef<Value> at, Value mask) {
  return vector::TransferWriteOp::create(b, tensor.getType(), vector, tensor, at,
                                         AffineMapAttr::get(alongLastDimension(b, tensor)), mask,
                                         b.getBoolArrayAttr({true}))
      .getResult();
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
  if (first && last && *first >= *last)
    return carried;
  auto loop = scf::ForOp::create(b, from, to, indexConstant(b, step), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b, body(loop.getInductionVar(), loop.getRegionIterArgs()));
  return loop.getResults();
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
