// Lowers what works row by row or element by element to linalg.generic; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_LOWERLAYERS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Every score operation and activation: one element in, one out.
struct LowerScoreOp : OpInterfaceRewritePattern<attn::ScoreOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(attn::ScoreOpInterface op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value scores = op.getScoreOperand();
    TensorLoops loops(b, scores);
    SmallVector<GenericInput> inputs{{scores, loops.identity}};
    SmallVector<Value> reads;
    for (attn::ScoreRead read : op.getScoreReads()) {
      reads.push_back(read.tensor);
      if (!isWhole(read))
        inputs.push_back({read.tensor, read.map});
    }
    attn::ScorePoint lengths;
    int64_t rank = loops.rank();
    if (rank >= 2) {
      lengths.queryLength = loops.size(rank - 2);
      lengths.keyLength = loops.size(rank - 1);
    }
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value result = loops.map(inputs, type.getElementType(), [&](ImplicitLocOpBuilder &b, ValueRange in) {
      attn::ScorePoint point = lengths;
      auto index = [&](int64_t dim) -> Value { return linalg::IndexOp::create(b, dim); };
      if (rank >= 2 && rank <= 4) {
        point.query = index(rank - 2);
        point.key = index(rank - 1);
        point.batch = rank >= 3 ? index(0) : indexConstant(b, 0);
        point.head = rank == 4 ? index(1) : indexConstant(b, 0);
      }
      auto next = in.begin() + 1;
      SmallVector<Value> elements;
      for (attn::ScoreRead read : op.getScoreReads())
        elements.push_back(isWhole(read) ? read.tensor : *next++);
      Value changed = op.buildChange(b, op.getLoc(), in[0], point, elements);
      if (Value keep = op.buildKeep(b, op.getLoc(), point, elements))
        changed = arith::SelectOp::create(b, keep, changed, f32Constant(b, -INFINITY));
      return changed;
    });
    rewriter.replaceOp(op, result);
    return success();
  }

  static bool isWhole(const attn::ScoreRead &read) {
    return read.map.getNumResults() == 0 && cast<RankedTensorType>(read.tensor.getType()).getRank() > 0;
  }
};

/// Shifts by the maximum, which a row without kept scores does not have: it is shifted by zero and sums to
/// zero.
struct LowerSoftmax : OpRewritePattern<attn::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::SoftmaxOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    TensorLoops loops(b, op.getScores());
    int64_t axis = op.getAxis();
    if (axis < 0)
      axis += loops.rank();
    GenericInput scores{op.getScores(), loops.identity};
    Value max = loops.reduce(scores, axis, -INFINITY, [](auto &b, ValueRange in, Value max) -> Value {
      return arith::MaximumFOp::create(b, max, in[0]);
    });
    Value weights =
        loops.map({scores, {max, loops.without(axis)}}, b.getF32Type(), [](auto &b, ValueRange in) -> Value {
          Value none = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, in[1], f32Constant(b, -INFINITY));
          Value shift = arith::SelectOp::create(b, none, f32Constant(b, 0), in[1]);
          return math::ExpOp::create(b, arith::SubFOp::create(b, in[0], shift));
        });
    Value sum =
        loops.reduce({{weights, loops.identity}}, axis, 0, [](auto &b, ValueRange in, Value sum) -> Value {
          return arith::AddFOp::create(b, sum, in[0]);
        });
    double empty = op.getEmptyRows() == attn::EmptyRows::Zeros ? 0 : NAN;
    // A score of −inf is a pair that is not kept, whatever the others are: its weight is −0.0.
    rewriter.replaceOp(op, loops.map({{weights, loops.identity}, {sum, loops.without(axis)}, scores},
                                     loops.type.getElementType(), [&](auto &b, ValueRange in) -> Value {
                                       auto equals = [&](Value value, double constant) -> Value {
                                         return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value,
                                                                      f32Constant(b, constant));
                                       };
                                       Value quotient = arith::DivFOp::create(b, in[0], in[1]);
                                       Value weight = arith::SelectOp::create(b, equals(in[2], -INFINITY),
                                                                              f32Constant(b, -0.0), quotient);
                                       return arith::SelectOp::create(b, equals(in[1], 0),
                                                                      f32Constant(b, empty), weight);
                                     }));
    return success();
  }
};

struct LowerLayerNorm : OpRewritePattern<attn::LayerNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::LayerNormOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    TensorLoops loops(b, op.getInput());
    int64_t axis = loops.rank() - 1;
    GenericInput input{op.getInput(), loops.identity};
    Value count = loops.sizeAsF32(axis);
    Value sum = loops.reduce(input, axis, 0, [](auto &b, ValueRange in, Value sum) -> Value {
      return arith::AddFOp::create(b, sum, in[0]);
    });
    auto centered = [&](ImplicitLocOpBuilder &b, ValueRange in) -> Value {
      return arith::SubFOp::create(b, in[0], arith::DivFOp::create(b, in[1], count));
    };
    GenericInput total{sum, loops.without(axis)};
    Value squares = loops.reduce({input, total}, axis, 0, [&](auto &b, ValueRange in, Value sum) -> Value {
      Value deviation = centered(b, in);
      return arith::AddFOp::create(b, sum, arith::MulFOp::create(b, deviation, deviation));
    });
    SmallVector<GenericInput> inputs{input, total, {squares, loops.without(axis)}};
    for (Value scale : {op.getWeight(), op.getBias()})
      if (scale)
        inputs.push_back({scale, loops.only(axis)});
    rewriter.replaceOp(
        op, loops.map(inputs, loops.type.getElementType(), [&](auto &b, ValueRange in) -> Value {
          Value variance = arith::AddFOp::create(b, arith::DivFOp::create(b, in[2], count),
                                                 f32Constant(b, op.getEpsilon().convertToDouble()));
          Value y = arith::MulFOp::create(b, centered(b, in), math::RsqrtOp::create(b, variance));
          if (op.getWeight())
            y = arith::MulFOp::create(b, y, in[3]);
          if (op.getBias())
            y = arith::AddFOp::create(b, y, in.back());
          return y;
        }));
    return success();
  }
};

struct LowerRmsNorm : OpRewritePattern<attn::RmsNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::RmsNormOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    TensorLoops loops(b, op.getInput());
    int64_t axis = loops.rank() - 1;
    GenericInput input{op.getInput(), loops.identity};
    Value count = loops.sizeAsF32(axis);
    Value squares = loops.reduce(input, axis, 0, [&](auto &b, ValueRange in, Value sum) -> Value {
      return arith::AddFOp::create(b, sum, arith::MulFOp::create(b, in[0], in[0]));
    });
    SmallVector<GenericInput> inputs{input, {squares, loops.without(axis)}};
    if (op.getWeight())
      inputs.push_back({op.getWeight(), loops.only(axis)});
    rewriter.replaceOp(
        op, loops.map(inputs, loops.type.getElementType(), [&](auto &b, ValueRange in) -> Value {
          Value mean = arith::AddFOp::create(b, arith::DivFOp::create(b, in[1], count),
                                             f32Constant(b, op.getEpsilon().convertToDouble()));
          Value y = arith::MulFOp::create(b, in[0], math::RsqrtOp::create(b, mean));
          if (!op.getWeight())
            return y;
          Value weight = in[2];
          if (!op.getOffset().isZero())
            weight = arith::AddFOp::create(b, weight, f32Constant(b, op.getOffset().convertToDouble()));
          return arith::MulFOp::create(b, y, weight);
        }));
    return success();
  }
};

struct LowerAdditiveScores : OpRewritePattern<attn::AdditiveScoresOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::AdditiveScoresOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = cast<RankedTensorType>(op.getResult().getType());
    int64_t loops = type.getRank() + 1; // …, q, k, u
    auto identity = b.getMultiDimIdentityMap(loops);
    ReifiedRankedShapedTypeDims shape;
    if (failed(cast<ReifyRankedShapedTypeOpInterface>(op.getOperation()).reifyResultShapes(b, shape)))
      return failure();
    Value zeros = filledTensor(b, shape[0], f32Constant(b, 0));
    AffineMap scores = identity.dropResult(loops - 1);
    Value sums = buildGeneric(b,
                              {{op.getQuery(), identity.dropResult(loops - 2)},
                               {op.getKey(), identity.dropResult(loops - 3)},
                               {op.getV(), identity.getSubMap({static_cast<unsigned>(loops - 1)})}},
                              {{zeros, scores}}, loops, {loops - 1},
                              [](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                                Value tanh = math::TanhOp::create(b, arith::AddFOp::create(b, in[0], in[1]));
                                Value term = arith::MulFOp::create(b, in[2], tanh);
                                return SmallVector<Value>{arith::AddFOp::create(b, out[0], term)};
                              })[0];
    if (!type.getElementType().isF32())
      sums = arith::TruncFOp::create(b, type, sums);
    if (sums.getType() != type)
      sums = tensor::CastOp::create(b, type, sums);
    rewriter.replaceOp(op, sums);
    return success();
  }
};

struct LowerEmbedding : OpRewritePattern<attn::EmbeddingOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::EmbeddingOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = cast<RankedTensorType>(op.getResult().getType());
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), op.getIds());
    sizes.push_back(tensor::getMixedSize(b, op.getLoc(), op.getTable(), 1));
    AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
    int64_t width = type.getRank() - 1;
    rewriter.replaceOp(op, buildGeneric(b, {{op.getIds(), identity.dropResult(width)}},
                                        {{emptyTensor(b, type, sizes), identity}}, type.getRank(), {},
                                        [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange) {
                                          Value row = arith::IndexCastOp::create(b, b.getIndexType(), in[0]);
                                          Value column = linalg::IndexOp::create(b, width);
                                          Value element = tensor::ExtractOp::create(b, op.getTable(),
                                                                                    ValueRange{row, column});
                                          return SmallVector<Value>{extendToF32(b, element)};
                                        }));
    return success();
  }
};

struct LowerLayers : impl::LowerLayersBase<LowerLayers> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<LowerScoreOp, LowerSoftmax, LowerLayerNorm, LowerRmsNorm, LowerAdditiveScores, LowerEmbedding>(
            &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace heed
