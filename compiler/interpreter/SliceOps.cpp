// tensor ops that move rectangles of elements: slices, pad, concat, pack and unpack.
#include "compiler/interpreter/Program.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace heed {

/// Calls `visit(index in the slice, offset in the tensor)` for each element; fails where the slice leaves the
/// tensor.
static LogicalResult visitSlice(Operation *op, ArrayRef<int64_t> shape, const Slice &slice,
                                llvm::function_ref<void(int64_t, int64_t)> visit) {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t offset = slice.offsets[dim], size = slice.sizes[dim], last = 0;
    bool overflows = size > 0 && (__builtin_mul_overflow(size - 1, slice.strides[dim], &last) ||
                                  __builtin_add_overflow(offset, last, &last));
    bool inside = offset >= 0 && offset < shape[dim] && last >= 0 && last < shape[dim];
    if (size < 0 || overflows || (size > 0 && !inside))
      return op->emitOpError("expected slice inside dimension ")
             << dim << " of size " << shape[dim] << ", but got offset " << offset << ", size " << size
             << " and stride " << slice.strides[dim];
  }
  int64_t count = countElements(slice.sizes, INT64_MAX);
  SmallVector<int64_t> strides = stridesOf(shape);
  SmallVector<int64_t> coordinate(shape.size());
  for (int64_t at = 0; at < count; ++at, advance(coordinate, slice.sizes)) {
    int64_t offset = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      offset += (slice.offsets[dim] + coordinate[dim] * slice.strides[dim]) * strides[dim];
    visit(at, offset);
  }
  return success();
}

LogicalResult insertSlice(Operation *op, Tensor &destination, const Tensor &source, const Slice &slice) {
  if (countElements(slice.sizes, INT64_MAX) != source.size())
    return op->emitOpError("expected source of shape ")
           << showShape(slice.sizes) << ", but got " << showShape(source.shape);
  return visitSlice(op, destination.shape, slice,
                    [&](int64_t at, int64_t offset) { destination.copyElement(offset, source, at); });
}

static LogicalResult evaluateExtractSlice(tensor::ExtractSliceOp op, Frame &frame) {
  const Tensor &source = frame.tensor(op.getSource());
  Slice slice = Slice::of(op, frame);
  FailureOr<Tensor> result = makeTensor(op, source.elementType, slice.sizes);
  if (failed(result) || failed(visitSlice(op, source.shape, slice, [&](int64_t at, int64_t offset) {
        result->copyElement(at, source, offset);
      })))
    return failure();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  result->shape.clear();
  for (auto [dim, size] : llvm::enumerate(slice.sizes))
    if (!dropped[dim])
      result->shape.push_back(size);
  result->marksDropped = source.marksDropped;
  return frame.set(op.getResult(), std::move(*result));
}

static LogicalResult evaluateInsertSlice(tensor::InsertSliceOp op, Frame &frame) {
  std::shared_ptr<Tensor> source = frame.slot(op.getSource()).tensor;
  Tensor result = frame.take(op.getDest(), op);
  if (failed(insertSlice(op, result, *source, Slice::of(op, frame))))
    return failure();
  return frame.set(op.getResult(), std::move(result));
}

static LogicalResult evaluatePad(tensor::PadOp op, Frame &frame) {
  const Tensor &source = frame.tensor(op.getSource());
  SmallVector<int64_t> low = frame.integers(op.getMixedLowPad()), high = frame.integers(op.getMixedHighPad());
  SmallVector<int64_t> shape(source.shape);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    bool overflows = __builtin_add_overflow(shape[dim], low[dim], &shape[dim]) ||
                     __builtin_add_overflow(shape[dim], high[dim], &shape[dim]);
    if (low[dim] < 0 || high[dim] < 0 || overflows)
      return op.emitOpError("expected padding of at least 0 and sizes that fit, but got ")
             << low[dim] << " and " << high[dim];
  }
  FailureOr<Tensor> result = makeTensor(op, source.elementType, shape);
  if (failed(result))
    return failure();
  ScalarRegion body(frame, op.getRegion().front());
  SmallVector<int64_t> coordinate(shape.size()), inside(shape.size());
  for (int64_t at = 0, size = result->size(); at < size; ++at, advance(coordinate, shape)) {
    for (size_t dim = 0; dim < shape.size(); ++dim)
      inside[dim] = coordinate[dim] - low[dim];
    if (int64_t from = source.offset(inside); from >= 0) {
      result->copyElement(at, source, from);
      continue;
    }
    for (auto [dim, position] : llvm::enumerate(coordinate))
      body.argument(dim).scalar = Scalar::of(position);
    if (failed(body.run()))
      return failure();
    if (result->isFloat())
      result->setReal(at, body.result().real);
    else
      result->integers[at] = body.result().integer;
  }
  return frame.set(op.getResult(), std::move(*result));
}

static LogicalResult evaluateConcat(tensor::ConcatOp op, Frame &frame) {
  int64_t along = op.getDim();
  SmallVector<int64_t> shape(frame.tensor(op.getInputs().front()).shape);
  shape[along] = 0;
  for (Value input : op.getInputs())
    shape[along] += frame.tensor(input).shape[along];
  FailureOr<Tensor> result = makeTensor(op, op.getResultType().getElementType(), shape);
  if (failed(result))
    return failure();
  Slice slice{SmallVector<int64_t>(shape.size(), 0), shape, SmallVector<int64_t>(shape.size(), 1)};
  for (Value input : op.getInputs()) {
    const Tensor &tensor = frame.tensor(input);
    slice.sizes[along] = tensor.shape[along];
    for (auto [dim, size] : llvm::enumerate(tensor.shape))
      if (failed(expectEqual(op, "size of an input", slice.sizes[dim], size)))
        return failure();
    if (failed(insertSlice(op, *result, tensor, slice)))
      return failure();
    slice.offsets[along] += tensor.shape[along];
  }
  return frame.set(op.getResult(), std::move(*result));
}

/// For each element of the packed tensor its coordinate in the unpacked one, which may lie in the padding.
template <class OpT>
static void visitPacked(OpT op, Frame &frame, ArrayRef<int64_t> packed, int64_t rank,
                        llvm::function_ref<void(int64_t, ArrayRef<int64_t>)> visit) {
  ArrayRef<int64_t> outerPermutation = op.getOuterDimsPerm(), inner = op.getInnerDimsPos();
  SmallVector<int64_t> coordinate(packed.size()), unpacked(rank);
  int64_t count = countElements(packed, INT64_MAX);
  for (int64_t at = 0; at < count; ++at, advance(coordinate, packed)) {
    for (int64_t dim = 0; dim < rank; ++dim)
      unpacked[outerPermutation.empty() ? dim : outerPermutation[dim]] = coordinate[dim];
    for (auto [number, dim] : llvm::enumerate(inner))
      unpacked[dim] = unpacked[dim] * packed[rank + number] + coordinate[rank + number];
    visit(at, unpacked);
  }
}

/// Fails unless `packed` holds `unpacked` in tiles of the op's sizes.
template <class OpT>
static LogicalResult checkPacked(OpT op, Frame &frame, ArrayRef<int64_t> packed, ArrayRef<int64_t> unpacked) {
  SmallVector<int64_t> tiles = frame.integers(op.getMixedTiles()), outer(unpacked);
  for (auto [dim, tile] : llvm::zip_equal(op.getInnerDimsPos(), tiles)) {
    if (tile <= 0)
      return op.emitOpError("expected positive tiles, but got ") << tile;
    outer[dim] = (outer[dim] + tile - 1) / tile;
  }
  SmallVector<int64_t> expected;
  for (size_t dim = 0; dim < outer.size(); ++dim)
    expected.push_back(outer[op.getOuterDimsPerm().empty() ? dim : op.getOuterDimsPerm()[dim]]);
  expected.append(tiles);
  if (packed != ArrayRef<int64_t>(expected))
    return op.emitOpError("expected packed shape ")
           << showShape(expected) << ", but got " << showShape(packed);
  return success();
}

static LogicalResult evaluatePack(linalg::PackOp op, Frame &frame) {
  const Tensor &source = frame.tensor(op.getSource());
  const Tensor &destination = frame.tensor(op.getDest());
  if (failed(checkPacked(op, frame, destination.shape, source.shape)))
    return failure();
  Tensor result(destination.elementType, destination.shape);
  Scalar padding = op.getPaddingValue() ? frame.slot(op.getPaddingValue()).scalar
                                        : Scalar{std::numeric_limits<double>::quiet_NaN(), 0};
  visitPacked(op, frame, result.shape, source.rank(), [&](int64_t at, ArrayRef<int64_t> unpacked) {
    int64_t from = source.offset(unpacked);
    if (from >= 0)
      result.copyElement(at, source, from);
    else if (result.isFloat())
      result.setReal(at, padding.real);
    else
      result.integers[at] = padding.integer;
  });
  return frame.set(op->getResult(0), std::move(result));
}

static LogicalResult evaluateUnpack(linalg::UnPackOp op, Frame &frame) {
  const Tensor &source = frame.tensor(op.getSource());
  const Tensor &destination = frame.tensor(op.getDest());
  SmallVector<int64_t> tiles = frame.integers(op.getMixedTiles());
  if (failed(checkPacked(op, frame, source.shape, destination.shape)))
    return failure();
  Tensor result(destination.elementType, destination.shape);
  visitPacked(op, frame, source.shape, result.rank(), [&](int64_t at, ArrayRef<int64_t> unpacked) {
    if (int64_t to = result.offset(unpacked); to >= 0)
      result.copyElement(to, source, at);
  });
  return frame.set(op->getResult(0), std::move(result));
}

void addSliceOps(OpTable &table) {
  table.add(evaluateExtractSlice);
  table.add(evaluateInsertSlice);
  table.add(evaluatePad);
  table.add(evaluateConcat);
  table.add(evaluatePack);
  table.add(evaluateUnpack);
}

} // namespace heed
