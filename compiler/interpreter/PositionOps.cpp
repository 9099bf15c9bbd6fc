// Positional encodings: sinusoidal, learned, rotary.
#include "compiler/interpreter/Program.h"

#include "dialect/Attn.h"

using namespace mlir;

namespace heed {

namespace {
/// Where the first element along the axis stands: the same for all, or by batch entry.
class Offset {
public:
  static FailureOr<Offset> of(Operation *op, Frame &frame, Value value, int64_t batch) {
    Offset offset;
    if (value && isa<RankedTensorType>(value.getType())) {
      offset.perEntry = frame.slot(value).tensor;
      if (failed(expectEqual(op, "offsets", batch, offset.perEntry->size())) ||
          failed(expectPositions(op, offset.perEntry->integers)))
        return failure();
    } else if (value) {
      offset.forAll = frame.integer(value);
    }
    return failed(expectPositions(op, offset.forAll)) ? FailureOr<Offset>() : offset;
  }

  int64_t at(int64_t batch) const { return perEntry ? perEntry->integers[batch] : forAll; }

private:
  std::shared_ptr<Tensor> perEntry;
  int64_t forAll = 0;
};
} // namespace

/// sin or cos of an angle computed in f32: the angle's rounding counts as much as its size.
static Real rotation(double angle, bool isSine) {
  double y = isSine ? std::sin(angle) : std::cos(angle), slope = isSine ? std::cos(angle) : std::sin(angle);
  return roundF32(y, square(slope * angle * 4 * kUnitF32), 4);
}

/// The angle of pair i of `width` features at position p.
static double angleOf(int64_t position, double base, int64_t pair, int64_t width) {
  return static_cast<double>(position) /
         std::pow(base, 2.0 * static_cast<double>(pair) / static_cast<double>(width));
}

static LogicalResult evaluateSinusoidal(attn::SinusoidalPositionsOp op, Frame &frame) {
  Tensor result = frame.take(op.getInput(), op);
  int64_t length = result.dim(-2), width = result.dim(-1);
  FailureOr<Offset> offset = Offset::of(op, frame, op.getOffset(), result.shape[0]);
  if (failed(offset))
    return failure();
  double base = op.getBase().convertToDouble();
  for (int64_t at = 0, size = result.size(); at < size; ++at) {
    int64_t feature = at % width, row = at / width;
    int64_t position = row % length + offset->at(row / (result.size() / width / result.shape[0]));
    Real angle = rotation(angleOf(position, base, feature / 2, width), feature % 2 == 0);
    result.setReal(at, roundedLike(result.elementType, result.real(at) + angle));
  }
  return frame.set(op.getResult(), std::move(result));
}

static LogicalResult evaluateLearned(attn::LearnedPositionsOp op, Frame &frame) {
  const Tensor &table = frame.tensor(op.getTable());
  Tensor result = frame.take(op.getInput(), op);
  int64_t length = result.dim(-2), width = result.dim(-1);
  FailureOr<Offset> offset = Offset::of(op, frame, op.getOffset(), result.shape[0]);
  if (failed(offset) || failed(expectEqual(op, "width of table", width, table.shape[1])))
    return failure();
  for (int64_t at = 0, size = result.size(); at < size; ++at) {
    int64_t row = at / width, first = offset->at(row / (size / width / result.shape[0]));
    if (first < 0 || first > table.shape[0] - length)
      return op.emitOpError("expected positions in [0, ")
             << table.shape[0] << "), but got " << first << " and " << length << " positions";
    Real learned = table.real((row % length + first) * width + at % width);
    result.setReal(at, roundedLike(result.elementType, result.real(at) + learned));
  }
  return frame.set(op.getResult(), std::move(result));
}

static LogicalResult evaluateRotary(attn::RotaryOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  int64_t features = input.dim(-1), width = op.getWidth() ? static_cast<int64_t>(*op.getWidth()) : features;
  int64_t axis = static_cast<int64_t>(op.getAxis());
  axis += axis < 0 ? input.rank() : 0;
  if (width > features || width % 2 != 0)
    return op.emitOpError("expected an even width of at most ") << features << ", but got " << width;
  FailureOr<Offset> offset = Offset::of(op, frame, op.getOffset(), input.shape[0]);
  if (failed(offset))
    return failure();
  double base = op.getBase().convertToDouble();
  bool halves = op.getPairing() == attn::Pairing::Halves;
  Tensor result(input.elementType, input.shape);
  SmallVector<int64_t> coordinate(input.rank());
  for (int64_t at = 0, size = input.size(); at < size; ++at, advance(coordinate, input.shape)) {
    int64_t feature = coordinate.back();
    if (feature >= width) {
      result.copyElement(at, input, at);
      continue;
    }
    int64_t pair = halves ? feature % (width / 2) : feature / 2, step = halves ? width / 2 : 1;
    bool isFirst = halves ? feature < width / 2 : feature % 2 == 0;
    double angle = angleOf(coordinate[axis] + offset->at(coordinate[0]), base, pair, width);
    Real cosine = rotation(angle, false), sine = rotation(angle, true);
    Real own = input.real(at), other = input.real(isFirst ? at + step : at - step);
    Real turned = isFirst ? own * cosine - other * sine : own * cosine + other * sine;
    result.setReal(at, roundedLike(result.elementType, turned));
  }
  return frame.set(op.getResult(), std::move(result));
}

void addPositionOps(OpTable &table) {
  table.add(evaluateSinusoidal);
  table.add(evaluateLearned);
  table.add(evaluateRotary);
}

} // namespace heed
