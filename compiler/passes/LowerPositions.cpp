// Lowers positional encodings to linalg.generic; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_LOWERPOSITIONS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct LowerLearnedPositions : OpRewritePattern<attn::LearnedPositionsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::LearnedPositionsOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    TensorLoops loops(b, op.getInput());
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

/// The cosines and sines of all angles of `op`, in f32: of every position and pair, and of every batch entry
/// where these have offsets of their own. Entries and heads share them, and by CSE all operations of equal
/// positions.
struct Tables {
  Value cosines, sines;
  bool batched;

  template <typename Op>
  Tables(ImplicitLocOpBuilder &b, Op op, OpFoldResult batch, OpFoldResult positions, Value width) {
    Value offset = op.getOffset();
    batched = offset && !offset.getType().isIndex();
    SmallVector<OpFoldResult> sizes{positions, ceilDiv(b, width, 2)};
    if (batched)
      sizes.insert(sizes.begin(), batch);
    int64_t rank = sizes.size();
    Value empty = tensor::EmptyOp::create(b, sizes, b.getF32Type());
    GenericInput table{empty, b.getMultiDimIdentityMap(rank)};
    SmallVector<Value> results =
        buildGeneric(b, {}, {table, table}, rank, {}, [&](ImplicitLocOpBuilder &b, ValueRange, ValueRange) {
          Value first = positionOf(b, offset, linalg::IndexOp::create(b, 0));
          Value position = arith::AddIOp::create(b, linalg::IndexOp::create(b, rank - 2), first);
          Value angle = buildAngle(b, position, linalg::IndexOp::create(b, rank - 1), width,
                                   op.getBase().convertToDouble());
          return SmallVector<Value>{math::CosOp::create(b, angle), math::SinOp::create(b, angle)};
        });
    cosines = results[0];
    sines = results[1];
  }

  /// The cosine and the sine at these coordinates.
  std::pair<Value, Value> at(ImplicitLocOpBuilder &b, Value entry, Value position, Value pair) const {
    SmallVector<Value> place{position, pair};
    if (batched)
      place.insert(place.begin(), entry);
    return {tensor::ExtractOp::create(b, cosines, place), tensor::ExtractOp::create(b, sines, place)};
  }
};

struct LowerSinusoidalPositions : OpRewritePattern<attn::SinusoidalPositionsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::SinusoidalPositionsOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    TensorLoops loops(b, op.getInput());
    int64_t rank = loops.rank();
    Tables tables(b, op, loops.sizes[0], loops.sizes[rank - 2], loops.size(rank - 1));
    rewriter.replaceOp(
        op, loops.map({{op.getInput(), loops.identity}}, loops.type.getElementType(),
                      [&](ImplicitLocOpBuilder &b, ValueRange in) -> Value {
                        Value feature = linalg::IndexOp::create(b, rank - 1), one = indexConstant(b, 1);
                        auto [cosine, sine] =
                            tables.at(b, linalg::IndexOp::create(b, 0), linalg::IndexOp::create(b, rank - 2),
                                      arith::ShRUIOp::create(b, feature, one));
                        Value isOdd = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                                            arith::AndIOp::create(b, feature, one),
                                                            indexConstant(b, 0));
                        Value wave = arith::SelectOp::create(b, isOdd, cosine, sine);
                        return arith::AddFOp::create(b, in[0], wave);
                      }));
    return success();
  }
};

struct LowerRotary : OpRewritePattern<attn::RotaryOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::RotaryOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    TensorLoops loops(b, op.getInput());
    int64_t rank = loops.rank(), axis = op.getAxis();
    if (axis < 0)
      axis += rank;
    Value width = op.getWidth() ? indexConstant(b, *op.getWidth()) : loops.size(rank - 1);
    Tables tables(b, op, loops.sizes[0], loops.sizes[axis], width);
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
                        Value turned; // none where every feature turns
                        if (op.getWidth())
                          turned = compare(arith::CmpIPredicate::ult, feature, width);
                        auto ifTurned = [&](Value x, Value otherwise) -> Value {
                          return turned ? arith::SelectOp::create(b, turned, x, otherwise).getResult() : x;
                        };
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
                        // What is not turned reads a place that there is.
                        pair = ifTurned(pair, indexConstant(b, 0));
                        auto [cosine, sine] = tables.at(b, at[0], at[axis], pair);
                        at.back() = ifTurned(partner, feature);
                        Value other = extendToF32(b, tensor::ExtractOp::create(b, op.getInput(), at));
                        Value signedSine =
                            arith::SelectOp::create(b, second, sine, arith::NegFOp::create(b, sine));
                        Value rotated = arith::AddFOp::create(b, arith::MulFOp::create(b, in[0], cosine),
                                                              arith::MulFOp::create(b, other, signedSine));
                        return ifTurned(rotated, in[0]);
                      }));
    return success();
  }
};

struct LowerPositions : impl::LowerPositionsBase<LowerPositions> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerLearnedPositions, LowerSinusoidalPositions, LowerRotary>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace heed
