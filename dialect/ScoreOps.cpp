// Scores: their making, their changes one by one, and softmax. See AttnScoreOps.td.
#include "dialect/Checks.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;

namespace heed::attn {

// matmul

LogicalResult MatmulOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  int64_t rank = lhs.getRank();
  if (rank < 2 || rank > 4 || rhs.getRank() != rank) // C1
    return emitOpError("expected operands of equal rank from 2 to 4, but got ")
           << rank << " and " << rhs.getRank();
  if (lhs.getElementType() != rhs.getElementType()) // C2
    return emitOpError("expected operands of one element type, but got ")
           << lhs.getElementType() << " and " << rhs.getElementType();
  int64_t rows = lhs.getDimSize(rank - 2), inner = lhs.getDimSize(rank - 1);
  int64_t rhsInner = rhs.getDimSize(getTransposeRhs() ? rank - 1 : rank - 2);
  int64_t columns = rhs.getDimSize(getTransposeRhs() ? rank - 2 : rank - 1);
  if (!mayEqual(inner, rhsInner)) // C3
    return emitOpError("expected equal inner sizes, but got ") << inner << " and " << rhsInner;
  if (rank > 2 && !mayEqual(lhs.getDimSize(0), rhs.getDimSize(0))) // C4
    return emitOpError("expected equal batch sizes, but got ")
           << lhs.getDimSize(0) << " and " << rhs.getDimSize(0);
  if (rank == 4) { // C5
    int64_t heads = lhs.getDimSize(1), shared = rhs.getDimSize(1);
    if (!mayEqual(heads, shared) && (shared == 0 || heads % shared != 0))
      return emitOpError("expected heads of rhs to divide heads of lhs, but got ")
             << shared << " and " << heads;
  }
  SmallVector<int64_t> shape(lhs.getShape().drop_back(2));
  shape.append({rows, columns});
  return verifyShape(*this, "result", getResult().getType(), shape); // C6
}

LogicalResult MatmulOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  int64_t rank = getLhs().getType().getRank();
  auto size = [&](int64_t dim) {
    if (dim < rank - 1)
      return tensor::getMixedSize(builder, getLoc(), getLhs(), dim);
    return tensor::getMixedSize(builder, getLoc(), getRhs(), getTransposeRhs() ? rank - 2 : rank - 1);
  };
  reifyShape(builder, getResult(), size, shapes);
  return success();
}

void MatmulOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getTransposeRhs() ? "scores" : "product");
}

// Score changes

static Value buildConstant(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

static Value buildIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

static Value buildLess(OpBuilder &builder, Location loc, Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}

/// |a − b| of two indices.
static Value buildDistance(OpBuilder &builder, Location loc, Value a, Value b) {
  Value forward = arith::SubIOp::create(builder, loc, a, b),
        backward = arith::SubIOp::create(builder, loc, b, a);
  return arith::MaxSIOp::create(builder, loc, forward, backward);
}

/// Refuses scores that have no head dimension.
static LogicalResult verifyHasHeads(Operation *op, RankedTensorType scores) {
  if (scores.getRank() != 4)
    return op->emitOpError("expected scores of rank 4 (batch, head, query, key), but got rank ")
           << scores.getRank();
  return success();
}

LogicalResult ScaleOp::verify() {
  if (!getFactor().isFinite()) // C1
    return emitOpError("expected a finite factor, but got ") << getFactor().convertToDouble();
  return success();
}

/// Whether `value`, rounded to `type`, is neither zero, subnormal, infinite nor NaN.
static bool isNormalIn(APFloat value, Type type) {
  bool losesInfo;
  value.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.isNormal();
}

/// scale(scale(x, a), b) → scale(x, a·b).
LogicalResult ScaleOp::canonicalize(ScaleOp outer, PatternRewriter &rewriter) {
  auto inner = outer.getScores().getDefiningOp<ScaleOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(outer, "operand is not a scale");
  APFloat product = inner.getFactor() * outer.getFactor();
  if (!isNormalIn(product, outer.getScores().getType().getElementType()))
    return rewriter.notifyMatchFailure(outer,
                                       "product of the factors is not a normal number of the element type");
  rewriter.replaceOpWithNewOp<ScaleOp>(outer, inner.getScores(), product);
  return success();
}

OpFoldResult ScaleOp::fold(FoldAdaptor) {
  return getFactor().isExactlyValue(1.0) ? OpFoldResult(getScores()) : OpFoldResult();
}

/// A positive factor does; zero makes NaN of it, and a negative one +inf.
bool ScaleOp::keepsMinusInfinity() { return !getFactor().isNegative() && getFactor().isNonZero(); }

Value ScaleOp::buildScore(OpBuilder &builder, Location loc, Value score, const ScorePoint &, ValueRange) {
  return arith::MulFOp::create(builder, loc, score,
                               buildConstant(builder, loc, getFactor().convertToDouble()));
}

double ScaleOp::evaluateScore(double score, ArrayRef<int64_t>, ArrayRef<int64_t>,
                              function_ref<double(unsigned, ArrayRef<int64_t>)>) {
  return score * getFactor().convertToDouble();
}

Value ScoreOpInterface::buildChange(OpBuilder &builder, Location loc, Value score, const ScorePoint &point,
                                    ValueRange reads) {
  Value changed = buildScore(builder, loc, score, point, reads);
  if (!keepsMinusInfinity() || reads.empty() || changed == score)
    return changed;
  Value none = buildConstant(builder, loc, -std::numeric_limits<double>::infinity());
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, score, none);
  return arith::SelectOp::create(builder, loc, isNone, none, changed);
}

LogicalResult SoftcapOp::verify() {
  if (!getCap().isFinite() || getCap().isNegative() || getCap().isZero()) // C1
    return emitOpError("expected a positive, finite cap, but got ") << getCap().convertToDouble();
  return success();
}

Value SoftcapOp::buildScore(OpBuilder &builder, Location loc, Value score, const ScorePoint &, ValueRange) {
  Value cap = buildConstant(builder, loc, getCap().convertToDouble());
  Value bounded = math::TanhOp::create(builder, loc, arith::DivFOp::create(builder, loc, score, cap));
  return arith::MulFOp::create(builder, loc, cap, bounded);
}

double SoftcapOp::evaluateScore(double score, ArrayRef<int64_t>, ArrayRef<int64_t>,
                                function_ref<double(unsigned, ArrayRef<int64_t>)>) {
  double cap = getCap().convertToDouble();
  return cap * std::tanh(score / cap);
}

LogicalResult BiasOp::verify() {
  ArrayRef<int64_t> scores = getScores().getType().getShape(), bias = getBias().getType().getShape();
  if (bias.size() > scores.size()) // C1
    return emitOpError("expected bias of rank at most ") << scores.size() << ", but got " << bias.size();
  ArrayRef<int64_t> last = scores.take_back(bias.size());
  // A size that broadcasts is 1 in the type: kernels choose no addressing at run time.
  auto fits = [](int64_t biasSize, int64_t size) { return biasSize == 1 || mayEqual(biasSize, size); };
  if (!llvm::equal(bias, last, fits)) // C2
    return emitOpError("expected sizes of bias to be 1 or those of ")
           << show(last) << ", but got " << show(bias);
  return success();
}

SmallVector<ScoreRead> BiasOp::getScoreReads() {
  RankedTensorType bias = getBias().getType();
  int64_t rank = getScores().getType().getRank(), skipped = rank - bias.getRank();
  SmallVector<AffineExpr> coordinates;
  for (int64_t dim = 0; dim < bias.getRank(); ++dim)
    coordinates.push_back(bias.getDimSize(dim) == 1 ? getAffineConstantExpr(0, getContext())
                                                    : getAffineDimExpr(skipped + dim, getContext()));
  return {{getBias(), AffineMap::get(rank, 0, coordinates, getContext())}};
}

bool BiasOp::keepsMinusInfinity() { return true; }

Value BiasOp::buildScore(OpBuilder &builder, Location loc, Value score, const ScorePoint &,
                         ValueRange reads) {
  return arith::AddFOp::create(builder, loc, score, reads[0]);
}

double BiasOp::evaluateScore(double score, ArrayRef<int64_t> coordinate, ArrayRef<int64_t>,
                             function_ref<double(unsigned, ArrayRef<int64_t>)> read) {
  ArrayRef<int64_t> bias = getBias().getType().getShape();
  SmallVector<int64_t> own(coordinate.take_back(bias.size()));
  for (auto [position, size] : llvm::zip_equal(own, bias))
    position = size == 1 ? 0 : position;
  return score + read(0, own);
}

LogicalResult AlibiOp::verify() {
  RankedTensorType scores = getScores().getType();
  if (failed(verifyHasHeads(*this, scores))) // C1
    return failure();
  return verifyShape(*this, "slopes", getSlopes().getType(), {scores.getDimSize(1)}); // C2
}

SmallVector<ScoreRead> AlibiOp::getScoreReads() {
  return {{getSlopes(), AffineMap::get(4, 0, getAffineDimExpr(1, getContext()))}};
}

bool AlibiOp::keepsMinusInfinity() { return true; }

Value AlibiOp::buildScore(OpBuilder &builder, Location loc, Value score, const ScorePoint &point,
                          ValueRange reads) {
  Value distance = buildDistance(builder, loc, point.query, point.key);
  Value integer = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), distance);
  Value penalty = arith::SIToFPOp::create(builder, loc, builder.getF32Type(), integer);
  return arith::SubFOp::create(builder, loc, score, arith::MulFOp::create(builder, loc, reads[0], penalty));
}

double AlibiOp::evaluateScore(double score, ArrayRef<int64_t> coordinate, ArrayRef<int64_t>,
                              function_ref<double(unsigned, ArrayRef<int64_t>)> read) {
  return score - read(0, {coordinate[1]}) * std::abs(coordinate[2] - coordinate[3]);
}

// relative_bias: T5 counts short distances one by one and long ones by their logarithm.

namespace {
/// How T5 shares out the buckets of one direction.
struct Buckets {
  int64_t count;       ///< buckets of one direction
  int64_t exact;       ///< distances below this have a bucket of their own
  int64_t maxDistance; ///< from here on all distances share the last bucket

  Buckets(int64_t rows, bool bidirectional, int64_t maxDistance)
      : count(bidirectional ? rows / 2 : rows), exact(count / 2), maxDistance(maxDistance) {}

  /// The bucket of `distance` ≥ 0, in float32 as the published model computes it, since the choice depends on
  /// it. Source: Raffel et al. 2020, relative position buckets of the released code.
  int64_t find(int64_t distance) const {
    if (distance < exact)
      return distance;
    float ratio = std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
                  static_cast<float>(std::log(static_cast<double>(maxDistance) / static_cast<double>(exact)));
    return std::min(exact + static_cast<int64_t>(ratio * static_cast<float>(count - exact)), count - 1);
  }
};
} // namespace

LogicalResult RelativeBiasOp::verify() {
  RankedTensorType scores = getScores().getType(), table = getTable().getType();
  if (failed(verifyHasHeads(*this, scores))) // C1
    return failure();
  if (table.getRank() != 2 || table.isDynamicDim(0) ||
      !mayEqual(table.getDimSize(1), scores.getDimSize(1))) // C2
    return emitOpError("expected table of shape [buckets, ")
           << show(scores.getDimSize(1)) << "] with a static number of buckets, but got "
           << show(table.getShape());
  int64_t rows = table.getDimSize(0), least = getBidirectional() ? 4 : 2;
  if (rows < least || rows % least != 0) // C3
    return emitOpError("expected a positive multiple of ")
           << least << " as number of buckets, but got " << rows;
  int64_t exact = Buckets(rows, getBidirectional(), 0).exact, maxDistance = getMaxDistance();
  if (maxDistance <= exact) // C4
    return emitOpError("expected max_distance above ") << exact << ", but got " << maxDistance;
  return success();
}

SmallVector<ScoreRead> RelativeBiasOp::getScoreReads() {
  return {{getTable(), AffineMap::get(4, 0, getContext())}};
}

bool RelativeBiasOp::keepsMinusInfinity() { return true; }

Value RelativeBiasOp::buildScore(OpBuilder &builder, Location loc, Value score, const ScorePoint &point,
                                 ValueRange reads) {
  Buckets buckets(getTable().getType().getDimSize(0), getBidirectional(), getMaxDistance());
  Value zero = buildIndex(builder, loc, 0);
  Value before = arith::SubIOp::create(builder, loc, point.query, point.key);
  Value distance = getBidirectional() ? buildDistance(builder, loc, point.query, point.key)
                                      : arith::MaxSIOp::create(builder, loc, before, zero).getResult();
  // One compare per logarithmic bucket: integers choose as the formula does, whatever a target's logarithm
  // is.
  Value bucket = arith::MinSIOp::create(builder, loc, distance, buildIndex(builder, loc, buckets.exact));
  for (int64_t at = buckets.exact, last = buckets.exact; last < buckets.count - 1; ++at) {
    for (; last < buckets.find(at); ++last) {
      Value reached = buildLess(builder, loc, buildIndex(builder, loc, at - 1), distance);
      Value step = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), reached);
      bucket = arith::AddIOp::create(builder, loc, bucket, step);
    }
  }
  if (getBidirectional()) {
    Value later = arith::AddIOp::create(builder, loc, bucket, buildIndex(builder, loc, buckets.count));
    bucket = arith::SelectOp::create(builder, loc, buildLess(builder, loc, before, zero), later, bucket);
  }
  Value bias = tensor::ExtractOp::create(builder, loc, reads[0], ValueRange{bucket, point.head});
  if (!bias.getType().isF32())
    bias = arith::ExtFOp::create(builder, loc, builder.getF32Type(), bias);
  return arith::AddFOp::create(builder, loc, score, bias);
}

double RelativeBiasOp::evaluateScore(double score, ArrayRef<int64_t> coordinate, ArrayRef<int64_t>,
                                     function_ref<double(unsigned, ArrayRef<int64_t>)> read) {
  Buckets buckets(getTable().getType().getDimSize(0), getBidirectional(), getMaxDistance());
  int64_t relative = coordinate[3] - coordinate[2];
  int64_t bucket = getBidirectional() ? buckets.find(std::abs(relative)) + (relative > 0 ? buckets.count : 0)
                                      : buckets.find(std::max<int64_t>(-relative, 0));
  return score + read(0, {bucket, coordinate[1]});
}

// softmax

LogicalResult SoftmaxOp::verify() {
  int64_t rank = getScores().getType().getRank(), axis = getAxis();
  if (axis < -rank || axis >= rank) // C1
    return emitOpError("expected axis in [") << -rank << ", " << rank << "), but got " << axis;
  return success();
}

// additive_scores

LogicalResult AdditiveScoresOp::verify() {
  RankedTensorType query = getQuery().getType(), key = getKey().getType();
  int64_t rank = query.getRank();
  if (rank < 2 || rank > 4 || key.getRank() != rank) // C1
    return emitOpError("expected query and key of equal rank from 2 to 4, but got ")
           << rank << " and " << key.getRank();
  SmallVector<int64_t> keyShape(query.getShape()), scores(query.getShape());
  keyShape[rank - 2] = ShapedType::kDynamic;
  if (failed(verifyShape(*this, "key", key, keyShape))) // C2
    return failure();
  if (failed(verifyShape(*this, "v", getV().getType(), {query.getDimSize(rank - 1)}))) // C3
    return failure();
  scores[rank - 1] = key.getDimSize(rank - 2);
  return verifyShape(*this, "scores", getScores().getType(), scores); // C4
}

LogicalResult AdditiveScoresOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  int64_t rank = getQuery().getType().getRank();
  auto size = [&](int64_t dim) {
    return dim < rank - 1 ? tensor::getMixedSize(builder, getLoc(), getQuery(), dim)
                          : tensor::getMixedSize(builder, getLoc(), getKey(), rank - 2);
  };
  reifyShape(builder, getScores(), size, shapes);
  return success();
}

} // namespace heed::attn
