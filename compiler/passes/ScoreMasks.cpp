// What of a score region is a mask, and what is a scale; see ScoreChain.h.
#include "compiler/passes/ScoreChain.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace heed;

static bool isMinusInfinity(Value value) {
  APFloat constant(0.0);
  return matchPattern(value, m_ConstantFloat(&constant)) && constant.isInfinity() && constant.isNegative();
}

static bool isPositive(Value value) {
  APFloat constant(0.0);
  return matchPattern(value, m_ConstantFloat(&constant)) && !constant.isNegative() &&
         constant.isFiniteNonZero();
}

/// The value where it is not −inf by a selection; what must hold for that goes to `masks`, the last first.
Value ScoreChain::unmask(Value value, SmallVectorImpl<Value> &masks) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select || dependsOnScore(select.getCondition()))
    return value;
  if (isMinusInfinity(select.getFalseValue())) {
    masks.push_back(select.getCondition());
    return unmask(select.getTrueValue(), masks);
  }
  if (!isMinusInfinity(select.getTrueValue()))
    return value;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(select);
  Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
  masks.push_back(b.createOrFold<arith::XOrIOp>(select.getCondition(), yes));
  return unmask(select.getFalseValue(), masks);
}

/// The value for kept pairs. Conditions under which it is −inf go to `kept`, negated. −inf plus a NaN or +inf
/// counts as −inf here too: a pair that a mask drops contributes nothing.
Value ScoreChain::separateMasks(Value value, SmallVectorImpl<Value> &kept) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse())
    return value;
  if (isa<arith::SelectOp>(op)) {
    Value unmasked = unmask(value, kept);
    return unmasked == value ? value : separateMasks(unmasked, kept);
  }
  bool leavesInfinity = isa<arith::AddFOp, arith::ExtFOp, arith::TruncFOp>(op) ||
                        (isa<arith::MulFOp>(op) && llvm::any_of(op->getOperands(), isPositive)) ||
                        (isa<arith::DivFOp>(op) && isPositive(op->getOperand(1)));
  if (!leavesInfinity)
    return value;
  for (OpOperand &operand : op->getOpOperands())
    operand.set(separateMasks(operand.get(), kept));
  if (isa<arith::AddFOp>(op))
    for (unsigned i : {0, 1})
      if (matchPattern(op->getOperand(i), m_AnyZeroFloat()))
        return op->getOperand(1 - i);
  return value;
}

/// A constant factor of the product itself becomes the scale.
void ScoreChain::absorbScale() {
  while (product.hasOneUse()) {
    Operation *op = *product.user_begin();
    APFloat factor(1.0);
    if (!isa<arith::MulFOp, arith::DivFOp>(op) || op->getOperand(0) == op->getOperand(1))
      return;
    bool isFirst = op->getOperand(0) == product;
    if (!matchPattern(op->getOperand(isFirst), m_ConstantFloat(&factor)) || !factor.isFiniteNonZero() ||
        (isa<arith::DivFOp>(op) && !isFirst))
      return;
    double value = factor.convertToDouble();
    scale = isa<arith::MulFOp>(op) ? scale * value : scale / value;
    op->getResult(0).replaceAllUsesWith(product);
    op->erase();
  }
}

void ScoreChain::buildKeep(ArrayRef<Value> kept) {
  if (kept.empty())
    return;
  SmallVector<Type> types(llvm::drop_begin(block->getArgumentTypes()));
  Block *body = b.createBlock(&keep, keep.end(), types, SmallVector<Location>(types.size(), b.getLoc()));
  IRMapping mapping;
  for (auto [of, to] : llvm::zip_equal(block->getArguments().drop_front(), body->getArguments()))
    mapping.map(of, to);
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> work(kept);
  while (!work.empty())
    if (Operation *op = work.pop_back_val().getDefiningOp(); op && needed.insert(op))
      llvm::append_range(work, op->getOperands());
  for (Operation &op : *block)
    if (needed.contains(&op))
      b.clone(op, mapping);
  Value all;
  for (Value one : llvm::reverse(kept)) { // in the order in which they were written
    Value conjunct = mapping.lookup(one);
    all = all ? arith::AndIOp::create(b, all, conjunct).getResult() : conjunct;
  }
  attn::YieldOp::create(b, all);
}
