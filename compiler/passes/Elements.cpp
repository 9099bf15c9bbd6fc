#include "compiler/passes/Elements.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace heed;

AffineExpr Elements::simplify(AffineExpr expr) const {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr lhs = simplify(binary.getLHS()), rhs = simplify(binary.getRHS());
  auto whole = [](AffineExpr part) -> std::pair<AffineExpr, int64_t> { // x in (x floordiv c)·c
    auto times = dyn_cast<AffineBinaryOpExpr>(part);
    if (!times || times.getKind() != AffineExprKind::Mul)
      return {};
    auto quotient = dyn_cast<AffineBinaryOpExpr>(times.getLHS());
    if (!quotient || quotient.getKind() != AffineExprKind::FloorDiv || quotient.getRHS() != times.getRHS())
      return {};
    return {quotient.getLHS(), cast<AffineConstantExpr>(quotient.getRHS()).getValue()};
  };
  if (expr.getKind() == AffineExprKind::Add)
    if (auto [x, c] = whole(lhs); x && rhs == x % c)
      return x;
  AffineExpr result = getAffineBinaryOpExpr(expr.getKind(), lhs, rhs);
  binary = dyn_cast<AffineBinaryOpExpr>(result);
  if (!binary || (result.getKind() != AffineExprKind::FloorDiv && result.getKind() != AffineExprKind::Mod))
    return result;
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  SmallVector<std::optional<int64_t>> lowest(sizes.size(), 0), highest;
  for (int64_t size : sizes)
    highest.push_back(ShapedType::isDynamic(size) ? std::optional<int64_t>() : size - 1);
  auto bound = [&](bool isUpper) {
    return getBoundForAffineExpr(binary.getLHS(), sizes.size(), 0, lowest, highest, isUpper);
  };
  std::optional<int64_t> low = bound(false), high = bound(true);
  if (!divisor || !low || !high || *low < 0 || *high >= divisor.getValue())
    return result;
  return result.getKind() == AffineExprKind::Mod ? binary.getLHS()
                                                 : getAffineConstantExpr(0, expr.getContext());
}

AffineMap Elements::simplify(AffineMap map) const {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults())
    results.push_back(simplify(simplifyAffineExpr(expr, map.getNumDims(), 0)));
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

/// The coordinates of a collapsed tensor for those of its expanded form, or null where sizes are not known.
static SmallVector<AffineExpr> linearize(ArrayRef<ReassociationIndices> groups, RankedTensorType expanded,
                                         ArrayRef<AffineExpr> at, MLIRContext *context) {
  SmallVector<AffineExpr> result;
  for (const ReassociationIndices &group : groups) {
    AffineExpr position = getAffineConstantExpr(0, context);
    bool first = true;
    for (int64_t dim : group) {
      int64_t size = expanded.getDimSize(dim);
      if (size == 1)
        continue;
      if (!first && ShapedType::isDynamic(size))
        return {};
      position = first ? at[dim] : position * size + at[dim];
      first = false;
    }
    result.push_back(position);
  }
  return result;
}

/// The other way round.
static SmallVector<AffineExpr> delinearize(ArrayRef<ReassociationIndices> groups, RankedTensorType expanded,
                                           ArrayRef<AffineExpr> at, MLIRContext *context) {
  SmallVector<AffineExpr> result(expanded.getRank(), getAffineConstantExpr(0, context));
  for (auto [group, position] : llvm::zip_equal(groups, at)) {
    SmallVector<int64_t> dims;
    for (int64_t dim : group)
      if (expanded.getDimSize(dim) != 1)
        dims.push_back(dim);
    AffineExpr rest = position;
    for (int64_t dim : llvm::reverse(ArrayRef(dims).drop_front(dims.empty() ? 0 : 1))) {
      int64_t size = expanded.getDimSize(dim);
      if (ShapedType::isDynamic(size))
        return {};
      result[dim] = rest % size;
      rest = rest.floorDiv(size);
    }
    if (!dims.empty())
      result[dims.front()] = rest;
  }
  return result;
}

/// The coordinates in the operand of a move of data for those in its result; none for other operations.
static SmallVector<AffineExpr> movedFrom(Operation *op, ArrayRef<AffineExpr> at) {
  MLIRContext *context = op->getContext();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return linearize(expand.getReassociationIndices(), expand.getResultType(), at, context);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return delinearize(collapse.getReassociationIndices(), collapse.getSrcType(), at, context);
  if (isa<tensor::CastOp>(op) && isa<RankedTensorType>(op->getOperand(0).getType()))
    return SmallVector<AffineExpr>(at);
  if (auto split = dyn_cast<attn::SplitHeadsOp>(op)) { // [b, h, s, d] of [b, s, h·d]
    int64_t width = split.getType().getDimSize(3);
    if (ShapedType::isDynamic(width))
      return {};
    return {at[0], at[2], at[1] * width + at[3]};
  }
  if (auto merge = dyn_cast<attn::MergeHeadsOp>(op)) {
    int64_t width = cast<RankedTensorType>(merge.getOperand().getType()).getDimSize(3);
    if (ShapedType::isDynamic(width))
      return {};
    return {at[0], at[2].floorDiv(width), at[1], at[2] % width};
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    SmallVector<AffineExpr> result;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [dim, offset] : llvm::enumerate(slice.getStaticOffsets())) {
      int64_t stride = slice.getStaticStrides()[dim];
      if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride))
        return {};
      AffineExpr base = getAffineConstantExpr(offset, context);
      if (dropped.test(dim)) {
        result.push_back(base);
        continue;
      }
      result.push_back(base + at.front() * stride);
      at = at.drop_front();
    }
    return result;
  }
  return {};
}

/// Every loop parallel, every element of the result written once.
static bool isPointwise(linalg::LinalgOp op) {
  if (!op || !op.hasPureTensorSemantics() || op.getNumReductionLoops() > 0 || op->getNumRegions() != 1)
    return false;
  return llvm::all_of(op.getDpsInitsMutable(),
                      [&](OpOperand &init) { return op.getMatchingIndexingMap(&init).isPermutation(); });
}

std::optional<Element> Elements::step(const Element &element) const {
  if (linalg::LinalgOp body = element.body) { // out of the region by an input
    auto argument = dyn_cast<BlockArgument>(element.value);
    if (!argument || argument.getOwner() != body.getBlock())
      return std::nullopt;
    OpOperand &operand = body->getOpOperand(argument.getArgNumber());
    if (!isa<RankedTensorType>(operand.get().getType()))
      return Element{operand.get(), element.at, nullptr};
    return Element{operand.get(), simplify(body.getMatchingIndexingMap(&operand).compose(element.at)),
                   nullptr};
  }
  Operation *op = element.value.getDefiningOp();
  if (!op || !isa<RankedTensorType>(element.value.getType()))
    return std::nullopt;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (!isPointwise(structured))
      return std::nullopt;
    unsigned number = cast<OpResult>(element.value).getResultNumber();
    AffineMap result = structured.getMatchingIndexingMap(structured.getDpsInitOperand(number));
    AffineMap loops = simplify(inversePermutation(result).compose(element.at));
    return Element{structured.getBlock()->getTerminator()->getOperand(number), loops, structured};
  }
  SmallVector<AffineExpr> from = movedFrom(op, element.at.getResults());
  if (from.empty())
    return std::nullopt;
  AffineMap at = AffineMap::get(element.at.getNumDims(), 0, from, op->getContext());
  return Element{op->getOperand(0), simplify(at), nullptr};
}

Element Elements::resolve(Element element) const {
  while (std::optional<Element> from = step(element))
    element = *from;
  return element;
}

std::optional<SmallVector<Element>> Elements::operandsOf(const Element &element) const {
  Operation *op = element.value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || !OpTrait::hasElementwiseMappableTraits(op))
    return std::nullopt;
  SmallVector<Element> operands;
  for (Value operand : op->getOperands())
    operands.push_back({operand, element.at, element.body});
  return operands;
}

std::optional<Element> Elements::castOperand(const Element &element) const {
  if (!isa_and_present<arith::ExtFOp, arith::TruncFOp>(element.value.getDefiningOp()))
    return std::nullopt;
  return operandsOf(element)->front();
}

TypedAttr heed::constantOf(const Element &element) {
  Attribute attribute;
  if (!matchPattern(element.value, m_Constant(&attribute)))
    return {};
  if (auto elements = dyn_cast<DenseElementsAttr>(attribute))
    return elements.isSplat() ? cast<TypedAttr>(elements.getSplatValue<Attribute>()) : TypedAttr();
  return dyn_cast<TypedAttr>(attribute);
}
