// Lowers what works row by row or element by element to linalg.generic; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_LOWERLAYERS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// What most of the patterns start from: the shape of a tensor, its loops, and maps onto them.
struct Loops {
  ImplicitLocOpBuilder &b;
  RankedTensorType type;
  SmallVector<OpFoldResult> sizes;
  AffineMap identity;

  Loops(ImplicitLocOpBuilder &b, Value tensor)
      : b(b), type(cast<RankedTensorType>(tensor.getType())),
        sizes(tensor::getMixedSizes(b, b.getLoc(), tensor)),
        identity(b.getMultiDimIdentityMap(type.getRank())) {}

  int64_t rank() const { return type.getRank(); }
  /// Coordinates without dimension `axis`.
  AffineMap without(int64_t axis) const { return identity.dropResult(axis); }
  /// The coordinate along `axis` alone.
  AffineMap only(int64_t axis) const { return identity.getSubMap({static_cast<unsigned>(axis)}); }
  SmallVector<OpFoldResult> sizesWithout(int64_t axis) const {
    SmallVector<OpFoldResult> rest(sizes);
    rest.erase(rest.begin() + axis);
    return rest;
  }
  Value size(int64_t axis) const { return getValueOrCreateConstantIndexOp(b, b.getLoc(), sizes[axis]); }
  Value sizeAsF32(int64_t axis) const {
    Value integer = arith::IndexCastOp::create(b, b.getI64Type(), size(axis));
    return arith::SIToFPOp::create(b, b.getF32Type(), integer);
  }
  /// Reduces `inputs` along `axis`, starting from `init`, in f32.
  Value reduce(ArrayRef<GenericInput> inputs, int64_t axis, double init,
               function_ref<Value(ImplicitLocOpBuilder &, ValueRange, Value)> combine) const {
    Value start = filledTensor(b, sizesWithout(axis), f32Constant(b, init));
    return buildGeneric(b, inputs, {{start, without(axis)}}, rank(), {axis},
                        [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                          return SmallVector<Value>{combine(b, in, out[0])};
                        })[0];
  }
  /// Computes a tensor of this shape and of `elementType` element by element.
  Value map(ArrayRef<GenericInput> inputs, Type elementType,
            function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> element) const {
    Value empty = emptyTensor(b, RankedTensorType::get(type.getShape(), elementType), sizes);
    return buildGeneric(b, inputs, {{empty, identity}}, rank(), {},
                        [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange) {
                          return SmallVector<Value>{element(b, in)};
                        })[0];
  }
};

/// Every score operation and activation: one element in, one out.
struct LowerScoreOp : OpInterfaceRewritePattern<attn::ScoreOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(attn::ScoreOpInterface op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value scores = op.getScoreOperand();
    Loops loops(b, scores);
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
      Value changed = op.buildScore(b, op.getLoc(), in[0], point, elements);
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
    Loops loops(b, op.getScores());
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
    rewriter.replaceOp(
        op, loops.map({{weights, loops.identity}, {sum, loops.without(axis)}}, loops.type.getElementType(),
                      [&](auto &b, ValueRange in) -> Value {
                        Value none =
                            arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, in[1], f32Constant(b, 0));
                        Value quotient = arith::DivFOp::create(b, in[0], in[1]);
                        return arith::SelectOp::create(b, none, f32Constant(b, empty), quotient);
                      }));
    return success();
  }
};

struct LowerLayerNorm : OpRewritePattern<attn::LayerNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::LayerNormOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Loops loops(b, op.getInput());
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
    Loops loops(b, op.getInput());
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

struct LowerLearnedPositions : OpRewritePattern<attn::LearnedPositionsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::LearnedPositionsOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Loops loops(b, op.getInput());
    int64_t rank = loops.rank();
    rewriter.replaceOp(
        op, loops.map({{op.getInput(), loops.identity}}, loops.type.getElementType(),
                      [&](ImplicitLocOpBuilder &b, ValueRange in) -> Value {
                        Value offset = positionOf(b, op.getOffset(), linalg::IndexOp::create(b, 0));
                        Value row = arith::AddIOp::create(b, linalg::IndexOp::create(b, rank - 2), offset);
                        Value column = linalg::IndexOp::create(b, rank - 1);
                        Value element = tensor::ExtractOp::create(b, op.getTable(), ValueRange{row, column});
                        return arith::AddFOp::create(b, in[0], extendToF32(b, element));
                      }));
    return success();
  }
};

/// exp(x) in f64 for −700 ≤ x ≤ 0, to 2^-51 of its value: powers of two by the exponent, the rest by Taylor's
/// series.
Value buildExp(ImplicitLocOpBuilder &b, Value x) {
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getF64FloatAttr(value));
  };
  auto bits = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  };
  auto add = [&](Value x, Value y) -> Value { return arith::AddFOp::create(b, x, y); };
  auto multiply = [&](Value x, Value y) -> Value { return arith::MulFOp::create(b, x, y); };
  // Adding 1.5 · 2^52 rounds to an integer, which then stands in the low bits.
  Value magic = constant(0x1.8p52), shifted = add(multiply(x, constant(0x1.71547652b82fep0)), magic);
  Value whole = arith::SubFOp::create(b, shifted, magic);
  Value rest = add(add(x, multiply(whole, constant(-0x1.62e42feep-1))),
                   multiply(whole, constant(-0x1.a39ef35793c76p-33)));
  Value series = constant(1);
  for (int64_t term = 12; term >= 1; --term)
    series = add(constant(1), multiply(multiply(rest, constant(1.0 / term)), series));
  Value exponent = arith::AddIOp::create(b, arith::BitcastOp::create(b, b.getI64Type(), shifted), bits(1023));
  Value power =
      arith::BitcastOp::create(b, b.getF64Type(), arith::ShLIOp::create(b, exponent, bits(52)).getResult());
  return multiply(series, power);
}

/// The angle `position / base^(2·pair/width)`, less whole turns, in f32. Up to there it is computed in f64:
/// f32 would lose the fraction of a turn at large positions.
Value buildAngle(ImplicitLocOpBuilder &b, Value position, Value pair, Value width, double base) {
  auto toF64 = [&](Value index) -> Value {
    Value integer = arith::IndexCastOp::create(b, b.getI64Type(), index);
    return arith::SIToFPOp::create(b, b.getF64Type(), integer);
  };
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getF64FloatAttr(value));
  };
  Value exponent = arith::DivFOp::create(b, toF64(pair), toF64(width));
  Value frequency = buildExp(b, arith::MulFOp::create(b, exponent, constant(-2 * std::log(base))));
  Value angle = arith::MulFOp::create(b, toF64(position), frequency);
  Value magic = constant(0x1.8p52);
  Value turns =
      arith::AddFOp::create(b, arith::MulFOp::create(b, angle, constant(0x1.45f306dc9c883p-3)), magic);
  turns = arith::SubFOp::create(b, turns, magic);
  // 2π in two parts, the first so short that its product with the turns is exact.
  Value rest = arith::SubFOp::create(b, angle, arith::MulFOp::create(b, turns, constant(0x1.921fb544p2)));
  rest = arith::SubFOp::create(b, rest, arith::MulFOp::create(b, turns, constant(0x1.0b4611a626331p-32)));
  return arith::TruncFOp::create(b, b.getF32Type(), rest);
}

struct LowerSinusoidalPositions : OpRewritePattern<attn::SinusoidalPositionsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::SinusoidalPositionsOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Loops loops(b, op.getInput());
    int64_t rank = loops.rank();
    Value width = loops.size(rank - 1);
    rewriter.replaceOp(
        op, loops.map({{op.getInput(), loops.identity}}, loops.type.getElementType(),
                      [&](ImplicitLocOpBuilder &b, ValueRange in) -> Value {
                        Value offset = positionOf(b, op.getOffset(), linalg::IndexOp::create(b, 0));
                        Value position =
                            arith::AddIOp::create(b, linalg::IndexOp::create(b, rank - 2), offset);
                        Value feature = linalg::IndexOp::create(b, rank - 1);
                        Value pair = arith::ShRUIOp::create(b, feature, indexConstant(b, 1));
                        Value odd = arith::AndIOp::create(b, feature, indexConstant(b, 1));
                        Value angle = buildAngle(b, position, pair, width, op.getBase().convertToDouble());
                        Value isOdd =
                            arith::CmpIOp::create(b, arith::CmpIPredicate::ne, odd, indexConstant(b, 0));
                        Value wave = arith::SelectOp::create(b, isOdd, math::CosOp::create(b, angle),
                                                             math::SinOp::create(b, angle));
                        return arith::AddFOp::create(b, in[0], wave);
                      }));
    return success();
  }
};

struct LowerRotary : OpRewritePattern<attn::RotaryOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::RotaryOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Loops loops(b, op.getInput());
    int64_t rank = loops.rank(), axis = op.getAxis();
    if (axis < 0)
      axis += rank;
    Value width = op.getWidth() ? indexConstant(b, *op.getWidth()) : loops.size(rank - 1);
    bool halves = op.getPairing() == attn::Pairing::Halves;
    rewriter.replaceOp(
        op, loops.map({{op.getInput(), loops.identity}}, loops.type.getElementType(),
                      [&](ImplicitLocOpBuilder &b, ValueRange in) -> Value {
                        auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
                          return arith::CmpIOp::create(b, predicate, x, y);
                        };
                        SmallVector<Value> at;
                        for (int64_t dim = 0; dim < rank; ++dim)
                          at.push_back(linalg::IndexOp::create(b, dim));
                        Value one = indexConstant(b, 1), feature = at.back();
                        Value half = arith::ShRUIOp::create(b, width, one);
                        Value turned = compare(arith::CmpIPredicate::ult, feature, width);
                        // `second`: whether this is the second of its pair; `partner`: where the other one
                        // lies.
                        Value second, pair, partner;
                        if (halves) {
                          second = compare(arith::CmpIPredicate::uge, feature, half);
                          Value before = arith::SubIOp::create(b, feature, half);
                          pair = arith::SelectOp::create(b, second, before, feature);
                          partner = arith::SelectOp::create(b, second, before,
                                                            arith::AddIOp::create(b, feature, half));
                        } else {
                          second = compare(arith::CmpIPredicate::ne, arith::AndIOp::create(b, feature, one),
                                           indexConstant(b, 0));
                          pair = arith::ShRUIOp::create(b, feature, one);
                          partner = arith::XOrIOp::create(b, feature, one);
                        }
                        Value offset = positionOf(b, op.getOffset(), at[0]);
                        Value angle = buildAngle(b, arith::AddIOp::create(b, at[axis], offset), pair, width,
                                                 op.getBase().convertToDouble());
                        Value cosine = math::CosOp::create(b, angle);
                        Value sine = math::SinOp::create(b, angle);
                        at.back() = arith::SelectOp::create(b, turned, partner, feature);
                        Value other = extendToF32(b, tensor::ExtractOp::create(b, op.getInput(), at));
                        Value signedSine =
                            arith::SelectOp::create(b, second, sine, arith::NegFOp::create(b, sine));
                        Value rotated = arith::AddFOp::create(b, arith::MulFOp::create(b, in[0], cosine),
                                                              arith::MulFOp::create(b, other, signedSine));
                        return arith::SelectOp::create(b, turned, rotated, in[0]);
                      }));
    return success();
  }
};

/// A permutation that swaps the third and the second last dimension.
SmallVector<int64_t> swapHeadsAndPositions(int64_t rank) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(permutation[rank - 3], permutation[rank - 2]);
  return permutation;
}

Value transpose(ImplicitLocOpBuilder &b, Value input, ArrayRef<int64_t> permutation) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), input), permuted;
  for (int64_t dim : permutation)
    permuted.push_back(sizes[dim]);
  Value empty = tensor::EmptyOp::create(b, permuted, getElementTypeOrSelf(input));
  return linalg::TransposeOp::create(b, input, empty, permutation)->getResult(0);
}

SmallVector<ReassociationIndices> lastTwoTogether(int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    groups.push_back({dim});
  groups.push_back({rank - 2, rank - 1});
  return groups;
}

struct LowerSplitHeads : OpRewritePattern<attn::SplitHeadsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::SplitHeadsOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), op.getInput());
    int64_t heads = op.getHeads(), rank = sizes.size();
    Value width = getValueOrCreateConstantIndexOp(b, op.getLoc(), sizes.back());
    sizes.back() = b.getIndexAttr(heads);
    sizes.push_back(b.createOrFold<arith::DivUIOp>(width, indexConstant(b, heads)));
    SmallVector<int64_t> shape(cast<RankedTensorType>(op.getInput().getType()).getShape());
    int64_t last = shape.pop_back_val();
    shape.append({heads, ShapedType::isDynamic(last) ? last : last / heads});
    if (!ShapedType::isDynamic(last))
      sizes.back() = b.getIndexAttr(last / heads);
    auto split = RankedTensorType::get(shape, getElementTypeOrSelf(op.getInput()));
    Value expanded = tensor::ExpandShapeOp::create(b, split, op.getInput(), lastTwoTogether(rank + 1), sizes);
    Value result = transpose(b, expanded, swapHeadsAndPositions(rank + 1));
    if (result.getType() != op.getType())
      result = tensor::CastOp::create(b, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerMergeHeads : OpRewritePattern<attn::MergeHeadsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::MergeHeadsOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t rank = cast<RankedTensorType>(op.getInput().getType()).getRank();
    Value swapped = transpose(b, op.getInput(), swapHeadsAndPositions(rank));
    Value result = tensor::CollapseShapeOp::create(b, swapped, lastTwoTogether(rank));
    if (result.getType() != op.getType())
      result = tensor::CastOp::create(b, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerCacheUpdate : OpRewritePattern<attn::CacheUpdateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::CacheUpdateOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), op.getEntries());
    int64_t rank = sizes.size(), axis = op.getAxis();
    if (axis < 0)
      axis += rank;
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), strides(rank, b.getIndexAttr(1));
    if (op.getPosition().getType().isIndex()) {
      offsets[axis] = op.getPosition();
      rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, op.getEntries(), op.getCache(), offsets, sizes,
                                                         strides);
      return success();
    }
    Value batches = getValueOrCreateConstantIndexOp(b, op.getLoc(), sizes[0]);
    auto loop = scf::ForOp::create(b, indexConstant(b, 0), batches, indexConstant(b, 1), op.getCache());
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<OpFoldResult> source(rank, b.getIndexAttr(0));
    source[0] = offsets[0] = loop.getInductionVar();
    sizes[0] = b.getIndexAttr(1);
    Value entry = tensor::ExtractSliceOp::create(b, op.getEntries(), source, sizes, strides);
    offsets[axis] = positionOf(b, op.getPosition(), loop.getInductionVar());
    Value next = tensor::InsertSliceOp::create(b, entry, loop.getRegionIterArg(0), offsets, sizes, strides);
    scf::YieldOp::create(b, next);
    rewriter.replaceOp(op, loop.getResults());
    return success();
  }
};

/// Whether (x, i) comes before (y, j) in falling order: NaN first, then larger, then lower index.
Value comesBefore(ImplicitLocOpBuilder &b, Value x, Value i, Value y, Value j) {
  auto isNaN = [&](Value v) -> Value { return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, v, v); };
  auto both = [&](Value p, Value q) -> Value { return arith::AndIOp::create(b, p, q); };
  auto either = [&](Value p, Value q) -> Value { return arith::OrIOp::create(b, p, q); };
  Value truth = arith::ConstantIntOp::create(b, 1, 1);
  Value xNaN = isNaN(x), yNaN = isNaN(y);
  Value greater = either(arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y),
                         both(xNaN, arith::XOrIOp::create(b, yNaN, truth)));
  Value equal = either(arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, y), both(xNaN, yNaN));
  return either(greater, both(equal, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, i, j)));
}

/// The first element of each row in falling order among those that come after (`value`, `index`), if given.
/// `value`, `index`: one per row. Returns values in f32 and indices in i64; −inf and the row's size when none
/// is left.
std::pair<Value, Value> selectNext(const Loops &loops, Value input, Value value, Value index) {
  ImplicitLocOpBuilder &b = loops.b;
  int64_t axis = loops.rank() - 1;
  SmallVector<GenericInput> inputs{{input, loops.identity}};
  if (value)
    inputs.append({{value, loops.without(axis)}, {index, loops.without(axis)}});
  Value none = arith::IndexCastOp::create(b, b.getI64Type(), loops.size(axis));
  Value values = filledTensor(b, loops.sizesWithout(axis), f32Constant(b, -INFINITY));
  Value indices = filledTensor(b, loops.sizesWithout(axis), none);
  SmallVector<Value> best =
      buildGeneric(b, inputs, {{values, loops.without(axis)}, {indices, loops.without(axis)}}, loops.rank(),
                   {axis}, [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                     Value here =
                         arith::IndexCastOp::create(b, b.getI64Type(), linalg::IndexOp::create(b, axis));
                     Value better = comesBefore(b, in[0], here, out[0], out[1]);
                     if (value)
                       better = arith::AndIOp::create(b, better, comesBefore(b, in[1], in[2], in[0], here));
                     return SmallVector<Value>{arith::SelectOp::create(b, better, in[0], out[0]),
                                               arith::SelectOp::create(b, better, here, out[1])};
                   });
  return {best[0], best[1]};
}

struct LowerArgmax : OpRewritePattern<attn::ArgmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::ArgmaxOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value indices = selectNext(Loops(b, op.getInput()), op.getInput(), {}, {}).second;
    if (indices.getType() != op.getType())
      indices = tensor::CastOp::create(b, op.getType(), indices);
    rewriter.replaceOp(op, indices);
    return success();
  }
};

/// One pass over the row per element chosen.
struct LowerTopK : OpRewritePattern<attn::TopKOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::TopKOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Loops loops(b, op.getInput());
    int64_t rank = loops.rank();
    SmallVector<OpFoldResult> sizes = loops.sizesWithout(rank - 1), slice(sizes);
    sizes.push_back(b.getIndexAttr(op.getK()));
    slice.push_back(b.getIndexAttr(1));
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), strides(rank, b.getIndexAttr(1));
    Value values = tensor::EmptyOp::create(b, sizes, b.getF32Type());
    Value indices = tensor::EmptyOp::create(b, sizes, b.getI64Type());
    auto insert = [&](std::pair<Value, Value> chosen, OpFoldResult at, Value values, Value indices) {
      offsets.back() = at;
      return SmallVector<Value>{
          tensor::InsertSliceOp::create(b, chosen.first, values, offsets, slice, strides),
          tensor::InsertSliceOp::create(b, chosen.second, indices, offsets, slice, strides)};
    };
    std::pair<Value, Value> first = selectNext(loops, op.getInput(), {}, {});
    SmallVector<Value> carried = insert(first, b.getIndexAttr(0), values, indices);
    carried.append({first.first, first.second});
    auto loop =
        scf::ForOp::create(b, indexConstant(b, 1), indexConstant(b, op.getK()), indexConstant(b, 1), carried);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      ValueRange now = loop.getRegionIterArgs();
      std::pair<Value, Value> next = selectNext(loops, op.getInput(), now[2], now[3]);
      SmallVector<Value> yielded = insert(next, loop.getInductionVar(), now[0], now[1]);
      // Into the buffers that came in: what was chosen before is no longer needed.
      yielded.append({linalg::CopyOp::create(b, next.first, now[2]).getResult(0),
                      linalg::CopyOp::create(b, next.second, now[3]).getResult(0)});
      scf::YieldOp::create(b, yielded);
    }
    Value resultValues = loop.getResult(0);
    if (!loops.type.getElementType().isF32())
      resultValues = arith::TruncFOp::create(
          b, cast<RankedTensorType>(resultValues.getType()).clone(loops.type.getElementType()), resultValues);
    auto castTo = [&](Value value, Type type) -> Value {
      return value.getType() == type ? value : tensor::CastOp::create(b, type, value).getResult();
    };
    rewriter.replaceOp(op, {castTo(resultValues, op.getValues().getType()),
                            castTo(loop.getResult(1), op.getIndices().getType())});
    return success();
  }
};

struct LowerLayers : impl::LowerLayersBase<LowerLayers> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerScoreOp, LowerSoftmax, LowerLayerNorm, LowerRmsNorm, LowerAdditiveScores,
                 LowerEmbedding, LowerLearnedPositions, LowerSinusoidalPositions, LowerRotary,
                 LowerSplitHeads, LowerMergeHeads, LowerCacheUpdate, LowerArgmax, LowerTopK>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace heed
