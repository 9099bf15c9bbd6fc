// Fuses attention written in steps into one operation; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/FusedOperands.h"
#include "compiler/passes/ScoreChain.h"
#include "compiler/passes/Structured.h"

namespace heed {
#define GEN_PASS_DEF_FUSEATTENTION
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr StringLiteral expectFused = "attn.expect_fused";

std::string nameOf(Operation *op) { return op->getName().getStringRef().str(); }

/// Why an attention stays in steps.
struct Obstacle {
  StringLiteral code;
  std::string reason;
  Operation *inTheWay;
};

class AttentionFuser {
public:
  explicit AttentionFuser(attn::SoftmaxOp softmax) : softmax(softmax), b(softmax.getLoc(), softmax) {}

  /// Replaces the steps by one attn.attention, or says why not.
  std::optional<Obstacle> run() {
    if (auto obstacle = findValues())
      return obstacle;
    b.setInsertionPoint(weighted);
    coordinates.emplace(weighted, weightsOnLeft);
    if (auto obstacle = placeSoftmax())
      return obstacle;
    Elements elements(coordinates->getScoreSizes());
    if (auto obstacle = findProducts(elements, {softmax.getScores(), softmaxAt, nullptr}))
      return obstacle;
    return fuse(elements);
  }

private:
  attn::SoftmaxOp softmax;
  ImplicitLocOpBuilder b;
  attn::MatmulOp products, weighted;
  bool weightsOnLeft = true;
  std::optional<Coordinates> coordinates;
  AffineMap softmaxAt, productsAt; // coordinates of their elements for (batch, head, query, key)
  SmallVector<Operation *> after;  // from the softmax to the matmul with the values

  static Obstacle refuse(StringLiteral code, const Twine &reason, Operation *op) {
    return {code, reason.str(), op};
  }

  /// An operation that is random, by its name or that of the function it calls.
  static bool isDropout(Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    return nameOf(op).find("dropout") != std::string::npos ||
           (call && call.getCallee().contains_insensitive("dropout"));
  }

  static Obstacle refuseUnknown(StringLiteral code, StringRef expected, Operation *op) {
    if (isDropout(op))
      return refuse("dropout", "expected a model for inference, but got dropout", op);
    return refuse(code, "expected " + expected + ", but got " + nameOf(op), op);
  }

  /// softmax → casts and moves → matmul with the values.
  std::optional<Obstacle> findValues() {
    Value weights = softmax.getWeights();
    while (true) {
      if (!weights.hasOneUse())
        return refuse("weights-used-elsewhere",
                      "expected weights used by one matmul, but got " +
                          Twine(std::distance(weights.user_begin(), weights.user_end())) + " uses",
                      softmax);
      OpOperand &use = *weights.use_begin();
      Operation *user = use.getOwner();
      if ((weighted = dyn_cast<attn::MatmulOp>(user))) {
        weightsOnLeft = use.getOperandNumber() == 0;
        return std::nullopt;
      }
      if (isa<attn::MaskOp>(user))
        return refuse("mask-after-softmax", "expected mask before softmax, but it comes after", user);
      if (user->getNumResults() != 1 || !isa<RankedTensorType>(user->getResult(0).getType()) ||
          sourceOf(user->getResult(0)) != sourceOf(weights))
        return refuseUnknown("weights-changed", "weights that reach a matmul unchanged", user);
      after.push_back(user);
      weights = user->getResult(0);
    }
  }

  /// Where the elements of a tensor come from by moves and float casts alone.
  static Value sourceOf(Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    Elements elements(type.getShape());
    Element element = elements.resolve(
        {tensor, AffineMap::getMultiDimIdentityMap(type.getRank(), tensor.getContext()), nullptr});
    while (std::optional<Element> cast = elements.castOperand(element))
      element = elements.resolve(*cast);
    return element.value;
  }

  /// The coordinates of the weights at the softmax, whose axis must be the keys'.
  std::optional<Obstacle> placeSoftmax() {
    Elements elements(coordinates->getScoreSizes());
    Element element{weightsOnLeft ? weighted.getLhs() : weighted.getRhs(), coordinates->weightsAt(), nullptr};
    while (element.value != softmax.getWeights()) {
      std::optional<Element> from = elements.step(element);
      if (!from)
        from = elements.castOperand(element);
      if (!from)
        return refuse("weights-moved", "expected weights whose coordinates can be followed", after.back());
      element = *from;
    }
    softmaxAt = element.at;
    int64_t rank = softmax.getType().getRank(), axis = softmax.getAxis();
    axis = axis < 0 ? axis + rank : axis;
    if (softmaxAt.getResult(axis) != b.getAffineDimExpr(3))
      return refuse("softmax-axis",
                    "expected softmax along the keys, over which the values are summed, but got axis " +
                        Twine(axis),
                    softmax);
    return std::nullopt;
  }

  /// Looks for the product of queries and keys behind the scores; `inTheWay` gets the first thing that is
  /// neither that nor an operation on one score.
  std::optional<Obstacle> findProducts(const Elements &elements, const Element &from) {
    Operation *inTheWay = nullptr;
    AffineMap misplaced;
    if (search(elements, from, inTheWay, misplaced))
      return std::nullopt;
    if (misplaced)
      return refuse("scores-misplaced", "expected a product of queries and keys in the order of the values",
                    inTheWay);
    if (!inTheWay)
      return refuse("no-products", "expected scores that come from a matmul, but got an argument", softmax);
    return refuseUnknown("not-a-score-op", "an operation on one score at a time", inTheWay);
  }

  bool search(const Elements &elements, const Element &from, Operation *&inTheWay, AffineMap &misplaced) {
    Element element = elements.resolve(from);
    Operation *op = element.value.getDefiningOp();
    if (!op || !isa<FloatType>(getElementTypeOrSelf(element.value)))
      return false;
    if (auto matmul = dyn_cast<attn::MatmulOp>(op)) {
      if (coordinates->isScore(element.at)) {
        products = matmul;
        productsAt = element.at;
        return true;
      }
      if (element.at.isFunctionOfDim(2) && element.at.isFunctionOfDim(3)) {
        misplaced = element.at;
        inTheWay = op;
      }
      return false;
    }
    if (auto score = dyn_cast<attn::ScoreOpInterface>(op))
      return search(elements, {score.getScoreOperand(), element.at, nullptr}, inTheWay, misplaced);
    if (auto operands = elements.operandsOf(element))
      return llvm::any_of(
          *operands, [&](const Element &operand) { return search(elements, operand, inTheWay, misplaced); });
    if (!inTheWay && !op->hasTrait<OpTrait::ConstantLike>() && element.at.isFunctionOfDim(2) &&
        element.at.isFunctionOfDim(3))
      inTheWay = op;
    return false;
  }

  std::optional<Obstacle> fuse(const Elements &elements) {
    std::array<FusedOperand, 3> operands = coordinates->followOperands(b, products, productsAt);
    SmallVector<Element> factors(operands[0].factors);
    llvm::append_range(factors, operands[1].factors);
    ScoreChain regions(b, elements, products.getResult(), productsAt, factors);
    if (!regions.build({softmax.getScores(), softmaxAt, nullptr}))
      return refuseUnknown("not-a-score-op", "an operation that has a form for one score",
                           regions.getObstacle() ? regions.getObstacle() : softmax);
    if (auto obstacle = findOtherUses(regions.getSteps()))
      return obstacle;
    build(operands, regions);
    return std::nullopt;
  }

  /// Scores that somebody else reads too would be computed twice.
  std::optional<Obstacle> findOtherUses(ArrayRef<Operation *> steps) {
    SmallVector<Operation *> ops{products};
    llvm::append_range(ops, steps);
    for (Operation *op : ops)
      for (Operation *user : op->getUsers())
        if (user != softmax && !llvm::is_contained(steps, user))
          return refuse("scores-used-elsewhere", "expected scores used only on the way to the softmax", op);
    return std::nullopt;
  }

  /// Every step's name and place, in order.
  Location locationOf(ArrayRef<Operation *> steps) {
    SmallVector<Operation *> ops{products};
    llvm::append_range(ops, steps);
    ops.push_back(softmax);
    llvm::append_range(ops, after);
    ops.push_back(weighted);
    SmallVector<Location> named;
    for (Operation *op : ops)
      named.push_back(NameLoc::get(b.getStringAttr(nameOf(op)), op->getLoc()));
    return b.getFusedLoc(named);
  }

  void build(const std::array<FusedOperand, 3> &operands, ScoreChain &regions) {
    const auto &[query, key, value] = operands;
    FusedResult result = coordinates->followResult();
    b.setLoc(locationOf(regions.getSteps()));
    std::string layout = query.letters + "," + key.letters + "," + value.letters + "->" + result.letters;
    bool reads = !regions.getScore().empty() || !regions.getKeep().empty();
    auto fused = attn::AttentionOp::create(
        b, TypeRange{result.type}, query.tensor, key.tensor, value.tensor, Value(), Value(), Value(), Value(),
        reads ? ValueRange(regions.getReads()) : ValueRange(),
        b.getF64FloatAttr(regions.getScale() * query.scale * key.scale), b.getStringAttr(layout),
        softmax.getEmptyRowsAttr(),
        b.getAffineMapArrayAttr(reads ? regions.getMaps() : ArrayRef<AffineMap>()));
    fused.getScore().takeBody(regions.getScore());
    fused.getKeep().takeBody(regions.getKeep());
    Value replacement = result.reshape(b, fused.getResult());
    result.replaced.replaceAllUsesWith(replacement);
  }
};

struct FuseAttention : impl::FuseAttentionBase<FuseAttention> {
  using FuseAttentionBase::FuseAttentionBase;

  void runOnOperation() override {
    SmallVector<attn::SoftmaxOp> roots;
    getOperation()->walk([&](attn::SoftmaxOp op) { roots.push_back(op); });
    for (attn::SoftmaxOp root : roots) {
      bool expected = root->hasAttr(expectFused);
      std::optional<Obstacle> obstacle = AttentionFuser(root).run();
      if (!obstacle) {
        ++numFused;
        continue;
      }
      if (!expected && !remarks)
        continue;
      InFlightDiagnostic diagnostic = expected ? root.emitError() : root.emitRemark();
      diagnostic << "[" << obstacle->code << "] not fused: " << obstacle->reason;
      if (obstacle->inTheWay != root)
        diagnostic.attachNote(obstacle->inTheWay->getLoc()) << nameOf(obstacle->inTheWay) << " is here";
      if (expected) {
        diagnostic.report();
        return signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace heed
