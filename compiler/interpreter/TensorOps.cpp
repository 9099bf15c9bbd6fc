// tensor ops that make, reshape and read tensors.
#include "compiler/interpreter/Program.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace heed {

static Type elementTypeOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

static void setElement(Tensor &tensor, int64_t at, const Scalar &scalar) {
  if (tensor.isFloat())
    tensor.setReal(at, scalar.real);
  else
    tensor.integers[at] = scalar.integer;
}

/// Static sizes of a type with `sizes` for the dynamic ones.
static SmallVector<int64_t> fillShape(RankedTensorType type, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size)) {
      size = sizes.front();
      sizes = sizes.drop_front();
    }
  return shape;
}

/// Nobody may read what an empty tensor holds: NaN shows where somebody does.
static LogicalResult evaluateEmpty(tensor::EmptyOp op, Frame &frame) {
  SmallVector<int64_t> shape = fillShape(op.getType(), frame.integers(op.getDynamicSizes()));
  FailureOr<Tensor> tensor = makeTensor(op, elementTypeOf(op), shape);
  if (failed(tensor))
    return failure();
  std::fill(tensor->values.begin(), tensor->values.end(), std::numeric_limits<double>::quiet_NaN());
  return frame.set(op.getResult(), std::move(*tensor));
}

static LogicalResult evaluateDim(tensor::DimOp op, Frame &frame) {
  const Tensor &tensor = frame.tensor(op.getSource());
  int64_t dim = frame.integer(op.getIndex());
  if (dim < 0 || dim >= tensor.rank())
    return op.emitOpError("expected dimension below ") << tensor.rank() << ", but got " << dim;
  frame.set(op.getResult(), Scalar::of(tensor.shape[dim]));
  return success();
}

static LogicalResult evaluateRank(tensor::RankOp op, Frame &frame) {
  frame.set(op.getResult(), Scalar::of(frame.tensor(op.getTensor()).rank()));
  return success();
}

static LogicalResult evaluateExtract(tensor::ExtractOp op, Frame &frame) {
  const Tensor &tensor = frame.tensor(op.getTensor());
  SmallVector<int64_t> indices = frame.integers(op.getIndices());
  int64_t offset = tensor.offset(indices);
  if (offset < 0)
    return op.emitOpError("expected indices inside ")
           << showShape(tensor.shape) << ", but got " << showShape(indices);
  frame.set(op.getResult(),
            tensor.isFloat() ? Scalar::of(tensor.real(offset)) : Scalar::of(tensor.integers[offset]));
  return success();
}

static LogicalResult evaluateInsert(tensor::InsertOp op, Frame &frame) {
  Tensor tensor = frame.take(op.getDest(), op);
  SmallVector<int64_t> indices = frame.integers(op.getIndices());
  int64_t offset = tensor.offset(indices);
  if (offset < 0)
    return op.emitOpError("expected indices inside ")
           << showShape(tensor.shape) << ", but got " << showShape(indices);
  setElement(tensor, offset, frame.slot(op.getScalar()).scalar);
  return frame.set(op.getResult(), std::move(tensor));
}

static LogicalResult evaluateCast(tensor::CastOp op, Frame &frame) {
  if (!isa<RankedTensorType>(op.getType()))
    return op.emitOpError("expected a ranked result, but got ") << op.getType();
  return frame.set(op.getResult(), frame.slot(op.getSource()).tensor);
}

static LogicalResult evaluateSplat(tensor::SplatOp op, Frame &frame) {
  SmallVector<int64_t> shape = fillShape(op.getType(), frame.integers(op.getDynamicSizes()));
  FailureOr<Tensor> tensor = makeTensor(op, elementTypeOf(op), shape);
  if (failed(tensor))
    return failure();
  for (int64_t at = 0, size = tensor->size(); at < size; ++at)
    setElement(*tensor, at, frame.slot(op.getInput()).scalar);
  return frame.set(op.getResult(), std::move(*tensor));
}

static LogicalResult evaluateFromElements(tensor::FromElementsOp op, Frame &frame) {
  Tensor tensor(elementTypeOf(op), op.getType().getShape());
  for (auto [at, element] : llvm::enumerate(op.getElements()))
    setElement(tensor, at, frame.slot(element).scalar);
  return frame.set(op.getResult(), std::move(tensor));
}

static LogicalResult evaluateGenerate(tensor::GenerateOp op, Frame &frame) {
  SmallVector<int64_t> shape = fillShape(op.getType(), frame.integers(op.getDynamicExtents()));
  FailureOr<Tensor> tensor = makeTensor(op, elementTypeOf(op), shape);
  if (failed(tensor))
    return failure();
  ScalarRegion body(frame, op.getBody().front());
  SmallVector<int64_t> coordinate(shape.size());
  for (int64_t at = 0, size = tensor->size(); at < size; ++at, advance(coordinate, shape)) {
    for (auto [dim, position] : llvm::enumerate(coordinate))
      body.argument(dim).scalar = Scalar::of(position);
    if (failed(body.run()))
      return failure();
    setElement(*tensor, at, body.result());
  }
  return frame.set(op.getResult(), std::move(*tensor));
}

/// The same elements in the same order under another shape.
static LogicalResult setReshaped(Operation *op, Frame &frame, Value source, ArrayRef<int64_t> shape) {
  Tensor tensor = frame.take(source, op);
  if (countElements(shape, INT64_MAX) != tensor.size())
    return op->emitOpError("expected a shape of ")
           << tensor.size() << " elements, but got " << showShape(shape);
  tensor.shape.assign(shape.begin(), shape.end());
  return frame.set(op->getResult(0), std::move(tensor));
}

static LogicalResult evaluateCollapse(tensor::CollapseShapeOp op, Frame &frame) {
  const Tensor &source = frame.tensor(op.getSrc());
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    int64_t size = 1;
    for (int64_t dim : group)
      size *= source.shape[dim];
    shape.push_back(size);
  }
  return setReshaped(op, frame, op.getSrc(), shape);
}

static LogicalResult evaluateExpand(tensor::ExpandShapeOp op, Frame &frame) {
  return setReshaped(op, frame, op.getSrc(), frame.integers(op.getMixedOutputShape()));
}

static LogicalResult evaluateReshape(tensor::ReshapeOp op, Frame &frame) {
  if (!isa<RankedTensorType>(op.getType()))
    return op.emitOpError("expected a ranked result, but got ") << op.getType();
  const std::vector<int64_t> shape = frame.tensor(op.getShape()).integers;
  return setReshaped(op, frame, op.getSource(), shape);
}

void addTensorOps(OpTable &table) {
  table.add(evaluateEmpty);
  table.add(evaluateDim);
  table.add(evaluateRank);
  table.add(evaluateExtract);
  table.add(evaluateInsert);
  table.add(evaluateCast);
  table.add(evaluateSplat);
  table.add(evaluateFromElements);
  table.add(evaluateGenerate);
  table.add(evaluateCollapse);
  table.add(evaluateExpand);
  table.add(evaluateReshape);
}

} // namespace heed
