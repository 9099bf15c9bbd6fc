// Fuses attention written in steps into one operation; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/ScoreChain.h"
#include "compiler/passes/Structured.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"

namespace heed {
#define GEN_PASS_DEF_FUSEATTENTION
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr StringLiteral expectFused = "attn.expect_fused";

/// Why an attention stays in steps.
struct Obstacle {
  StringLiteral code;
  std::string reason;
  Operation *inTheWay;
};

/// A tensor as an operand of attn.attention: its letters name its dimensions.
struct Operand {
  Value tensor;
  std::string letters;
};

class AttentionFuser {
public:
  AttentionFuser(attn::SoftmaxOp softmax) : softmax(softmax), b(softmax.getLoc(), softmax) {}

  /// Replaces the steps by one attn.attention, or says why not.
  std::optional<Obstacle> run() {
    if (auto obstacle = matchValues())
      return obstacle;
    if (auto obstacle = matchScores())
      return obstacle;
    rank = softmax.getType().getRank();
    Operand query = absorbLayout({products.getLhs(), lettersOf("qd")});
    Operand key = absorbLayout({products.getRhs(), lettersOf(products.getTransposeRhs() ? "kd" : "dk")});
    Operand value = absorbLayout({weighted.getRhs(), lettersOf(weighted.getTransposeRhs() ? "ek" : "ke")});
    build(query, key, value);
    return std::nullopt;
  }

private:
  attn::SoftmaxOp softmax;
  ImplicitLocOpBuilder b;
  int64_t rank = 0;
  attn::MatmulOp products, weighted;
  SmallVector<ScoreStep> steps; // from the first matmul to the softmax

  /// softmax → casts → matmul with the values on its right.
  std::optional<Obstacle> matchValues() {
    int64_t axis = softmax.getAxis(), last = softmax.getType().getRank() - 1;
    if (axis != -1 && axis != last)
      return Obstacle{"softmax-axis",
                      "expected softmax along the last axis, but got axis " + std::to_string(axis), softmax};
    Value weights = softmax.getWeights();
    while (true) {
      if (!weights.hasOneUse())
        return Obstacle{"weights-used-elsewhere",
                        "expected weights used by one matmul, but got " +
                            std::to_string(std::distance(weights.user_begin(), weights.user_end())) + " uses",
                        softmax};
      Operation *user = *weights.user_begin();
      if (isa<arith::ExtFOp, arith::TruncFOp>(user)) {
        weights = user->getResult(0);
        continue;
      }
      weighted = dyn_cast<attn::MatmulOp>(user);
      if (!weighted || weighted.getLhs() != weights)
        return Obstacle{"no-values", "expected weights on the left of a matmul, but got " + nameOf(user),
                        user};
      return std::nullopt;
    }
  }

  static std::string nameOf(Operation *op) { return op->getName().getStringRef().str(); }

  /// matmul → steps → softmax.
  std::optional<Obstacle> matchScores() {
    Value scores = softmax.getScores();
    while (true) {
      Operation *producer = scores.getDefiningOp();
      if (!producer)
        return Obstacle{"no-products", "expected scores that come from a matmul, but got an argument",
                        softmax};
      if (!scores.hasOneUse())
        return Obstacle{"scores-used-elsewhere", "expected scores used only on the way to the softmax",
                        producer};
      if ((products = dyn_cast<attn::MatmulOp>(producer))) {
        std::reverse(steps.begin(), steps.end());
        return std::nullopt;
      }
      Value before = scoreOperandOf(producer);
      if (!before)
        return Obstacle{"not-a-score-op",
                        "expected an operation on one score at a time, but got " + nameOf(producer),
                        producer};
      steps.push_back({producer, before});
      scores = before;
    }
  }

  /// The operand of an elementwise operation through which the scores come.
  static Value scoreOperandOf(Operation *op) {
    if (auto score = dyn_cast<attn::ScoreOpInterface>(op))
      return score.getScoreOperand();
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
      return {};
    if (!isa<FloatType>(getElementTypeOrSelf(op->getResult(0))))
      return {};
    // The scores are what leads to a matmul by way of float operations.
    for (Value operand : op->getOperands())
      if (isa<FloatType>(getElementTypeOrSelf(operand)) && leadsToMatmul(operand))
        return operand;
    return {};
  }

  static bool leadsToMatmul(Value value) {
    while (Operation *producer = value.getDefiningOp()) {
      if (isa<attn::MatmulOp>(producer))
        return true;
      if (auto score = dyn_cast<attn::ScoreOpInterface>(producer)) {
        value = score.getScoreOperand();
        continue;
      }
      return OpTrait::hasElementwiseMappableTraits(producer) &&
             llvm::any_of(producer->getOperands(), [](Value operand) {
               return isa<FloatType>(getElementTypeOrSelf(operand)) && leadsToMatmul(operand);
             });
    }
    return false;
  }

  /// Batch and head letters as the rank has them, then `matrix`.
  std::string lettersOf(StringRef matrix) const {
    return (rank == 4 ? "bh" : rank == 3 ? "b" : "") + matrix.str();
  }

  /// Takes transposes and head splits into the letters, so that no copy is made of what they read.
  Operand absorbLayout(Operand operand) {
    while (Operation *producer = operand.tensor.getDefiningOp()) {
      if (auto transpose = dyn_cast<linalg::TransposeOp>(producer)) {
        std::string letters(operand.letters);
        for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
          letters[from] = operand.letters[to];
        operand = {transpose.getInput(), letters};
      } else if (auto split = dyn_cast<attn::SplitHeadsOp>(producer);
                 split && operand.letters.size() == 4 && operand.letters.substr(0, 2) == "bh") {
        // [b, s, h·d] read as [b, s, h, d].
        b.setInsertionPoint(weighted);
        operand = {expandHeads(split), {'b', operand.letters[2], 'h', operand.letters[3]}};
        return operand;
      } else {
        return operand;
      }
    }
    return operand;
  }

  Value expandHeads(attn::SplitHeadsOp split) {
    auto type = split.getType();
    SmallVector<int64_t> shape{type.getDimSize(0), type.getDimSize(2), type.getDimSize(1),
                               type.getDimSize(3)};
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), split.getInput());
    int64_t heads = split.getHeads();
    OpFoldResult width = affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), b.getAffineSymbolExpr(0).floorDiv(heads), {sizes[2]});
    return tensor::ExpandShapeOp::create(
        b, RankedTensorType::get(shape, type.getElementType()), split.getInput(),
        SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}},
        SmallVector<OpFoldResult>{sizes[0], sizes[1], b.getIndexAttr(heads), width});
  }

  void build(const Operand &query, const Operand &key, const Operand &value) {
    // A head merge of the result is a layout too.
    auto merge = weighted->hasOneUse() ? dyn_cast<attn::MergeHeadsOp>(*weighted->user_begin()) : nullptr;
    if (rank != 4)
      merge = nullptr;
    std::string result = merge ? "bqhe" : lettersOf("qe");
    auto type = weighted.getType();
    if (merge)
      type = RankedTensorType::get(
          {type.getDimSize(0), type.getDimSize(2), type.getDimSize(1), type.getDimSize(3)},
          type.getElementType());
    b.setInsertionPoint(weighted);
    double scale = 1;
    ArrayRef<ScoreStep> rest(steps);
    if (!rest.empty())
      if (auto first = dyn_cast<attn::ScaleOp>(rest.front().op)) {
        scale = first.getFactor().convertToDouble();
        rest = rest.drop_front();
      }
    std::string layout = query.letters + "," + key.letters + "," + value.letters + "->" + result;
    ScoreChain chain(b, rank, rest);
    Region score, keep;
    chain.buildRegions(score, keep);
    auto fused = attn::AttentionOp::create(
        b, TypeRange{type}, query.tensor, key.tensor, value.tensor, Value(), Value(), Value(), Value(),
        chain.getReads(), b.getF64FloatAttr(scale), b.getStringAttr(layout), softmax.getEmptyRowsAttr(),
        b.getAffineMapArrayAttr(chain.getMaps()));
    fused.getScore().takeBody(score);
    fused.getKeep().takeBody(keep);
    if (!merge) {
      weighted.getResult().replaceAllUsesWith(fused.getResult());
    } else {
      b.setInsertionPoint(merge);
      Value merged = tensor::CollapseShapeOp::create(b, fused.getResult(),
                                                     SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
      if (merged.getType() != merge.getType())
        merged = tensor::CastOp::create(b, merge.getType(), merged);
      merge.getResult().replaceAllUsesWith(merged);
      merge.erase();
    }
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

  static StringRef nameOf(Operation *op) { return op->getName().getStringRef(); }
};

} // namespace
} // namespace heed
