#include "compiler/passes/EmitKeyWalk.h"

#include "compiler/passes/Structured.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace heed {

namespace {

class EmittedOps {
public:
  using Value = mlir::Value;

  /// `values`: one per variable that is not a division.
  EmittedOps(ImplicitLocOpBuilder &b, const MaskVariables &variables, SmallVector<Value> values)
      : b(b), variables(variables), values(std::move(values)) {}

  Value constant(int64_t value) { return indexConstant(b, value); }
  Value add(Value x, Value y) { return apply(symbol(0) + symbol(1), {x, y}); }
  Value subtract(Value x, Value y) { return apply(symbol(0) - symbol(1), {x, y}); }
  Value alignDown(Value x, int64_t size) { return apply(symbol(0).floorDiv(size) * size, {x}); }
  Value min(Value x, Value y) { return extreme({symbol(0), symbol(1)}, {x, y}, /*isMax=*/false); }
  Value max(Value x, Value y) { return extreme({symbol(0), symbol(1)}, {x, y}, /*isMax=*/true); }
  Value less(Value x, Value y, Value ifTrue, Value ifFalse) {
    if (isEqualConstantIntOrValue(ifTrue, ifFalse))
      return ifTrue;
    Value isLess = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, x, y);
    return b.createOrFold<arith::SelectOp>(isLess, ifTrue, ifFalse);
  }
  bool isEmpty(Value begin, Value end) {
    std::optional<int64_t> first = getConstantIntValue(begin), last = getConstantIntValue(end);
    return begin == end || (first && last && *first >= *last);
  }
  Value maxOf(ArrayRef<Form> forms) { return extremeOf(forms, /*isMax=*/true); }
  Value minOf(ArrayRef<Form> forms) { return extremeOf(forms, /*isMax=*/false); }

private:
  AffineExpr symbol(unsigned number) { return b.getAffineSymbolExpr(number); }

  Value apply(AffineExpr expr, ArrayRef<Value> operands) {
    SmallVector<OpFoldResult> folded = getAsOpFoldResult(operands);
    return asValue(b, affine::makeComposedFoldedAffineApply(b, b.getLoc(), expr, folded));
  }

  Value extreme(ArrayRef<AffineExpr> exprs, ArrayRef<Value> operands, bool isMax) {
    auto map = AffineMap::get(0, operands.size(), exprs, b.getContext());
    SmallVector<OpFoldResult> folded = getAsOpFoldResult(operands);
    return asValue(b, isMax ? affine::makeComposedFoldedAffineMax(b, b.getLoc(), map, folded)
                            : affine::makeComposedFoldedAffineMin(b, b.getLoc(), map, folded));
  }

  Value extremeOf(ArrayRef<Form> forms, bool isMax) {
    SmallVector<AffineExpr> exprs;
    for (const Form &form : forms)
      exprs.push_back(variables.getExpression(form, b.getContext()));
    // Only the symbols that occur become operands.
    llvm::SmallBitVector used(values.size());
    for (AffineExpr expr : exprs)
      expr.walk([&](AffineExpr part) {
        if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
          used.set(symbol.getPosition());
      });
    SmallVector<AffineExpr> renamed(values.size(), b.getAffineConstantExpr(0));
    SmallVector<Value> operands;
    for (unsigned variable : used.set_bits()) {
      renamed[variable] = symbol(operands.size());
      operands.push_back(values[variable]);
    }
    for (AffineExpr &expr : exprs)
      expr = expr.replaceSymbols(renamed);
    return extreme(exprs, operands, isMax);
  }

  ImplicitLocOpBuilder &b;
  const MaskVariables &variables;
  SmallVector<Value> values;
};

/// Computes outside of the region what no pair changes.
class SymbolEmitter {
public:
  SymbolEmitter(ImplicitLocOpBuilder &b, attn::AttentionOp op, const TilePlace &place) : b(b), op(op) {
    Block &body = op.getKeep().front();
    Value values[] = {place.batch, place.head, {}, {}, place.queryLength, place.keyLength};
    for (auto [argument, value] : llvm::zip(body.getArguments(), values))
      if (value)
        mapping.map(argument, value);
  }

  /// `value` as an index. Larger numbers than any position leave room for sums.
  Value emit(Value value) {
    Value result = clone(value);
    if (result.getType().isInteger(1))
      return arith::IndexCastUIOp::create(b, b.getIndexType(), result);
    if (!result.getType().isIndex())
      result = arith::IndexCastOp::create(b, b.getIndexType(), result);
    if (!value.getType().isIndex() && value.getType().getIntOrFloatBitWidth() <= 32)
      return result;
    Value limit = indexConstant(b, int64_t(1) << 60), least = indexConstant(b, -(int64_t(1) << 60));
    return arith::MaxSIOp::create(b, arith::MinSIOp::create(b, result, limit), least);
  }

private:
  Value clone(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned number = argument.getArgNumber() - 6;
      Value read = op.getReads()[number];
      if (!isa<RankedTensorType>(value.getType()))
        read = tensor::ExtractOp::create(b, read,
                                         getPlace(cast<AffineMapAttr>(op.getReadMaps()[number]).getValue()));
      mapping.map(value, read);
      return read;
    }
    for (Value operand : value.getDefiningOp()->getOperands())
      clone(operand);
    b.clone(*value.getDefiningOp(), mapping);
    return mapping.lookup(value);
  }

  SmallVector<Value> getPlace(AffineMap map) {
    SmallVector<Value> place;
    for (AffineExpr expr : map.getResults()) {
      auto constant = dyn_cast<AffineConstantExpr>(expr);
      place.push_back(
          constant ? indexConstant(b, constant.getValue())
                   : mapping.lookup(op.getKeep().getArgument(cast<AffineDimExpr>(expr).getPosition())));
    }
    return place;
  }

  ImplicitLocOpBuilder &b;
  attn::AttentionOp op;
  IRMapping mapping;
};

} // namespace

/// The walk of the tile at a place.
static KeyWalk<EmittedOps> walkAt(ImplicitLocOpBuilder &b, attn::AttentionOp op, const MaskAnalysis &mask,
                                  const TilePlace &place, KeySteps steps) {
  SmallVector<Value> values(mask.variables.size());
  values[maskVariable::tileBegin] = place.tileBegin;
  values[maskVariable::tileEnd] = b.createOrFold<arith::AddIOp>(place.tileBegin, place.rows);
  values[maskVariable::queryLength] = place.queryLength;
  values[maskVariable::keyLength] = place.keyLength;
  values[maskVariable::queryOffset] = place.queryOffset;
  values[maskVariable::keyOffset] = place.keyOffset;
  values[maskVariable::batch] = place.batch;
  values[maskVariable::head] = place.head;
  SymbolEmitter symbols(b, op, place);
  for (unsigned variable = maskVariable::firstFree; variable < values.size(); ++variable)
    if (Value value = mask.variables.getValue(variable))
      values[variable] = symbols.emit(value);
  return KeyWalk(EmittedOps(b, mask.variables, std::move(values)), mask, steps.panel, steps.tile);
}

/// One walk over each of `spans`, in a loop over them where they are several, so that one copy of the code
/// serves all.
static SmallVector<Value> walkSpans(ImplicitLocOpBuilder &b, ArrayRef<KeySpan<Value>> spans, KeyRange range,
                                    ValueRange state, KeyLoops::Walk walk) {
  auto walkOne = [&](const KeySpan<Value> &span, ValueRange state) {
    range.begin = span.begin, range.end = span.end;
    return walk(range, state);
  };
  if (spans.empty())
    return state;
  if (spans.size() == 1)
    return walkOne(spans[0], state);
  auto loop =
      scf::ForOp::create(b, indexConstant(b, 0), indexConstant(b, spans.size()), indexConstant(b, 1), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  KeySpan<Value> chosen = spans.back();
  for (auto [number, span] : llvm::enumerate(spans.drop_back())) {
    Value isThis =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, loop.getInductionVar(), indexConstant(b, number));
    chosen.begin = b.createOrFold<arith::SelectOp>(isThis, span.begin, chosen.begin);
    chosen.end = b.createOrFold<arith::SelectOp>(isThis, span.end, chosen.end);
  }
  scf::YieldOp::create(b, walkOne(chosen, loop.getRegionIterArgs()));
  return loop.getResults();
}

KeyLoops::KeyLoops(ImplicitLocOpBuilder &b, attn::AttentionOp op, const std::optional<MaskAnalysis> &mask,
                   const TilePlace &place, KeySteps steps)
    : b(b), op(op), mask(mask), steps(steps) {
  if (!mask || mask->dropped.empty()) {
    full.push_back({indexConstant(b, 0), place.keyLength});
  } else if (mask->asks()) {
    KeyWalk<EmittedOps> walk = walkAt(b, op, *mask, place, steps);
    full = walk.getFull(walk.getSegments(place.keyLength));
    asks = true;
  } else if (!mask->touched.empty()) {
    KeySegment<Value> segment = walkAt(b, op, *mask, place, {1, 1}).getSegments(place.keyLength)[0];
    full.push_back({segment.begin, segment.end});
  }
}

SmallVector<Value> KeyLoops::walkFull(ValueRange state, Walk walk) {
  return walkSpans(b, full, {{}, {}, /*asks=*/{}, /*isWhole=*/asks}, state, walk);
}

SmallVector<KeySpan<Value>> KeyLoops::getAsked(const TilePlace &part) {
  KeyWalk<EmittedOps> own = walkAt(b, op, *mask, part, steps);
  return own.getAsked(own.getSegments(part.keyLength), full);
}

SmallVector<Value> KeyLoops::walkAsked(const TilePlace &part, ValueRange state, Walk walk) {
  Value asks = arith::ConstantIntOp::create(b, 1, 1);
  return walkSpans(b, getAsked(part), {{}, {}, asks, /*isWhole=*/false}, state, walk);
}

SmallVector<Value> KeyLoops::walkEither(Value asks, const TilePlace &part, ValueRange state, Walk walk) {
  SmallVector<KeySpan<Value>> asked = getAsked(part), spans;
  KeySpan<Value> none{indexConstant(b, 0), indexConstant(b, 0)};
  for (size_t i = 0; i < std::max(full.size(), asked.size()); ++i) {
    KeySpan<Value> kept = i < full.size() ? full[i] : none, own = i < asked.size() ? asked[i] : none;
    spans.push_back({b.createOrFold<arith::SelectOp>(asks, own.begin, kept.begin),
                     b.createOrFold<arith::SelectOp>(asks, own.end, kept.end)});
  }
  return walkSpans(b, spans, {{}, {}, asks, /*isWhole=*/false}, state, walk);
}

} // namespace heed
