// matmul, linear and tile_matmul.
#include "compiler/interpreter/Product.h"
#include "compiler/interpreter/Program.h"

#include "dialect/Attn.h"

using namespace mlir;

namespace heed {

static LogicalResult evaluateMatmul(attn::MatmulOp op, Frame &frame) {
  const Tensor &lhs = frame.tensor(op.getLhs()), &rhs = frame.tensor(op.getRhs());
  bool transposed = op.getTransposeRhs();
  int64_t rank = lhs.rank(), rows = lhs.dim(-2), inner = lhs.dim(-1), columns = rhs.dim(transposed ? -2 : -1);
  int64_t heads = rank == 4 ? lhs.shape[1] : 1, sharedHeads = rank == 4 ? rhs.shape[1] : 1;
  if (failed(expectEqual(op, "inner size of rhs", inner, rhs.dim(transposed ? -1 : -2))) ||
      (rank > 2 && failed(expectEqual(op, "batch size of rhs", lhs.shape[0], rhs.shape[0]))))
    return failure();
  if (heads != sharedHeads && (sharedHeads == 0 || heads % sharedHeads != 0))
    return op.emitOpError("expected heads of rhs to divide ") << heads << ", but got " << sharedHeads;

  SmallVector<int64_t> shape(lhs.shape);
  shape.back() = columns;
  FailureOr<Tensor> result = makeTensor(op, op.getType().getElementType(), shape);
  if (failed(result))
    return failure();
  int64_t batch = rank > 2 ? lhs.shape[0] : 1;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h) {
      int64_t stack = b * heads + h, shared = b * sharedHeads + h / (heads / sharedHeads);
      MatrixView left{lhs, stack * rows * inner, inner, 1};
      MatrixView right{rhs, shared * inner * columns, transposed ? 1 : columns, transposed ? inner : 1};
      multiply(rows, inner, columns, left, right, lhs.marksDropped, [&](int64_t m, int64_t n, Real sum) {
        result->setReal((stack * rows + m) * columns + n, roundedLike(result->elementType, sum));
      });
    }
  return frame.set(op.getResult(), std::move(*result));
}

namespace {
/// What is done to a sum before it is stored: nothing, or a region.
class Epilogue {
public:
  template <class OpT> Epilogue(OpT op, Frame &frame) : reads(frame, op, op.getReads(), op.getReadMaps()) {
    if (!op.getEpilogue().empty())
      region.emplace(frame, op.getEpilogue().front());
  }

  FailureOr<Real> apply(Real sum, ArrayRef<int64_t> coordinate) {
    if (!region)
      return sum;
    region->argument(0).scalar = Scalar::of(sum);
    if (failed(reads.load(*region, 1, coordinate)) || failed(region->run()))
      return failure();
    return region->result().real;
  }

private:
  Reads reads;
  std::optional<ScalarRegion> region;
};
} // namespace

static LogicalResult evaluateLinear(attn::LinearOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput()), &weight = frame.tensor(op.getWeight());
  const Tensor *bias = op.getBias() ? &frame.tensor(op.getBias()) : nullptr;
  int64_t inner = input.dim(-1), columns = weight.shape[0];
  if (failed(expectEqual(op, "weight of width", inner, weight.shape[1])) ||
      (bias && failed(expectEqual(op, "bias of size", columns, bias->shape[0]))))
    return failure();
  SmallVector<int64_t> shape(input.shape);
  shape.back() = columns;
  FailureOr<Tensor> result = makeTensor(op, op.getType().getElementType(), shape);
  if (failed(result))
    return failure();

  SmallVector<int64_t> outer(ArrayRef<int64_t>(shape).drop_back());
  int64_t rows = countElements(outer, INT64_MAX);
  MatrixView left{input, 0, inner, 1}, right{weight, 0, 1, inner};
  multiply(rows, inner, columns, left, right, /*masked=*/false, [&](int64_t m, int64_t n, Real sum) {
    result->setReal(m * columns + n, bias ? sum + bias->real(n) : sum);
  });

  Epilogue epilogue(op, frame);
  SmallVector<int64_t> coordinate(shape.size());
  for (int64_t at = 0, size = result->size(); at < size; ++at, advance(coordinate, shape)) {
    FailureOr<Real> value = epilogue.apply(result->real(at), coordinate);
    if (failed(value))
      return failure();
    result->setReal(at, roundedLike(result->elementType, *value));
  }
  return frame.set(op.getResult(), std::move(*result));
}

static LogicalResult evaluateTileMatmul(attn::TileMatmulOp op, Frame &frame) {
  const Tensor &lhs = frame.tensor(op.getLhs()), &rhs = frame.tensor(op.getRhs());
  Tensor result = frame.take(op.getInit(), op);
  int64_t rows = lhs.shape[0], inner = lhs.shape[1], columns = result.shape[1];
  bool panels = rhs.rank() == 3;
  int64_t width = panels ? rhs.shape[2] : columns;
  if (failed(expectEqual(op, "rows of init", rows, result.shape[0])) ||
      failed(expectEqual(op, "inner size of rhs", inner, rhs.shape[panels ? 1 : 0])))
    return failure();
  if (panels ? rhs.shape[0] * width < columns : rhs.shape[1] != columns)
    return op.emitOpError("expected rhs of ")
           << columns << " columns, but got shape " << showShape(rhs.shape);

  Epilogue epilogue(op, frame);
  bool ok = true, masked = op.getMasked() && (!op.getAsks() || frame.integer(op.getAsks()));
  for (int64_t first = 0; first < columns && ok; first += width) {
    MatrixView left{lhs, 0, inner, 1}, right{rhs, panels ? first * inner : 0, width, 1};
    int64_t count = std::min(width, columns - first);
    multiply(rows, inner, count, left, right, masked, [&](int64_t m, int64_t n, Real sum) {
      int64_t coordinate[] = {m, first + n}, at = m * columns + first + n;
      FailureOr<Real> value = epilogue.apply(op.getAccumulate() ? result.real(at) + sum : sum, coordinate);
      ok &= succeeded(value);
      if (succeeded(value))
        result.setReal(at, roundedLike(result.elementType, *value));
    });
  }
  return ok ? frame.set(op.getResult(), std::move(result)) : failure();
}

void addMatmulOps(OpTable &table) {
  table.add(evaluateMatmul);
  table.add(evaluateLinear);
  table.add(evaluateTileMatmul);
}

} // namespace heed
