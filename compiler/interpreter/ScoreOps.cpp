// Ops that change one score at a time, attn.mask, softmax and additive scores.
#include "compiler/interpreter/Program.h"
#include "compiler/interpreter/Softmax.h"

#include "dialect/Attn.h"

using namespace mlir;

namespace heed {

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
/// One element of a score op: its own formula, and by trying how far uncertain operands move it.
class ScoreFunction {
public:
  ScoreFunction(attn::ScoreOpInterface op, Frame &frame, ArrayRef<int64_t> shape) : op(op), shape(shape) {
    for (const attn::ScoreRead &read : op.getScoreReads())
      reads.push_back(&frame.tensor(read.tensor));
  }

  Real apply(Real score, ArrayRef<int64_t> coordinate) {
    double value = evaluate(score.value, coordinate, 0);
    double variance = square(spread(value, score.deviation(), coordinate, score.value));
    double largest = 1;
    for (double direction : {-1.0, 1.0})
      if (uncertainReads)
        variance = std::fmax(
            variance, variance + square(difference(evaluate(score.value, coordinate, direction), value)));
    if (isa<attn::GatedOp>(op.getOperation())) // the only one that multiplies by what it reads
      largest = std::fabs(lastRead);
    return roundF32(value, variance + roundingF32(score.value * largest));
  }

  bool readOutside = false;

private:
  static double difference(double a, double b) { return a == b || std::isnan(a - b) ? 0 : a - b; }

  double spread(double value, double deviation, ArrayRef<int64_t> coordinate, double score) {
    if (deviation == 0)
      return 0;
    return std::fmax(std::fabs(difference(evaluate(score + deviation, coordinate, 0), value)),
                     std::fabs(difference(evaluate(score - deviation, coordinate, 0), value)));
  }

  /// The formula, with every tensor read moved by `direction` deviations.
  double evaluate(double score, ArrayRef<int64_t> coordinate, double direction) {
    return op.evaluateScore(score, coordinate, shape, [&](unsigned number, ArrayRef<int64_t> at) {
      const Tensor &tensor = *reads[number];
      int64_t offset = tensor.offset(at);
      if (offset < 0) {
        readOutside = true;
        return 0.0;
      }
      Real element = tensor.real(offset);
      uncertainReads |= element.variance != 0;
      lastRead = element.value;
      return direction == 0 ? element.value : element.value + direction * element.deviation();
    });
  }

  attn::ScoreOpInterface op;
  ArrayRef<int64_t> shape;
  SmallVector<const Tensor *> reads;
  bool uncertainReads = false;
  double lastRead = 1;
};
} // namespace

static LogicalResult evaluateScoreOp(attn::ScoreOpInterface op, Frame &frame) {
  Tensor result = frame.take(op.getScoreOperand(), op);
  result.marksDropped = false;
  ScoreFunction function(op, frame, result.shape);
  SmallVector<int64_t> coordinate(result.rank());
  bool keepsDropped = op.keepsMinusInfinity();
  for (int64_t at = 0, size = result.size(); at < size; ++at, advance(coordinate, result.shape)) {
    if (!keepsDropped || result.values[at] != -infinity)
      result.setReal(at, roundedLike(result.elementType, function.apply(result.real(at), coordinate)));
    if (function.readOutside)
      return op->emitOpError("expected tensors that cover shape ") << showShape(result.shape);
  }
  return frame.set(op->getResult(0), std::move(result));
}

static LogicalResult evaluateMask(attn::MaskOp op, Frame &frame) {
  Tensor result = frame.take(op.getScores(), op);
  int64_t rank = result.rank();
  ScalarRegion keep(frame, op.getKeep().front());
  Reads reads(frame, op, op.getReads(), op.getReadMaps());
  SmallVector<int64_t> coordinate(rank);
  for (int64_t at = 0, size = result.size(); at < size; ++at, advance(coordinate, result.shape)) {
    int64_t point[] = {rank > 2 ? coordinate[0] : 0,
                       rank > 3 ? coordinate[1] : 0,
                       coordinate[rank - 2],
                       coordinate[rank - 1],
                       result.dim(-2),
                       result.dim(-1)};
    for (auto [number, index] : llvm::enumerate(point))
      keep.argument(number).scalar = Scalar::of(index);
    if (failed(reads.load(keep, 6, ArrayRef(point).take_front(4))) || failed(keep.run()))
      return failure();
    if (!keep.result().integer)
      result.setReal(at, {-infinity});
  }
  return frame.set(op.getResult(), std::move(result));
}

static LogicalResult evaluateSoftmax(attn::SoftmaxOp op, Frame &frame) {
  Tensor result = frame.take(op.getScores(), op);
  int64_t axis = op.getAxis();
  axis += axis < 0 ? result.rank() : 0;
  int64_t count = result.shape[axis], stride = stridesOf(result.shape)[axis];
  std::vector<Real> row(count);
  double empty = op.getEmptyRows() == attn::EmptyRows::NaN ? std::numeric_limits<double>::quiet_NaN() : -0.0;
  for (int64_t start = 0, size = result.size(); start < size; ++start) {
    if (start / stride % count != 0)
      continue;
    for (int64_t i = 0; i < count; ++i)
      row[i] = result.real(start + i * stride);
    Softmax softmax(row);
    for (int64_t i = 0; i < count; ++i)
      result.setReal(start + i * stride,
                     softmax.isEmpty() ? Real(empty) : roundedLike(result.elementType, softmax.weight(i)));
  }
  result.marksDropped = true;
  return frame.set(op.getWeights(), std::move(result));
}

/// tanh, whose approximation is as good as that of every function.
static Real tanh(Real x) {
  double y = std::tanh(x.value);
  return applied(y, 1 - square(y), x);
}

static LogicalResult evaluateAdditiveScores(attn::AdditiveScoresOp op, Frame &frame) {
  const Tensor &query = frame.tensor(op.getQuery()), &key = frame.tensor(op.getKey()),
               &v = frame.tensor(op.getV());
  int64_t rank = query.rank(), queries = query.dim(-2), keys = key.dim(-2), width = query.dim(-1);
  if (failed(expectEqual(op, "width of key", width, key.dim(-1))) ||
      failed(expectEqual(op, "size of v", width, v.shape[0])))
    return failure();
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    if (failed(expectEqual(op, "leading size of key", query.shape[dim], key.shape[dim])))
      return failure();
  SmallVector<int64_t> shape(query.shape);
  shape.back() = keys;
  FailureOr<Tensor> result = makeTensor(op, op.getType().getElementType(), shape);
  if (failed(result))
    return failure();
  for (int64_t at = 0, size = result->size(); at < size; ++at) {
    int64_t k = at % keys, row = at / keys, stack = row / queries;
    Sum sum;
    for (int64_t u = 0; u < width; ++u)
      sum.add(v.real(u) * tanh(query.real(row * width + u) + key.real((stack * keys + k) * width + u)));
    result->setReal(at, roundedLike(result->elementType, sum.result()));
  }
  return frame.set(op.getScores(), std::move(*result));
}

void addScoreOps(OpTable &table) {
  table.addInterface(evaluateScoreOp);
  table.add(evaluateMask);
  table.add(evaluateSoftmax);
  table.add(evaluateAdditiveScores);
}

} // namespace heed
