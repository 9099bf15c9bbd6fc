// Fuses attention written in steps into one operation; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/Matchers.h"

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

/// One step between the first matmul and the softmax: a score operation, a cast, or an elementwise operation
/// one of whose operands is the scores.
struct Step {
  Operation *op;
  Value scores;
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
  SmallVector<Step> steps; // from the first matmul to the softmax
  SmallVector<Value> reads;
  SmallVector<AffineMap> maps;

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
    ArrayRef<Step> rest(steps);
    if (!rest.empty())
      if (auto first = dyn_cast<attn::ScaleOp>(rest.front().op)) {
        scale = first.getFactor().convertToDouble();
        rest = rest.drop_front();
      }
    std::string layout = query.letters + "," + key.letters + "," + value.letters + "->" + result;
    Region score, keep;
    buildRegions(rest, score, keep);
    auto fused = attn::AttentionOp::create(b, TypeRange{type}, query.tensor, key.tensor, value.tensor,
                                           Value(), Value(), Value(), Value(), reads,
                                           b.getF64FloatAttr(scale), b.getStringAttr(layout),
                                           softmax.getEmptyRowsAttr(), b.getAffineMapArrayAttr(maps));
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

  /// Where each step's reads begin among those of the attention.
  SmallVector<unsigned> firstRead;

  /// Collects what the steps read, with maps over (batch, head, query, key).
  void collectReads(ArrayRef<Step> rest) {
    SmallVector<AffineExpr> dims;
    for (unsigned dim : ArrayRef<unsigned>(rank == 4   ? std::initializer_list<unsigned>{0, 1, 2, 3}
                                           : rank == 3 ? std::initializer_list<unsigned>{0, 2, 3}
                                                       : std::initializer_list<unsigned>{2, 3}))
      dims.push_back(b.getAffineDimExpr(dim));
    auto add = [&](Value tensor, AffineMap map) {
      reads.push_back(tensor);
      maps.push_back(map.replaceDimsAndSymbols(dims, {}, 4, 0));
    };
    for (const Step &step : rest) {
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

  static TypedAttr splatOf(Value value) {
    DenseElementsAttr elements;
    if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
      return cast<TypedAttr>(elements.getSplatValue<Attribute>());
    return {};
  }

  static bool keepsMinusInfinity(const Step &step) {
    if (auto score = dyn_cast<attn::ScoreOpInterface>(step.op))
      return score.keepsMinusInfinity();
    return isa<arith::AddFOp, arith::ExtFOp, arith::TruncFOp>(step.op);
  }

  /// The two regions. A mask goes to the keep region if what comes after it leaves −inf alone, else it stays
  /// in its place among the scores.
  void buildRegions(ArrayRef<Step> rest, Region &score, Region &keep) {
    collectReads(rest);
    OpBuilder::InsertionGuard guard(b);
    auto addBlock = [&](Region &region, bool withScore) {
      SmallVector<Type> types(6, b.getIndexType());
      if (withScore)
        types.insert(types.begin(), b.getF32Type());
      for (auto [read, map] : llvm::zip_equal(reads, maps)) {
        auto type = cast<RankedTensorType>(read.getType());
        types.push_back(map.getNumResults() == 0 && type.getRank() > 0 ? Type(type) : type.getElementType());
      }
      return b.createBlock(&region, region.end(), types, SmallVector<Location>(types.size(), b.getLoc()));
    };
    auto pointOf = [](ValueRange at) { return attn::ScorePoint{at[0], at[1], at[2], at[3], at[4], at[5]}; };
    auto elementsOf = [&](ValueRange arguments, unsigned step) {
      SmallVector<Value> elements;
      unsigned end = step + 1 < firstRead.size() ? firstRead[step + 1] : reads.size();
      for (unsigned i = firstRead[step]; i < end; ++i)
        elements.push_back(extendToF32(b, arguments[i]));
      return elements;
    };

    SmallVector<unsigned> masks;
    Block *block = addBlock(score, /*withScore=*/true);
    ValueRange arguments = block->getArguments();
    Value current = arguments[0];
    attn::ScorePoint point = pointOf(arguments.slice(1, 6));
    for (auto [i, step] : llvm::enumerate(rest)) {
      if (auto op = dyn_cast<attn::ScoreOpInterface>(step.op)) {
        bool isMask = isa<attn::MaskOp>(step.op);
        if (isMask && llvm::all_of(rest.drop_front(i + 1), keepsMinusInfinity)) {
          masks.push_back(i);
          continue;
        }
        SmallVector<Value> elements = elementsOf(arguments.drop_front(7), i);
        Value changed = op.buildScore(b, op.getLoc(), current, point, elements);
        if (Value kept = op.buildKeep(b, op.getLoc(), point, elements))
          changed = arith::SelectOp::create(b, kept, changed, f32Constant(b, -INFINITY));
        current = changed;
      } else if (!isa<arith::ExtFOp, arith::TruncFOp>(step.op)) {
        SmallVector<Value> elements = elementsOf(arguments.drop_front(7), i), operands;
        auto next = elements.begin();
        for (Value operand : step.op->getOperands()) {
          if (operand == step.scores)
            operands.push_back(current);
          else if (TypedAttr splat = splatOf(operand))
            operands.push_back(extendToF32(b, arith::ConstantOp::create(b, splat)));
          else
            operands.push_back(*next++);
        }
        current = b.create(step.op->getLoc(), step.op->getName().getIdentifier(), operands, {b.getF32Type()},
                           step.op->getAttrs())
                      ->getResult(0);
      }
    }
    attn::YieldOp::create(b, current);
    if (current == arguments[0])
      score.getBlocks().clear();

    if (masks.empty())
      return;
    Block *keepBlock = addBlock(keep, /*withScore=*/false);
    arguments = keepBlock->getArguments();
    point = pointOf(arguments.take_front(6));
    Value kept;
    for (unsigned i : masks) {
      auto mask = cast<attn::MaskOp>(rest[i].op);
      Value conjunct = mask.buildKeep(b, mask.getLoc(), point, elementsOf(arguments.drop_front(6), i));
      kept = kept ? arith::AndIOp::create(b, kept, conjunct).getResult() : conjunct;
    }
    attn::YieldOp::create(b, kept);
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
