// Turns softmax written in arithmetic into attn.softmax; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Elements.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace heed {
#define GEN_PASS_DEF_RAISESOFTMAX
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// A reduction along one dimension of what was asked for: what it runs over, for the coordinate `axis`.
struct Reduction {
  Operation *combiner;
  TypedAttr init;
  Element input;
};

/// What one operation computes, read from its elements.
class SoftmaxReader {
public:
  explicit SoftmaxReader(Value result)
      : type(cast<RankedTensorType>(result.getType())), elements(type.getShape()),
        identity(AffineMap::getMultiDimIdentityMap(type.getRank(), result.getContext())),
        root(elements.resolve({result, identity, nullptr})) {}

  /// The tensor whose softmax along `axis` this is; null if it is not one. An exponential over its own sum is
  /// told of by `withoutMax`.
  Value read(int64_t &axis, bool &withoutMax) {
    std::optional<std::pair<Element, Element>> quotient = readQuotient();
    if (!quotient)
      return {};
    Element numerator = quotient->first;
    std::optional<Reduction> sum;
    for (axis = 0; axis < type.getRank() && !sum; ++axis) {
      sum = reductionOf(quotient->second, axis);
      if (sum && !(isa<arith::AddFOp>(sum->combiner) && matchPattern(sum->init, m_AnyZeroFloat()) &&
                   sum->input == numerator))
        sum.reset();
    }
    --axis;
    if (!sum || !isa_and_present<math::ExpOp>(numerator.value.getDefiningOp()))
      return {};
    Element exponent = elements.operandsOf(numerator)->front(), shifted = elements.resolve(exponent);
    if (isa_and_present<arith::SubFOp>(shifted.value.getDefiningOp())) {
      SmallVector<Element> operands = *elements.operandsOf(shifted);
      Element scores = elements.resolve(operands[0]);
      std::optional<Reduction> max = reductionOf(elements.resolve(operands[1]), axis);
      if (max && isa<arith::MaximumFOp, arith::MaxNumFOp>(max->combiner) && isLowest(max->init) &&
          max->input == scores)
        return tensorOf(operands[0]);
    }
    withoutMax = true;
    return {};
  }

  /// The softmax of which this is zeros where a slice is −inf throughout, and itself elsewhere; null if not.
  attn::SoftmaxOp readGuarded() {
    if (!isa_and_present<arith::SelectOp>(root.value.getDefiningOp()))
      return {};
    SmallVector<Element> operands = *elements.operandsOf(root);
    Element weights = elements.resolve(operands[2]), zero = elements.resolve(operands[1]);
    auto softmax = weights.value.getDefiningOp<attn::SoftmaxOp>();
    if (!softmax || weights.at != identity || !constantOf(zero) ||
        !matchPattern(constantOf(zero), m_AnyZeroFloat()))
      return {};
    int64_t axis = softmax.getAxis();
    axis = axis < 0 ? axis + type.getRank() : axis;
    std::optional<Reduction> all = reductionOf(elements.resolve(operands[0]), axis);
    if (!all || !isa<arith::AndIOp>(all->combiner) || !matchPattern(all->init, m_One()))
      return {};
    auto compare = all->input.value.getDefiningOp<arith::CmpFOp>();
    if (!compare || compare.getPredicate() != arith::CmpFPredicate::OEQ)
      return {};
    SmallVector<Element> compared = *elements.operandsOf(all->input);
    Element score = elements.resolve(compared[0]);
    if (auto cast = elements.castOperand(score)) // to f64, to compare with its −inf
      score = elements.resolve(*cast);
    auto infinity = dyn_cast_if_present<FloatAttr>(constantOf(elements.resolve(compared[1])));
    bool isMinusInfinity = infinity && infinity.getValue().isInfinity() && infinity.getValue().isNegative();
    return isMinusInfinity && score == elements.resolve({softmax.getScores(), identity, nullptr})
               ? softmax
               : attn::SoftmaxOp();
  }

private:
  /// Numerator and denominator of a quotient, or of a product with a reciprocal.
  std::optional<std::pair<Element, Element>> readQuotient() {
    Operation *op = root.value.getDefiningOp();
    std::optional<SmallVector<Element>> operands = elements.operandsOf(root);
    if (!operands || !isa<arith::DivFOp, arith::MulFOp>(op))
      return std::nullopt;
    Element first = elements.resolve((*operands)[0]), second = elements.resolve((*operands)[1]);
    if (isa<arith::DivFOp>(op))
      return std::make_pair(first, second);
    for (auto [x, y] : {std::pair(first, second), std::pair(second, first)})
      if (isa_and_present<arith::DivFOp>(y.value.getDefiningOp())) {
        SmallVector<Element> inner = *elements.operandsOf(y);
        TypedAttr one = constantOf(elements.resolve(inner[0]));
        if (one && matchPattern(one, m_OneFloat()))
          return std::make_pair(x, elements.resolve(inner[1]));
      }
    return std::nullopt;
  }

  /// The reduction that an element is the result of, if it runs along `axis` and nothing of it depends on
  /// that.
  std::optional<Reduction> reductionOf(const Element &element, int64_t axis) {
    auto op = element.value.getDefiningOp<linalg::LinalgOp>();
    if (element.body || !op || op.getNumReductionLoops() != 1 || element.at.isFunctionOfDim(axis) ||
        op.getNumDpsInputs() != 1)
      return std::nullopt;
    unsigned number = cast<OpResult>(element.value).getResultNumber();
    OpOperand *init = op.getDpsInitOperand(number);
    AffineMap map = op.getMatchingIndexingMap(init);
    SmallVector<AffineExpr> loops(op.getNumLoops(), getAffineDimExpr(axis, op.getContext()));
    for (auto [expr, at] : llvm::zip_equal(map.getResults(), element.at.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        loops[dim.getPosition()] = at;
    Block *body = op.getBlock();
    Operation *combiner = body->getTerminator()->getOperand(number).getDefiningOp();
    Value running = body->getArgument(1 + number), added = body->getArgument(0);
    if (!combiner || combiner->getNumOperands() != 2 ||
        !(llvm::is_contained(combiner->getOperands(), running) &&
          llvm::is_contained(combiner->getOperands(), added)))
      return std::nullopt;
    AffineMap at = AffineMap::get(identity.getNumDims(), 0, loops, op.getContext());
    Element start = elements.resolve(
        {init->get(), AffineMap::get(at.getNumDims(), 0, element.at.getResults(), op.getContext()), nullptr});
    OpOperand *input = op.getDpsInputOperand(0);
    return Reduction{combiner, constantOf(start),
                     elements.resolve({input->get(), op.getMatchingIndexingMap(input).compose(at), nullptr})};
  }

  /// −inf or the lowest finite number: a maximum that starts there is that of the elements.
  static bool isLowest(TypedAttr init) {
    auto number = dyn_cast_if_present<FloatAttr>(init);
    return number && number.getValue().isNegative() &&
           (number.getValue().isInfinity() || number.getValue().isLargest());
  }

  /// A tensor with this element at each coordinate.
  Value tensorOf(Element element) {
    while (element.body || element.at != identity || element.value.getType().isIntOrIndexOrFloat()) {
      std::optional<Element> from = elements.step(element);
      if (!from)
        return {};
      element = *from;
    }
    return cast<RankedTensorType>(element.value.getType()).getShape() == type.getShape() ? element.value
                                                                                         : Value();
  }

  RankedTensorType type;
  Elements elements;
  AffineMap identity;
  Element root;
};

struct RaiseSoftmax : impl::RaiseSoftmaxBase<RaiseSoftmax> {
  using RaiseSoftmaxBase::RaiseSoftmaxBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()) &&
          isa<FloatType>(getElementTypeOrSelf(op->getResult(0))))
        raise(op);
  }

  void raise(Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value result = op->getResult(0), scores;
    auto nan = attn::EmptyRowsAttr::get(op->getContext(), attn::EmptyRows::NaN),
         zeros = attn::EmptyRowsAttr::get(op->getContext(), attn::EmptyRows::Zeros);
    int64_t axis = 0;
    attn::EmptyRowsAttr policy = nan; // −inf less −inf
    if (auto upstream = dyn_cast<linalg::SoftmaxOp>(op)) {
      scores = upstream.getInput();
      axis = upstream.getDimension();
    } else if (isa<linalg::LinalgOp>(op) || OpTrait::hasElementwiseMappableTraits(op)) {
      SoftmaxReader reader(result);
      bool withoutMax = false;
      if (attn::SoftmaxOp inner = reader.readGuarded()) {
        scores = inner.getScores();
        axis = inner.getAxis();
        policy = zeros;
      } else {
        scores = reader.read(axis, withoutMax);
      }
      if (withoutMax && remarks)
        op->emitRemark("[softmax-without-maximum] not fused: expected exponentials of scores less their "
                       "maximum, but got exponentials that may overflow");
    }
    if (!scores || scores.getType() != result.getType())
      return;
    auto raised = attn::SoftmaxOp::create(b, result.getType(), scores, b.getI64IntegerAttr(axis), policy);
    raised->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    result.replaceAllUsesWith(raised.getResult());
    op->erase();
    ++numRaised;
  }
};

} // namespace
} // namespace heed
