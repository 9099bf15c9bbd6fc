// Normalization, embedding, heads, cache, and the ops that choose.
#include "compiler/interpreter/Program.h"

#include "dialect/Attn.h"

#include <algorithm>

using namespace mlir;

namespace heed {

/// Mean of a row, and then of the squares of its distances from it. Two passes: E[x²] − mean² would cancel.
static Real mean(ArrayRef<Real> row) {
  Sum sum;
  for (Real x : row)
    sum.add(x);
  return sum.result() / Real(row.size());
}

static Real meanSquare(ArrayRef<Real> row) {
  Sum sum;
  for (Real x : row)
    sum.add(x * x);
  return sum.result() / Real(row.size());
}

/// Calls `change(row)` on every row along the last dimension.
static void mapRows(Tensor &tensor, llvm::function_ref<void(MutableArrayRef<Real>)> change) {
  int64_t width = tensor.dim(-1);
  std::vector<Real> row(width);
  for (int64_t start = 0, size = tensor.size(); start < size; start += width) {
    for (int64_t i = 0; i < width; ++i)
      row[i] = tensor.real(start + i);
    change(row);
    for (int64_t i = 0; i < width; ++i)
      tensor.setReal(start + i, roundedLike(tensor.elementType, row[i]));
  }
}

/// The optional operand's tensor, which must have `width` elements; null where there is none.
static FailureOr<const Tensor *> perFeature(Operation *op, Frame &frame, StringRef what, Value value,
                                            int64_t width) {
  if (!value)
    return static_cast<const Tensor *>(nullptr);
  const Tensor &tensor = frame.tensor(value);
  if (failed(expectEqual(op, what, width, tensor.size())))
    return failure();
  return &tensor;
}

static LogicalResult evaluateLayerNorm(attn::LayerNormOp op, Frame &frame) {
  Tensor result = frame.take(op.getInput(), op);
  int64_t width = result.dim(-1);
  auto weight = perFeature(op, frame, "weight of size", op.getWeight(), width);
  auto bias = perFeature(op, frame, "bias of size", op.getBias(), width);
  if (failed(weight) || failed(bias))
    return failure();
  Real epsilon(op.getEpsilon().convertToDouble());
  mapRows(result, [&](MutableArrayRef<Real> row) {
    Real center = mean(row);
    for (Real &x : row)
      x = x - center;
    Real deviation = sqrt(meanSquare(row) + epsilon);
    for (auto [i, x] : llvm::enumerate(row)) {
      x = x / deviation;
      if (*weight)
        x = x * (*weight)->real(i);
      if (*bias)
        x = x + (*bias)->real(i);
    }
  });
  return frame.set(op.getResult(), std::move(result));
}

static LogicalResult evaluateRmsNorm(attn::RmsNormOp op, Frame &frame) {
  Tensor result = frame.take(op.getInput(), op);
  auto weight = perFeature(op, frame, "weight of size", op.getWeight(), result.dim(-1));
  if (failed(weight))
    return failure();
  Real epsilon(op.getEpsilon().convertToDouble()), offset(op.getOffset().convertToDouble());
  mapRows(result, [&](MutableArrayRef<Real> row) {
    Real size = sqrt(meanSquare(row) + epsilon);
    for (auto [i, x] : llvm::enumerate(row)) {
      x = x / size;
      if (*weight)
        x = x * ((*weight)->real(i) + offset);
    }
  });
  return frame.set(op.getResult(), std::move(result));
}

static LogicalResult evaluateEmbedding(attn::EmbeddingOp op, Frame &frame) {
  const Tensor &table = frame.tensor(op.getTable()), &ids = frame.tensor(op.getIds());
  int64_t width = table.shape[1];
  SmallVector<int64_t> shape(ids.shape);
  shape.push_back(width);
  FailureOr<Tensor> result = makeTensor(op, op.getType().getElementType(), shape);
  if (failed(result))
    return failure();
  for (auto [number, id] : llvm::enumerate(ids.integers)) {
    if (id < 0 || id >= table.shape[0])
      return op.emitOpError("expected ids in [0, ") << table.shape[0] << "), but got " << id;
    for (int64_t i = 0; i < width; ++i)
      result->copyElement(number * width + i, table, id * width + i);
  }
  return frame.set(op.getResult(), std::move(*result));
}

static LogicalResult evaluateSplitHeads(attn::SplitHeadsOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  int64_t heads = op.getHeads(), length = input.dim(-2), features = input.dim(-1);
  if (heads <= 0 || features % heads != 0)
    return op.emitOpError("expected a width that ") << heads << " divides, but got " << features;
  int64_t width = features / heads;
  SmallVector<int64_t> shape(ArrayRef<int64_t>(input.shape).drop_back(2));
  shape.append({heads, length, width});
  Tensor result(input.elementType, shape);
  for (int64_t at = 0, size = result.size(); at < size; ++at) {
    int64_t d = at % width, s = at / width % length, h = at / (width * length) % heads,
            rest = at / (length * features);
    result.copyElement(at, input, (rest * length + s) * features + h * width + d);
  }
  return frame.set(op.getResult(), std::move(result));
}

static LogicalResult evaluateMergeHeads(attn::MergeHeadsOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  int64_t heads = input.dim(-3), length = input.dim(-2), width = input.dim(-1), features = heads * width;
  SmallVector<int64_t> shape(ArrayRef<int64_t>(input.shape).drop_back(3));
  shape.append({length, features});
  Tensor result(input.elementType, shape);
  for (int64_t at = 0, size = result.size(); at < size; ++at) {
    int64_t d = at % width, h = at / width % heads, s = at / features % length,
            rest = at / (features * length);
    result.copyElement(at, input, ((rest * heads + h) * length + s) * width + d);
  }
  return frame.set(op.getResult(), std::move(result));
}

static LogicalResult evaluateCacheUpdate(attn::CacheUpdateOp op, Frame &frame) {
  std::shared_ptr<Tensor> entries = frame.slot(op.getEntries()).tensor;
  Tensor result = frame.take(op.getCache(), op);
  int64_t rank = result.rank(), axis = op.getAxis();
  axis += axis < 0 ? rank : 0;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis && failed(expectEqual(op, "size of entries", result.shape[dim], entries->shape[dim])))
      return failure();
  Value position = op.getPosition();
  bool perEntry = isa<RankedTensorType>(position.getType());
  if (perEntry && failed(expectEqual(op, "positions", result.shape[0], frame.tensor(position).size())))
    return failure();
  SmallVector<int64_t> coordinate(rank), shape(entries->shape);
  for (int64_t at = 0, size = entries->size(); at < size; ++at, advance(coordinate, shape)) {
    int64_t first = perEntry ? frame.tensor(position).integers[coordinate[0]] : frame.integer(position);
    // Compared so that no sum overflows.
    if (first < 0 || first > result.shape[axis] - shape[axis])
      return op.emitOpError("expected positions in [0, ")
             << result.shape[axis] << "), but got " << first << " and " << shape[axis] << " entries";
    SmallVector<int64_t> to(coordinate);
    to[axis] += first;
    result.copyElement(result.offset(to), *entries, at);
  }
  return frame.set(op.getResult(), std::move(result));
}

/// The first k positions of a row by falling value; a NaN counts as largest, ties take the lower index.
static std::vector<int64_t> choose(const Tensor &tensor, int64_t row, int64_t k) {
  int64_t width = tensor.dim(-1);
  const double *values = tensor.values.data() + row * width;
  std::vector<int64_t> order(width);
  for (int64_t i = 0; i < width; ++i)
    order[i] = i;
  std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
    if (std::isnan(values[a]) || std::isnan(values[b]))
      return std::isnan(values[a]) && (!std::isnan(values[b]) || a < b);
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  order.resize(k);
  return order;
}

static LogicalResult evaluateArgmax(attn::ArgmaxOp op, Frame &frame) {
  std::shared_ptr<Tensor> input = frame.slot(op.getInput()).tensor;
  if (input->dim(-1) == 0)
    return op.emitOpError("expected at least one element to choose from");
  Tensor result(op.getType().getElementType(), ArrayRef<int64_t>(input->shape).drop_back());
  for (int64_t row = 0, rows = result.size(); row < rows; ++row)
    result.integers[row] = choose(*input, row, 1).front();
  result.candidates = input;
  return frame.set(op.getIndices(), std::move(result));
}

static LogicalResult evaluateTopK(attn::TopKOp op, Frame &frame) {
  std::shared_ptr<Tensor> input = frame.slot(op.getInput()).tensor;
  int64_t k = op.getK(), width = input->dim(-1);
  if (k > width)
    return op.emitOpError("expected at least ") << k << " elements to choose from, but got " << width;
  SmallVector<int64_t> shape(input->shape);
  shape.back() = k;
  Tensor values(input->elementType, shape), indices(IntegerType::get(op.getContext(), 64), shape);
  for (int64_t row = 0, rows = width == 0 ? 0 : input->size() / width; row < rows; ++row)
    for (auto [rank, index] : llvm::enumerate(choose(*input, row, k))) {
      values.copyElement(row * k + rank, *input, row * width + index);
      indices.integers[row * k + rank] = index;
    }
  indices.candidates = input;
  return failed(frame.set(op.getValues(), std::move(values)))
             ? failure()
             : frame.set(op.getIndices(), std::move(indices));
}

void addLayerOps(OpTable &table) {
  table.add(evaluateLayerNorm);
  table.add(evaluateRmsNorm);
  table.add(evaluateEmbedding);
  table.add(evaluateSplitHeads);
  table.add(evaluateMergeHeads);
  table.add(evaluateCacheUpdate);
  table.add(evaluateArgmax);
  table.add(evaluateTopK);
}

} // namespace heed
