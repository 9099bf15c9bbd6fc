#include "compiler/passes/ScoreChain.h"

#include "compiler/passes/Structured.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace heed;

/// The type in which a scalar is computed: scores are f32 in meaning.
static Type computedIn(Type type) {
  return type.isF16() || type.isBF16() ? Float32Type::get(type.getContext()) : type;
}

static bool isQuadratic(AffineMap at) { return at.isFunctionOfDim(2) && at.isFunctionOfDim(3); }

ScoreChain::ScoreChain(ImplicitLocOpBuilder &b, const Elements &elements, Value products,
                       AffineMap productsAt, ArrayRef<Element> factors)
    : b(b), elements(elements), products(products), productsAt(productsAt) {
  SmallVector<Type> types(7, b.getIndexType());
  types.front() = b.getF32Type();
  OpBuilder::InsertionGuard guard(b);
  block = b.createBlock(&score, score.end(), types, SmallVector<Location>(7, b.getLoc()));
  product = block->getArgument(0);
  for (const Element &factor : factors)
    product = arith::MulFOp::create(b, product, elementOf(factor));
}

Value ScoreChain::coordinate(AffineExpr expr) {
  return affine::expandAffineExpr(b, b.getLoc(), expr, block->getArguments().slice(1, 4), {});
}

/// The size of a dimension, which is a region's argument where it is that of queries or keys.
Value ScoreChain::lengthOf(Value tensor, int64_t dim, AffineExpr at) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  if (at == b.getAffineDimExpr(2) || at == b.getAffineDimExpr(3))
    return block->getArgument(at == b.getAffineDimExpr(2) ? 5 : 6);
  return ShapedType::isDynamic(size) ? Value() : indexConstant(b, size);
}

Value ScoreChain::addRead(Value tensor, AffineMap map, Type type) {
  for (auto [i, other, otherMap] : llvm::enumerate(reads, maps))
    if (Value argument = block->getArgument(7 + i);
        other == tensor && otherMap == map && argument.getType() == type)
      return argument;
  reads.push_back(tensor);
  maps.push_back(map);
  return block->addArgument(type, b.getLoc());
}

Value ScoreChain::readWhole(Value tensor) {
  return addRead(tensor, AffineMap::get(4, 0, b.getContext()), tensor.getType());
}

/// By a map where that is a coordinate or 0 each, else from the whole tensor.
Value ScoreChain::read(const Element &element) {
  auto type = dyn_cast<RankedTensorType>(element.value.getType());
  if (!type) { // a scalar of the function around
    OpBuilder::InsertionGuard guard(b);
    if (element.body && element.body->isProperAncestor(Value(element.value).getParentBlock()->getParentOp()))
      return {};
    b.setInsertionPointAfterValue(element.value);
    Value tensor =
        tensor::FromElementsOp::create(b, RankedTensorType::get({}, element.value.getType()), element.value);
    b.setInsertionPointToEnd(block);
    return extendToF32(b, addRead(tensor, AffineMap::get(4, 0, b.getContext()), element.value.getType()));
  }
  bool isPlain = llvm::all_of(element.at.getResults(), [](AffineExpr expr) {
    return isa<AffineDimExpr>(expr) || expr == getAffineConstantExpr(0, expr.getContext());
  });
  if (isPlain)
    return extendToF32(b, addRead(element.value, element.at, type.getElementType()));
  SmallVector<Value> at;
  for (AffineExpr expr : element.at.getResults())
    at.push_back(coordinate(expr));
  return extendToF32(b, tensor::ExtractOp::create(b, readWhole(element.value), at));
}

/// Whether the element depends on nothing but coordinates: as arithmetic it is open to the analysis of masks.
static bool isOfCoordinates(const Elements &elements, const Element &unresolved) {
  Element element = elements.resolve(unresolved);
  if (constantOf(element) || isa_and_present<linalg::IndexOp>(element.value.getDefiningOp()))
    return true;
  auto operands = elements.operandsOf(element);
  return operands &&
         llvm::all_of(*operands, [&](const Element &operand) { return isOfCoordinates(elements, operand); });
}

/// Whether reading the element means reading something smaller than the scores that an operation computed.
static bool isSmall(const Elements &elements, const Element &element) {
  Operation *op = element.value.getDefiningOp();
  return !element.body && op && isa<RankedTensorType>(element.value.getType()) && !isQuadratic(element.at) &&
         (isa<linalg::LinalgOp>(op) || OpTrait::hasElementwiseMappableTraits(op)) &&
         !isOfCoordinates(elements, element);
}

Value ScoreChain::elementOf(const Element &unresolved) {
  SmallVector<Operation *> passed; // what the scores come through on the way
  Element element = unresolved;
  auto isProduct = [&] { return element.value == products && element.at == productsAt; };
  while (!isProduct() && !isSmall(elements, element)) {
    std::optional<Element> from = elements.step(element);
    if (!from)
      break;
    if (!element.body)
      passed.push_back(element.value.getDefiningOp());
    element = *from;
  }
  if (isProduct()) {
    steps.insert(passed.rbegin(), passed.rend());
    return product;
  }
  auto key = std::make_pair(element.value, element.at);
  Value result = built.lookup(key);
  if (!result)
    result = isSmall(elements, element) ? read(element) : compute(element);
  built[key] = result;
  if (result && dependsOnScore(result))
    steps.insert(passed.rbegin(), passed.rend());
  return result;
}

Value ScoreChain::compute(const Element &element) {
  if (TypedAttr constant = constantOf(element)) {
    if (auto number = dyn_cast<FloatAttr>(constant);
        number && computedIn(number.getType()) != number.getType())
      return f32Constant(b, number.getValueAsDouble());
    return arith::ConstantOp::create(b, constant);
  }
  Operation *op = element.value.getDefiningOp();
  if (element.body && op && element.body->isProperAncestor(op)) {
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      return coordinate(element.at.getResult(index.getDim()));
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      SmallVector<Value> at{readWhole(extract.getTensor())};
      for (Value index : extract.getIndices())
        at.push_back(elementOf({index, element.at, element.body}));
      if (llvm::is_contained(at, Value()))
        return {};
      return extendToF32(b, tensor::ExtractOp::create(b, at.front(), ArrayRef(at).drop_front()));
    }
  }
  Value result;
  if (auto scoreOp = dyn_cast_if_present<attn::ScoreOpInterface>(op)) {
    result = computeScoreOp(scoreOp, element.at);
  } else if (std::optional<SmallVector<Element>> operands = elements.operandsOf(element)) {
    SmallVector<Value> values;
    for (const Element &operand : *operands)
      values.push_back(elementOf(operand));
    result = llvm::is_contained(values, Value()) ? Value() : computeScalar(element, op, values);
  } else {
    return read(element);
  }
  if (!result && !obstacle)
    obstacle = op;
  if (result && !element.body && dependsOnScore(result))
    steps.insert(op);
  return result;
}

Value ScoreChain::computeScoreOp(attn::ScoreOpInterface op, AffineMap at) {
  Value before = elementOf({op.getScoreOperand(), at, nullptr});
  SmallVector<Value> values;
  for (const attn::ScoreRead &read : op.getScoreReads()) {
    bool isWhole =
        read.map.getNumResults() == 0 && cast<RankedTensorType>(read.tensor.getType()).getRank() > 0;
    values.push_back(isWhole ? readWhole(read.tensor)
                             : elementOf({read.tensor, read.map.compose(at), nullptr}));
  }
  int64_t rank = at.getNumResults();
  if (!before || rank < 2 || rank > 4 || llvm::is_contained(values, Value()))
    return {};
  SmallVector<Value> masks; // taken after this operation, where what it reads cannot change −inf
  if (op.keepsMinusInfinity())
    before = unmask(before, masks);
  auto remask = [&](Value result) {
    for (Value mask : llvm::reverse(masks))
      result = arith::SelectOp::create(b, mask, result, f32Constant(b, -INFINITY));
    return result;
  };
  if (auto factor = dyn_cast<attn::ScaleOp>(op.getOperation()); factor && before == product && scale == 1) {
    scale = factor.getFactor().convertToDouble(); // as exact as it is written
    return remask(before);
  }
  Value none = indexConstant(b, 0), tensor = op->getResult(0);
  attn::ScorePoint point{rank > 2 ? coordinate(at.getResult(0)) : none,
                         rank > 3 ? coordinate(at.getResult(1)) : none,
                         coordinate(at.getResult(rank - 2)),
                         coordinate(at.getResult(rank - 1)),
                         lengthOf(tensor, rank - 2, at.getResult(rank - 2)),
                         lengthOf(tensor, rank - 1, at.getResult(rank - 1))};
  if (!point.queryLength || !point.keyLength)
    return {};
  Value kept = op.buildKeep(b, op.getLoc(), point, values);
  Value result = remask(op.buildScore(b, op.getLoc(), before, point, values));
  return kept ? arith::SelectOp::create(b, kept, result, f32Constant(b, -INFINITY)) : result;
}

Value ScoreChain::computeScalar(const Element &element, Operation *op, ValueRange operands) {
  Type type = getElementTypeOrSelf(op->getResult(0)), computed = computedIn(type);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    // A cast to a narrower type rounds; it is asked for.
    Value rounded = isa<arith::TruncFOp>(op) ? roundTo(b, operands[0], type) : operands[0];
    return rounded.getType() == computed ? rounded : arith::ExtFOp::create(b, computed, rounded).getResult();
  }
  if (isa<arith::BitcastOp>(op) || (!type.isIntOrIndexOrFloat()))
    return {};
  Operation *scalar =
      b.create(op->getLoc(), op->getName().getIdentifier(), operands, {computed}, op->getAttrs());
  SmallVector<Value> folded;
  if (failed(b.tryFold(scalar, folded)))
    return scalar->getResult(0);
  scalar->erase();
  return folded.front();
}

bool ScoreChain::dependsOnScore(Value value) {
  if (value == product || value == block->getArgument(0))
    return true;
  Operation *op = value.getDefiningOp();
  return op && llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOnScore(operand); });
}

bool ScoreChain::build(const Element &scores) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(block);
  Value result = elementOf(scores);
  if (!result)
    return false;
  auto yield = attn::YieldOp::create(b, result);
  auto eraseDead = [&] { // what nothing needs any more would count as uses
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  };
  eraseDead();
  SmallVector<Value> kept;
  yield->setOperand(0, separateMasks(result, kept));
  buildKeep(kept);
  eraseDead();
  absorbScale();
  if (yield.getOperand(0) == block->getArgument(0))
    score.getBlocks().clear();
  return true;
}
