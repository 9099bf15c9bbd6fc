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
  EmittedOps(ImplicitLocOpBuilder &b, const MaskVariables &variables, ArrayRef<Value> values)
      : b(b), variables(variables), values(values) {}

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
  ArrayRef<Value> values;
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

static SmallVector<KeySegment<Value>> emitSegments(ImplicitLocOpBuilder &b, attn::AttentionOp op,
                                                   const MaskAnalysis &mask, const TilePlace &place,
                                                   KeySteps steps) {
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
  EmittedOps ops(b, mask.variables, values);
  return KeyWalk(ops, mask, steps.panel, steps.tile).getSegments(place.keyLength);
}

/// The segment of the loop's turn, so that one copy of the code serves all of them.
static KeySegment<Value> choose(ImplicitLocOpBuilder &b, ArrayRef<KeySegment<Value>> segments, Value turn) {
  KeySegment<Value> chosen = segments.back();
  for (auto [number, segment] : llvm::enumerate(segments.drop_back())) {
    Value isThis = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, turn, indexConstant(b, number));
    for (Value KeySegment<Value>::*bound : {&KeySegment<Value>::begin, &KeySegment<Value>::fullBegin,
                                            &KeySegment<Value>::fullEnd, &KeySegment<Value>::end})
      chosen.*bound = b.createOrFold<arith::SelectOp>(isThis, segment.*bound, chosen.*bound);
  }
  return chosen;
}

SmallVector<Value> emitKeyWalk(ImplicitLocOpBuilder &b, attn::AttentionOp op,
                               const std::optional<MaskAnalysis> &mask, const TilePlace &place,
                               KeySteps steps, ArrayRef<Value> initial,
                               function_ref<SmallVector<Value>(const KeyRange &, ValueRange)> walk) {
  SmallVector<Value> state(initial);
  if (!mask || mask->dropped.empty())
    return walk({indexConstant(b, 0), place.keyLength, /*asks=*/false, /*isWhole=*/false}, state);
  if (mask->touched.empty())
    return state;
  if (mask->isUpperBound()) {
    KeySegment<Value> segment = emitSegments(b, op, *mask, place, {1, 1})[0];
    return walk({segment.begin, segment.end, /*asks=*/false, /*isWhole=*/false}, state);
  }

  auto segments = emitSegments(b, op, *mask, place, steps);
  auto walkSegment = [&](const KeySegment<Value> &segment, SmallVector<Value> state) {
    for (const KeyRange &range : {KeyRange{segment.begin, segment.fullBegin, /*asks=*/true, false},
                                  KeyRange{segment.fullBegin, segment.fullEnd, /*asks=*/false, true},
                                  KeyRange{segment.fullEnd, segment.end, /*asks=*/true, false}})
      if (!isEqualConstantIntOrValue(range.begin, range.end))
        state = walk(range, state);
    return state;
  };
  if (segments.size() == 1)
    return walkSegment(segments[0], state);
  auto loop = scf::ForOp::create(b, indexConstant(b, 0), indexConstant(b, segments.size()),
                                 indexConstant(b, 1), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  state = walkSegment(choose(b, segments, loop.getInductionVar()),
                      llvm::to_vector_of<Value>(loop.getRegionIterArgs()));
  scf::YieldOp::create(b, state);
  return loop.getResults();
}

} // namespace heed
