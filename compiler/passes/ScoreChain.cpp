#include "compiler/passes/ScoreChain.h"

#include "compiler/passes/Structured.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace heed;

/// The one value of a constant tensor, if it has one.
static TypedAttr splatOf(Value value) {
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return cast<TypedAttr>(elements.getSplatValue<Attribute>());
  return {};
}

static bool keepsMinusInfinity(const ScoreStep &step) {
  if (auto score = dyn_cast<attn::ScoreOpInterface>(step.op))
    return score.keepsMinusInfinity();
  return isa<arith::AddFOp, arith::ExtFOp, arith::TruncFOp>(step.op);
}

static attn::ScorePoint pointOf(ValueRange at) { return {at[0], at[1], at[2], at[3], at[4], at[5]}; }

ScoreChain::ScoreChain(ImplicitLocOpBuilder &b, int64_t rank, ArrayRef<ScoreStep> steps)
    : b(b), steps(steps) {
  static constexpr unsigned positions[] = {0, 1, 2, 3};
  SmallVector<unsigned> own(ArrayRef(positions).take_back(2));
  if (rank >= 3)
    own.insert(own.begin(), 0);
  if (rank == 4)
    own.insert(own.begin() + 1, 1);
  SmallVector<AffineExpr> dims;
  for (unsigned position : own)
    dims.push_back(b.getAffineDimExpr(position));
  auto add = [&](Value tensor, AffineMap map) {
    reads.push_back(tensor);
    maps.push_back(map.replaceDimsAndSymbols(dims, {}, 4, 0));
  };
  for (const ScoreStep &step : steps) {
    firstRead.push_back(reads.size());
    if (auto score = dyn_cast<attn::ScoreOpInterface>(step.op)) {
      for (const attn::ScoreRead &read : score.getScoreReads())
        add(read.tensor, read.map);
      continue;
    }
    for (Value operand : step.op->getOperands())
      if (operand != step.scores && !splatOf(operand))
        add(operand, b.getMultiDimIdentityMap(rank));
  }
}

Block *ScoreChain::addBlock(Region &region, bool withScore) {
  SmallVector<Type> types(6, b.getIndexType());
  if (withScore)
    types.insert(types.begin(), b.getF32Type());
  for (auto [read, map] : llvm::zip_equal(reads, maps)) {
    auto type = cast<RankedTensorType>(read.getType());
    types.push_back(map.getNumResults() == 0 && type.getRank() > 0 ? Type(type) : type.getElementType());
  }
  return b.createBlock(&region, region.end(), types, SmallVector<Location>(types.size(), b.getLoc()));
}

SmallVector<Value> ScoreChain::elementsOf(ValueRange arguments, unsigned step) {
  unsigned end = step + 1 < firstRead.size() ? firstRead[step + 1] : reads.size();
  SmallVector<Value> elements;
  for (unsigned i = firstRead[step]; i < end; ++i)
    elements.push_back(extendToF32(b, arguments[i]));
  return elements;
}

Value ScoreChain::applyElementwise(const ScoreStep &step, Value score, ArrayRef<Value> elements) {
  if (isa<arith::ExtFOp, arith::TruncFOp>(step.op))
    return score;
  SmallVector<Value> operands;
  for (Value operand : step.op->getOperands()) {
    if (operand == step.scores) {
      operands.push_back(score);
    } else if (TypedAttr splat = splatOf(operand)) {
      operands.push_back(extendToF32(b, arith::ConstantOp::create(b, splat)));
    } else {
      operands.push_back(elements.front());
      elements = elements.drop_front();
    }
  }
  return b
      .create(step.op->getLoc(), step.op->getName().getIdentifier(), operands, {b.getF32Type()},
              step.op->getAttrs())
      ->getResult(0);
}

void ScoreChain::buildRegions(Region &score, Region &keep) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<unsigned> masks;
  ValueRange arguments = addBlock(score, /*withScore=*/true)->getArguments();
  Value current = arguments[0];
  attn::ScorePoint point = pointOf(arguments.slice(1, 6));
  for (auto [i, step] : llvm::enumerate(steps)) {
    SmallVector<Value> elements = elementsOf(arguments.drop_front(7), i);
    auto op = dyn_cast<attn::ScoreOpInterface>(step.op);
    if (!op) {
      current = applyElementwise(step, current, elements);
      continue;
    }
    if (isa<attn::MaskOp>(step.op) && llvm::all_of(steps.drop_front(i + 1), keepsMinusInfinity)) {
      masks.push_back(i);
      continue;
    }
    Value kept = op.buildKeep(b, op.getLoc(), point, elements);
    current = op.buildScore(b, op.getLoc(), current, point, elements);
    if (kept)
      current = arith::SelectOp::create(b, kept, current, f32Constant(b, -INFINITY));
  }
  attn::YieldOp::create(b, current);
  if (current == arguments[0])
    score.getBlocks().clear();

  if (masks.empty())
    return;
  arguments = addBlock(keep, /*withScore=*/false)->getArguments();
  point = pointOf(arguments.take_front(6));
  Value kept;
  for (unsigned i : masks) {
    auto mask = cast<attn::MaskOp>(steps[i].op);
    Value conjunct = mask.buildKeep(b, mask.getLoc(), point, elementsOf(arguments.drop_front(6), i));
    kept = kept ? arith::AndIOp::create(b, kept, conjunct).getResult() : conjunct;
  }
  attn::YieldOp::create(b, kept);
}
