// Slots, frames and steps; see Program.h.
#include "compiler/interpreter/Program.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace heed {

/// 8 GiB of values: enough for any model that is worth verifying.
static constexpr int64_t maxElements = int64_t(1) << 30;

FailureOr<Tensor> makeTensor(Operation *op, Type elementType, ArrayRef<int64_t> shape) {
  if (countElements(shape, maxElements) < 0)
    return op->emitOpError("expected sizes of a tensor of at most 2^30 elements, but got ")
           << showShape(shape);
  return Tensor(elementType, shape);
}

LogicalResult expectEqual(Operation *op, StringRef what, int64_t expected, int64_t actual) {
  if (expected == actual)
    return success();
  return op->emitOpError("expected ") << what << " " << expected << ", but got " << actual;
}

LogicalResult expectPositions(Operation *op, ArrayRef<int64_t> positions) {
  constexpr int64_t limit = int64_t(1) << 40;
  for (int64_t position : positions)
    if (position < -limit || position > limit)
      return op->emitOpError("expected positions of at most 2^40, but got ") << position;
  return success();
}

std::optional<int64_t> evaluateAffine(AffineExpr expression, ArrayRef<int64_t> dims,
                                      ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expression);
  std::optional<int64_t> lhs = evaluateAffine(binary.getLHS(), dims, symbols);
  std::optional<int64_t> rhs = evaluateAffine(binary.getRHS(), dims, symbols);
  if (!lhs || !rhs)
    return std::nullopt;
  int64_t result;
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return __builtin_add_overflow(*lhs, *rhs, &result) ? std::nullopt : std::optional(result);
  case AffineExprKind::Mul:
    return __builtin_mul_overflow(*lhs, *rhs, &result) ? std::nullopt : std::optional(result);
  default:
    break;
  }
  if (*rhs <= 0)
    return std::nullopt;
  if (expression.getKind() == AffineExprKind::CeilDiv)
    return llvm::divideCeilSigned(*lhs, *rhs);
  int64_t floor = llvm::divideFloorSigned(*lhs, *rhs);
  return expression.getKind() == AffineExprKind::FloorDiv ? floor : *lhs - floor * *rhs;
}

// Frame

SmallVector<int64_t> Frame::integers(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return integer(value); });
}

SmallVector<int64_t> Frame::integers(ArrayRef<OpFoldResult> mixed) {
  return llvm::map_to_vector(mixed, [&](OpFoldResult size) {
    auto attribute = dyn_cast<Attribute>(size);
    return attribute ? cast<IntegerAttr>(attribute).getInt() : integer(cast<Value>(size));
  });
}

/// Whether no op after `user` reads `value`, and every run of the block that holds `user` sets it anew.
static bool isLastUse(Value value, Operation *user) {
  Block *block = user->getBlock();
  if (value.getParentBlock() != block)
    return false;
  unsigned uses = 0;
  for (Operation *other : value.getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*other);
    if (ancestor == user ? ++uses > 1 : user->isBeforeInBlock(ancestor))
      return false;
  }
  return true;
}

Slot Frame::takeSlot(Value value, Operation *user) {
  Slot &from = slot(value);
  return from.tensor && isLastUse(value, user) ? std::move(from) : from;
}

Tensor Frame::take(Value value, Operation *user) {
  Slot taken = takeSlot(value, user);
  return taken.tensor.use_count() == 1 ? std::move(*taken.tensor) : *taken.tensor;
}

LogicalResult Frame::set(Value result, Tensor tensor) {
  return set(result, std::make_shared<Tensor>(std::move(tensor)));
}

LogicalResult Frame::set(Value result, std::shared_ptr<Tensor> tensor) {
  auto type = cast<RankedTensorType>(result.getType());
  auto fits = [](int64_t expected, int64_t actual) {
    return ShapedType::isDynamic(expected) || expected == actual;
  };
  if (!llvm::equal(type.getShape(), tensor->shape, fits)) {
    Operation *op = result.getDefiningOp() ? result.getDefiningOp() : result.getParentBlock()->getParentOp();
    return op->emitOpError("expected a tensor of shape ")
           << showShape(type.getShape()) << ", but got " << showShape(tensor->shape);
  }
  slot(result).tensor = std::move(tensor);
  return success();
}

LogicalResult Frame::run(const std::vector<Step> &steps) {
  for (const Step &step : steps)
    if (failed(step(*this)))
      return failure();
  return success();
}

ScalarRegion::ScalarRegion(Frame &frame, Block &block) : frame(frame), steps(frame.stepsOf(block)) {
  auto number = [&](Value value) { return frame.slotOf(value); };
  arguments = llvm::map_to_vector(block.getArguments(), number);
  results = llvm::map_to_vector(block.getTerminator()->getOperands(), number);
}

// Reads

Reads::Reads(Frame &frame, Operation *op, ValueRange tensors, ArrayAttr maps) : op(op) {
  for (auto [tensor, map] : llvm::zip_equal(tensors, maps))
    reads.push_back({frame.slot(tensor).tensor, cast<AffineMapAttr>(map).getValue()});
}

LogicalResult Reads::load(ScalarRegion &region, unsigned first, ArrayRef<int64_t> coordinate) {
  for (auto [number, read] : llvm::enumerate(reads)) {
    Slot &argument = region.argument(first + number);
    const Tensor &tensor = *read.tensor;
    if (read.map.getNumResults() == 0 && tensor.rank() > 0) {
      argument.tensor = read.tensor;
      continue;
    }
    int64_t offset = 0;
    for (auto [expression, size] : llvm::zip_equal(read.map.getResults(), tensor.shape)) {
      std::optional<int64_t> position = evaluateAffine(expression, coordinate);
      if (!position || *position < 0 || *position >= size)
        return op->emitOpError("expected read ") << number << " inside its tensor of shape "
                                                 << showShape(tensor.shape) << ", but the map leads outside";
      offset = offset * size + *position;
    }
    argument.scalar =
        tensor.isFloat() ? Scalar::of(tensor.real(offset)) : Scalar::of(tensor.integers[offset]);
  }
  return success();
}

// Steps

OpTable::OpTable() {
  addControlOps(*this);
  addScalarOps(*this);
  addTensorOps(*this);
  addSliceOps(*this);
  addLinalgOps(*this);
  addMaskOps(*this);
  addMatmulOps(*this);
  addScoreOps(*this);
  addLayerOps(*this);
  addPositionOps(*this);
  addAttentionOps(*this);
  addOnlineAttention(*this);
}

Step OpTable::build(Operation *op, Program &program) const {
  StringRef name = op->getName().getStringRef();
  if (auto found = builds.find(name); found != builds.end())
    return found->second(op, program);
  for (const Build &build : interfaces)
    if (Step step = build(op, program))
      return step;
  return [op](Frame &) -> LogicalResult {
    return op->emitOpError("expected an operation that the interpreter knows");
  };
}

bool OpTable::knows(Operation *op) const {
  Program unused;
  return builds.contains(op->getName().getStringRef()) ||
         llvm::any_of(interfaces, [&](const Build &build) { return bool(build(op, unused)); });
}

/// Applies `function` at each element; operands that are not tensors are the same everywhere.
static LogicalResult mapTensor(Operation *op, Frame &frame, const OpTable::ScalarFunction &function) {
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  const Tensor *shaped = nullptr;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType())) {
      const Tensor &tensor = frame.tensor(operand);
      if (shaped && shaped->shape != tensor.shape)
        return op->emitOpError("expected operands of one shape, but got ")
               << showShape(shaped->shape) << " and " << showShape(tensor.shape);
      shaped = &tensor;
    }
  FailureOr<Tensor> result = makeTensor(op, resultType.getElementType(), shaped->shape);
  if (failed(result))
    return failure();
  SmallVector<Scalar, 3> operands(op->getNumOperands());
  SmallVector<const Tensor *, 3> tensors(op->getNumOperands());
  for (auto [scalar, tensor, operand] : llvm::zip_equal(operands, tensors, op->getOperands()))
    if (isa<RankedTensorType>(operand.getType()))
      tensor = &frame.tensor(operand);
    else
      scalar = frame.slot(operand).scalar;
  for (int64_t at = 0, size = result->size(); at < size; ++at) {
    for (auto [scalar, tensor] : llvm::zip_equal(operands, tensors))
      if (tensor)
        scalar = tensor->isFloat() ? Scalar::of(tensor->real(at)) : Scalar::of(tensor->integers[at]);
    std::optional<Scalar> value = function(operands.data());
    if (!value)
      return op->emitOpError("expected operands for which it is defined");
    if (result->isFloat())
      result->setReal(at, value->real);
    else
      result->integers[at] = value->integer;
  }
  return frame.set(op->getResult(0), std::move(*result));
}

OpTable::Build OpTable::elementwise(const ScalarBuild &build) {
  return [build](Operation *op, Program &program) -> Step {
    ScalarFunction function = build(op);
    if (isa<TensorType>(op->getResult(0).getType()))
      return [op, function](Frame &frame) { return mapTensor(op, frame, function); };
    auto slots =
        llvm::map_to_vector<4>(op->getOperands(), [&](Value value) { return program.slotOf(value); });
    unsigned result = program.slotOf(op->getResult(0));
    return [op, function, slots, result](Frame &frame) -> LogicalResult {
      std::array<Scalar, 4> operands;
      for (auto [operand, slot] : llvm::zip(operands, slots))
        operand = frame.at(slot).scalar;
      std::optional<Scalar> value = function(operands.data());
      if (!value)
        return op->emitOpError("expected operands for which it is defined");
      frame.at(result).scalar = *value;
      return success();
    };
  };
}

} // namespace heed
