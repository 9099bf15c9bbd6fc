// linalg's structured ops, all alike: loops, maps and a region of numbers.
#include "compiler/interpreter/Program.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace heed {

namespace {
/// An operand seen from the loops: the offset of its element at an iteration.
class Access {
public:
  Access(const Tensor &tensor, AffineMap map) : tensor(&tensor), map(map), byLoop(map.getNumDims(), 0) {
    SmallVector<int64_t> strides = stridesOf(tensor.shape);
    isProjection = map.isProjectedPermutation(/*allowZeroInResults=*/true);
    for (auto [expression, stride] : llvm::zip_equal(map.getResults(), strides))
      if (auto dim = dyn_cast<AffineDimExpr>(expression); dim && isProjection)
        byLoop[dim.getPosition()] += stride;
  }

  /// −1 outside the tensor.
  int64_t offset(ArrayRef<int64_t> loops) const {
    int64_t offset = 0;
    if (isProjection) {
      for (auto [position, stride] : llvm::zip_equal(loops, byLoop))
        offset += position * stride;
      return offset;
    }
    for (auto [expression, size] : llvm::zip_equal(map.getResults(), tensor->shape)) {
      std::optional<int64_t> position = evaluateAffine(expression, loops);
      if (!position || *position < 0 || *position >= size)
        return -1;
      offset = offset * size + *position;
    }
    return offset;
  }

  /// Whether sizes agree with the loops' where the map says nothing but the loop.
  bool fits(ArrayRef<int64_t> loops) const {
    for (auto [expression, size] : llvm::zip_equal(map.getResults(), tensor->shape)) {
      auto dim = dyn_cast<AffineDimExpr>(expression);
      auto constant = dyn_cast<AffineConstantExpr>(expression);
      if ((dim && loops[dim.getPosition()] != size) || (constant && constant.getValue() >= size))
        return false;
    }
    return true;
  }

  const Tensor *tensor;

private:
  AffineMap map;
  bool isProjection;
  SmallVector<int64_t> byLoop;
};
} // namespace

/// How often each loop runs, from the operands' sizes.
static FailureOr<SmallVector<int64_t>> countLoops(linalg::LinalgOp op, Frame &frame) {
  SmallVector<int64_t> sizes;
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      llvm::append_range(sizes, frame.tensor(operand.get()).shape);
  SmallVector<int64_t> loops;
  for (AffineExpr expression : op.getShapesToLoopsMap().getResults()) {
    std::optional<int64_t> count = evaluateAffine(expression, sizes);
    if (!count)
      return op.emitOpError("expected loops whose counts follow from the operands");
    loops.push_back(*count);
  }
  return loops;
}

static LogicalResult evaluateLinalg(linalg::LinalgOp op, Frame &frame) {
  if (!op.hasPureTensorSemantics())
    return op.emitOpError("expected tensors, but got memrefs");
  FailureOr<SmallVector<int64_t>> loops = countLoops(op, frame);
  if (failed(loops))
    return failure();

  SmallVector<Tensor> results;
  for (Value init : op.getDpsInits())
    results.push_back(frame.take(init, op));
  SmallVector<Access> accesses;
  Block &block = op->getRegion(0).front();
  ScalarRegion body(frame, block);
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    unsigned number = operand.getOperandNumber();
    if (op.isScalar(&operand) && !isa<RankedTensorType>(value.getType())) {
      body.argument(number).scalar = frame.slot(value).scalar;
      continue;
    }
    const Tensor &tensor =
        op.isDpsInit(&operand) ? results[number - op.getNumDpsInputs()] : frame.tensor(value);
    accesses.emplace_back(tensor, op.getMatchingIndexingMap(&operand));
    if (!accesses.back().fits(*loops))
      return op.emitOpError("expected operand ") << number << " to fit loops " << showShape(*loops)
                                                 << ", but got shape " << showShape(tensor.shape);
  }
  SmallVector<unsigned> arguments; // of `accesses`
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      arguments.push_back(operand.getOperandNumber());

  SmallVector<int64_t> at(loops->size());
  ArrayRef<int64_t> outer = std::exchange(frame.iteration, at);
  unsigned firstResult = accesses.size() - results.size();
  SmallVector<int64_t> offsets(accesses.size());
  bool any = llvm::all_of(*loops, [](int64_t count) { return count > 0; });
  for (bool more = any; more; more = advance(at, *loops)) {
    for (auto [number, access] : llvm::enumerate(accesses)) {
      int64_t offset = offsets[number] = access.offset(at);
      if (offset < 0)
        return op.emitOpError("expected operand ")
               << arguments[number] << " to be read inside its shape " << showShape(access.tensor->shape)
               << ", but its map leads outside";
      body.argument(arguments[number]).scalar = access.tensor->isFloat()
                                                    ? Scalar::of(access.tensor->real(offset))
                                                    : Scalar::of(access.tensor->integers[offset]);
    }
    if (failed(body.run()))
      return failure();
    for (auto [number, result] : llvm::enumerate(results)) {
      int64_t offset = offsets[firstResult + number];
      if (result.isFloat())
        result.setReal(offset, body.result(number).real);
      else
        result.integers[offset] = body.result(number).integer;
    }
  }
  frame.iteration = outer;
  for (auto [value, result] : llvm::zip_equal(op->getResults(), results))
    if (failed(frame.set(value, std::move(result))))
      return failure();
  return success();
}

static LogicalResult evaluateIndex(linalg::IndexOp op, Frame &frame) {
  frame.set(op.getResult(), Scalar::of(frame.iteration[op.getDim()]));
  return success();
}

void addLinalgOps(OpTable &table) {
  table.addInterface(evaluateLinalg);
  table.add(evaluateIndex);
}

} // namespace heed
