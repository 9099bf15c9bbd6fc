#include "compiler/passes/FusedOperands.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;
using namespace heed;

/// How many heads a reshape around an attention of merged heads tells of: the inner part of a first dimension
/// that is [batch, heads].
static std::optional<int64_t> headsOf(Operation *op) {
  ArrayRef<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    shape = collapse.getSrcType().getShape();
    groups = collapse.getReassociationIndices();
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    shape = expand.getResultType().getShape();
    groups = expand.getReassociationIndices();
  }
  if (groups.size() != 3 || groups[0].size() < 2 || groups[1].size() > 1 || groups[2].size() > 1)
    return std::nullopt;
  int64_t heads = 1;
  for (int64_t size : shape.slice(1, groups[0].size() - 1)) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    heads *= size;
  }
  return heads;
}

/// Looks around the matmul: at what its result becomes, then at what its operands come from.
static std::optional<int64_t> findHeads(attn::MatmulOp weighted) {
  for (Operation *user : weighted->getUsers())
    if (auto heads = headsOf(user))
      return heads;
  SmallVector<Operation *> work{weighted};
  DenseSet<Operation *> seen;
  for (size_t i = 0; i < work.size() && i < 64; ++i)
    for (Value operand : work[i]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && seen.insert(op).second) {
        if (auto heads = headsOf(op))
          return heads;
        work.push_back(op);
      }
  return std::nullopt;
}

Coordinates::Coordinates(attn::MatmulOp weighted, bool weightsOnLeft)
    : weighted(weighted), weightsOnLeft(weightsOnLeft) {
  auto weights = cast<RankedTensorType>((weightsOnLeft ? weighted.getLhs() : weighted.getRhs()).getType());
  int64_t rank = weights.getRank();
  bool keysFirst = !weightsOnLeft && !weighted.getTransposeRhs();
  hasBatch = rank > 2;
  hasHeads = rank > 3;
  int64_t batch = hasBatch ? weights.getDimSize(0) : 1, heads = hasHeads ? weights.getDimSize(1) : 1;
  if (std::optional<int64_t> found = rank == 3 ? findHeads(weighted) : std::nullopt) {
    if (ShapedType::isDynamic(batch) || batch % *found == 0) {
      hasHeads = areMerged = true;
      heads = *found;
      batch = ShapedType::isDynamic(batch) ? batch : batch / heads;
    }
  }
  sizes = {batch, heads, weights.getDimSize(rank - 2), weights.getDimSize(rank - 1)};
  if (keysFirst)
    std::swap(sizes[2], sizes[3]);
}

AffineExpr Coordinates::dim(unsigned position) const {
  return getAffineDimExpr(position, weighted.getContext());
}

AffineMap Coordinates::over(ArrayRef<AffineExpr> results) const {
  return AffineMap::get(4, 0, results, weighted.getContext());
}

/// The batch and head coordinates of a tensor of this rank with one element per batch entry and head; one
/// null where there is none.
SmallVector<AffineExpr> Coordinates::leading(int64_t rank) const {
  if (rank == 4 && hasHeads)
    return {dim(0), dim(1)};
  if (rank == 3 && hasHeads && !ShapedType::isDynamic(sizes[1]))
    return {dim(0) * sizes[1] + dim(1)};
  if (rank == 3 && hasBatch && !hasHeads)
    return {dim(0)};
  if (rank == 2 && !hasBatch)
    return {};
  return {AffineExpr()};
}

AffineMap Coordinates::weightsAt() const {
  SmallVector<AffineExpr> at = leading(cast<RankedTensorType>(weighted.getLhs().getType()).getRank());
  bool keysFirst = !weightsOnLeft && !weighted.getTransposeRhs();
  at.append({dim(keysFirst ? 3 : 2), dim(keysFirst ? 2 : 3)});
  return over(at);
}

bool Coordinates::isScore(AffineMap at) const {
  SmallVector<AffineExpr> expected = leading(at.getNumResults());
  if (at.getNumResults() < 2 || at.getResults().drop_back(2) != ArrayRef(expected))
    return false;
  AffineExpr row = at.getResult(at.getNumResults() - 2), column = at.getResult(at.getNumResults() - 1);
  return (row == dim(2) && column == dim(3)) || (row == dim(3) && column == dim(2));
}

/// `letters`: those of rows and features. "b+h" is a dimension of heads inside batch entries, `inner` of
/// them; heads that all share are one head there. None where a dimension has no letter.
std::optional<std::string> Coordinates::lettersOf(const Element &element, StringRef letters, bool share,
                                                  int64_t &inner) const {
  auto type = dyn_cast<RankedTensorType>(element.value.getType());
  if (!type || element.body)
    return std::nullopt;
  auto isHead = [&](AffineExpr expr) {
    auto quotient = dyn_cast<AffineBinaryOpExpr>(expr);
    return expr == dim(1) || (share && quotient && quotient.getKind() == AffineExprKind::FloorDiv &&
                              quotient.getLHS() == dim(1));
  };
  std::string result;
  for (auto [expr, size] : llvm::zip_equal(element.at.getResults(), type.getShape())) {
    auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
    auto outer = sum ? dyn_cast<AffineBinaryOpExpr>(sum.getLHS()) : nullptr;
    if (expr == dim(0) && hasBatch) {
      result += 'b';
    } else if (hasHeads && (isHead(expr) || (share && expr == 0 && size == 1))) {
      result += 'h';
    } else if (expr == dim(2) || expr == dim(3)) {
      result += letters[expr == dim(3)];
    } else if (areMerged && expr == leading(3).front()) {
      result += "b+h";
      inner = sizes[1];
    } else if (outer && outer.getKind() == AffineExprKind::Mul && isHead(outer.getLHS()) &&
               sum.getKind() == AffineExprKind::Add && sum.getRHS() == dim(3)) {
      result += std::string("h+") + letters[1];
      inner = cast<AffineConstantExpr>(outer.getRHS()).getValue();
    } else {
      return std::nullopt;
    }
  }
  if (share && hasHeads && result.find('h') == std::string::npos && result.find('b') != std::string::npos) {
    result.insert(result.find('b') + 1, "+h");
    inner = 1;
  }
  std::string needed = (hasBatch ? "b" : "") + std::string(hasHeads ? "h" : "") + letters.str();
  std::string found = result;
  llvm::erase(found, '+');
  llvm::sort(found);
  llvm::sort(needed);
  return found == needed ? std::optional(result) : std::nullopt;
}

/// Tells the two parts of a dimension apart that has two letters.
void Coordinates::splitDimension(ImplicitLocOpBuilder &b, FusedOperand &operand, int64_t inner) const {
  size_t plus = operand.letters.find('+');
  if (plus == std::string::npos)
    return;
  operand.letters.erase(plus, 1);
  auto type = cast<RankedTensorType>(operand.tensor.getType());
  SmallVector<OpFoldResult> to;
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  for (auto [i, size] : llvm::enumerate(tensor::getMixedSizes(b, b.getLoc(), operand.tensor))) {
    int64_t extent = type.getDimSize(i), first = to.size();
    if (i + 1 != plus) {
      groups.push_back({first});
      to.push_back(size);
      shape.push_back(extent);
      continue;
    }
    groups.push_back({first, first + 1});
    AffineExpr outer = b.getAffineSymbolExpr(0).floorDiv(inner);
    to.append({affine::makeComposedFoldedAffineApply(b, b.getLoc(), outer, {size}), b.getIndexAttr(inner)});
    shape.append({ShapedType::isDynamic(extent) ? extent : extent / inner, inner});
  }
  operand.tensor = tensor::ExpandShapeOp::create(b, RankedTensorType::get(shape, type.getElementType()),
                                                 operand.tensor, groups, to);
}

FusedOperand Coordinates::follow(ImplicitLocOpBuilder &b, attn::MatmulOp matmul, bool left, StringRef letters,
                                 bool share) const {
  Value tensor = left ? matmul.getLhs() : matmul.getRhs();
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  // Queries and keys are summed over features, values over rows.
  bool isValue = letters == "ke";
  bool rowsFirst = left ? !isValue : isValue != matmul.getTransposeRhs();
  SmallVector<AffineExpr> at = leading(rank);
  if (!left && rank == 4 && type.getDimSize(1) != sizes[1] && !ShapedType::isDynamic(sizes[1]) &&
      !ShapedType::isDynamic(type.getDimSize(1)))
    at[1] = dim(1).floorDiv(sizes[1] / type.getDimSize(1));
  at.append({dim(rowsFirst ? 2 : 3), dim(rowsFirst ? 3 : 2)});
  int64_t rows = type.getDimSize(rowsFirst ? rank - 2 : rank - 1),
          features = type.getDimSize(rowsFirst ? rank - 1 : rank - 2);
  Elements elements({sizes[0], sizes[1], rows, features});

  int64_t inner = 0, innerOfFound = 0;
  FusedOperand found, walked{tensor, "", 1, {}, 1};
  for (Element element{tensor, over(at), nullptr};;) {
    if (auto own = lettersOf(element, letters, share, inner)) {
      innerOfFound = inner;
      found = walked;
      found.tensor = element.value;
      found.letters = *own;
    }
    if (auto from = elements.step(element)) {
      element = *from;
      continue;
    }
    // A factor that is the same everywhere may as well multiply the score.
    Operation *op = element.value.getDefiningOp();
    if (auto factor = dyn_cast_if_present<attn::ScaleOp>(op); factor && !isValue) {
      walked.scale *= factor.getFactor().convertToDouble();
      element.value = factor.getScores();
      continue;
    }
    auto operands = elements.operandsOf(element);
    if (isValue || !operands || !isa<arith::MulFOp, arith::DivFOp>(op))
      break;
    Element first = elements.resolve(operands->front()), second = elements.resolve(operands->back());
    bool swapped = isa<arith::MulFOp>(op) && isa_and_present<FloatAttr>(constantOf(first));
    auto constant = dyn_cast_if_present<FloatAttr>(constantOf(swapped ? first : second));
    bool isUniform = isa<arith::MulFOp>(op) && second.at.isConstant() && !second.body;
    if (constant && constant.getValue().isFiniteNonZero()) {
      double factor = constant.getValueAsDouble();
      walked.scale = isa<arith::MulFOp>(op) ? walked.scale * factor : walked.scale / factor;
    } else if (isUniform) {
      walked.factors.push_back(second);
    } else {
      break;
    }
    element = swapped ? second : operands->front();
  }
  splitDimension(b, found, innerOfFound);
  if (size_t h = found.letters.find('h'); h != std::string::npos)
    found.heads = cast<RankedTensorType>(found.tensor.getType()).getDimSize(h);
  return found;
}

std::array<FusedOperand, 3> Coordinates::followOperands(ImplicitLocOpBuilder &b, attn::MatmulOp products,
                                                        AffineMap productsAt) const {
  bool queryOnLeft = productsAt.getResults().back() == dim(3);
  std::array<FusedOperand, 3> operands;
  for (bool share : {true, false}) {
    operands = {follow(b, products, queryOnLeft, "qd", /*share=*/false),
                follow(b, products, !queryOnLeft, "kd", share),
                follow(b, weighted, !weightsOnLeft, "ke", share)};
    if (operands[1].heads == operands[2].heads)
      break;
  }
  // Types differ where a cast comes between: the widest holds all of them.
  Type widest = getElementTypeOrSelf(operands[0].tensor);
  for (FusedOperand &operand : operands)
    if (getElementTypeOrSelf(operand.tensor) != widest)
      widest = b.getF32Type();
  for (FusedOperand &operand : operands)
    if (auto type = cast<RankedTensorType>(operand.tensor.getType()); type.getElementType() != widest)
      operand.tensor = arith::ExtFOp::create(b, type.clone(widest), operand.tensor);
  return operands;
}
