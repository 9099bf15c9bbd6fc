// linalg's structured ops, all alike: loops, maps and a region of numbers.
#include "compiler/interpreter/Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

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

namespace {
/// One structured op while it runs.
class StructuredRun {
public:
  StructuredRun(linalg::LinalgOp op, Frame &frame)
      : op(op), frame(frame), body(frame, op->getRegion(0).front()) {}

  LogicalResult run();

private:
  LogicalResult countLoops();
  LogicalResult prepareOperands();
  LogicalResult step();
  bool isSum(unsigned number);

  linalg::LinalgOp op;
  Frame &frame;
  ScalarRegion body;
  /// How often each loop runs, and where the loops are.
  SmallVector<int64_t> loops, at;
  SmallVector<Tensor> results;
  /// Of results that are sums over loops, the sizes of partial sums; see finishSum.
  SmallVector<std::vector<double>> partials;
  /// Of operands that are tensors: accesses, arguments of the region, and offsets at this step.
  SmallVector<Access> accesses;
  SmallVector<unsigned> arguments;
  SmallVector<int64_t> offsets;
};
} // namespace

LogicalResult StructuredRun::countLoops() {
  SmallVector<int64_t> sizes;
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      llvm::append_range(sizes, frame.tensor(operand.get()).shape);
  for (AffineExpr expression : op.getShapesToLoopsMap().getResults()) {
    std::optional<int64_t> count = evaluateAffine(expression, sizes);
    if (!count)
      return op.emitOpError("expected loops whose counts follow from the operands");
    loops.push_back(*count);
  }
  return success();
}

/// Whether what is yielded as result `number` adds to the element as it was.
bool StructuredRun::isSum(unsigned number) {
  Block &block = op->getRegion(0).front();
  Operation *last = block.getTerminator()->getOperand(number).getDefiningOp();
  Value before = block.getArgument(op.getNumDpsInputs() + number);
  return op.getNumReductionLoops() > 0 && isa_and_present<arith::AddFOp, math::FmaOp>(last) &&
         llvm::is_contained(last->getOperands(), before);
}

LogicalResult StructuredRun::prepareOperands() {
  for (Value init : op.getDpsInits())
    results.push_back(frame.take(init, op));
  for (auto [number, result] : llvm::enumerate(results))
    partials.emplace_back(isSum(number) ? result.values.size() : 0);
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    if (!isa<RankedTensorType>(operand.get().getType())) {
      body.argument(number).scalar = frame.slot(operand.get()).scalar;
      continue;
    }
    const Tensor &tensor =
        op.isDpsInit(&operand) ? results[number - op.getNumDpsInputs()] : frame.tensor(operand.get());
    accesses.emplace_back(tensor, op.getMatchingIndexingMap(&operand));
    arguments.push_back(number);
    if (!accesses.back().fits(loops))
      return op.emitOpError("expected operand ") << number << " to fit loops " << showShape(loops)
                                                 << ", but got shape " << showShape(tensor.shape);
  }
  offsets.resize(accesses.size());
  return success();
}

LogicalResult StructuredRun::step() {
  for (auto [access, argument, offset] : llvm::zip_equal(accesses, arguments, offsets)) {
    offset = access.offset(at);
    if (offset < 0)
      return op.emitOpError("expected operand ")
             << argument << " to be read inside its shape " << showShape(access.tensor->shape)
             << ", but its map leads outside";
    body.argument(argument).scalar = access.tensor->isFloat() ? Scalar::of(access.tensor->real(offset))
                                                              : Scalar::of(access.tensor->integers[offset]);
  }
  if (failed(body.run()))
    return failure();
  for (auto [number, result] : llvm::enumerate(results)) {
    int64_t offset = offsets[offsets.size() - results.size() + number];
    if (result.isFloat())
      result.setReal(offset, body.result(number).real);
    else
      result.integers[offset] = body.result(number).integer;
    if (!partials[number].empty())
      partials[number][offset] += std::fabs(body.result(number).real.value);
  }
  return success();
}

LogicalResult StructuredRun::run() {
  if (!op.hasPureTensorSemantics())
    return op.emitOpError("expected tensors, but got memrefs");
  if (failed(countLoops()) || failed(prepareOperands()))
    return failure();
  at.resize(loops.size());
  ArrayRef<int64_t> outer = std::exchange(frame.iteration, at);
  bool any = llvm::all_of(loops, [](int64_t count) { return count > 0; });
  for (bool more = any; more; more = advance(at, loops))
    if (failed(step()))
      return failure();
  frame.iteration = outer;
  for (auto [value, result, sums] : llvm::zip_equal(op->getResults(), results, partials)) {
    for (auto [offset, sum] : llvm::enumerate(sums))
      result.setReal(offset, finishSum(result.values[offset], result.real(offset).variance, sum));
    if (failed(frame.set(value, std::move(result))))
      return failure();
  }
  return success();
}

static LogicalResult evaluateLinalg(linalg::LinalgOp op, Frame &frame) {
  return StructuredRun(op, frame).run();
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
