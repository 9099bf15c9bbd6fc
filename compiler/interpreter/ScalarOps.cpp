// Constants, choices, affine arithmetic and poison.
#include "compiler/interpreter/Integers.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace heed {

/// The tensor of a dense constant.
static FailureOr<Tensor> readConstant(Operation *op, ElementsAttr elements) {
  FailureOr<Tensor> tensor = makeTensor(op, elements.getElementType(), elements.getShapedType().getShape());
  if (failed(tensor))
    return failure();
  if (auto floats = elements.tryGetValues<APFloat>()) {
    for (auto [at, value] : llvm::enumerate(*floats))
      tensor->values[at] = value.convertToDouble();
    return tensor;
  }
  if (auto integers = elements.tryGetValues<APInt>()) {
    for (auto [at, value] : llvm::enumerate(*integers))
      tensor->integers[at] = wrap(value.getZExtValue(), value.getBitWidth());
    return tensor;
  }
  return op->emitOpError("expected a constant of floats or integers");
}

static LogicalResult evaluateConstant(arith::ConstantOp op, Frame &frame) {
  if (auto value = dyn_cast<FloatAttr>(op.getValue())) {
    frame.set(op.getResult(), Scalar::of(Real(value.getValue().convertToDouble())));
    return success();
  }
  if (auto value = dyn_cast<IntegerAttr>(op.getValue())) {
    APInt bits = value.getValue();
    frame.set(op.getResult(), Scalar::of(wrap(bits.getZExtValue(), bits.getBitWidth())));
    return success();
  }
  auto elements = dyn_cast<ElementsAttr>(op.getValue());
  if (!elements)
    return op.emitOpError("expected a constant of floats or integers");
  FailureOr<Tensor> tensor = readConstant(op, elements);
  return failed(tensor) ? failure() : frame.set(op.getResult(), std::move(*tensor));
}

/// A value that nobody may depend on: NaN shows where somebody does.
static LogicalResult evaluatePoison(ub::PoisonOp op, Frame &frame) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type) {
    frame.set(op.getResult(), Scalar{nan, 0});
    return success();
  }
  if (!type.hasStaticShape())
    return op.emitOpError("expected a static shape, but got ") << type;
  FailureOr<Tensor> tensor = makeTensor(op, type.getElementType(), type.getShape());
  if (failed(tensor))
    return failure();
  std::fill(tensor->values.begin(), tensor->values.end(), nan);
  return frame.set(op.getResult(), std::move(*tensor));
}

static OpTable::ScalarFunction buildSelect(Operation *) {
  return [](const Scalar *x) { return x[0].integer ? x[1] : x[2]; };
}

/// affine.apply, min and max: a map's results on the operands, reduced to one.
template <class OpT> static LogicalResult evaluateAffineOp(OpT op, Frame &frame) {
  AffineMap map = op.getAffineMap();
  SmallVector<int64_t> operands = frame.integers(op.getMapOperands());
  ArrayRef<int64_t> all(operands), dims = all.take_front(map.getNumDims()),
                                   symbols = all.drop_front(dims.size());
  std::optional<int64_t> reduced;
  for (AffineExpr expression : map.getResults()) {
    std::optional<int64_t> value = evaluateAffine(expression, dims, symbols);
    if (!value)
      return op.emitOpError("expected positive divisors and no overflow");
    bool isMin = isa<affine::AffineMinOp>(op);
    reduced = !reduced ? *value : isMin ? std::min(*reduced, *value) : std::max(*reduced, *value);
  }
  frame.set(op.getResult(), Scalar::of(*reduced));
  return success();
}

/// A linear index taken apart into coordinates; an outermost size that is named bounds nothing.
static LogicalResult evaluateDelinearize(affine::AffineDelinearizeIndexOp op, Frame &frame) {
  SmallVector<int64_t> basis = frame.integers(op.getMixedBasis());
  int64_t rest = frame.integer(op.getLinearIndex());
  size_t count = op->getNumResults(), unnamed = count - basis.size();
  for (size_t at = count - 1; at > 0; --at) {
    int64_t size = basis[at - unnamed];
    if (size <= 0)
      return op.emitOpError("expected a positive basis, but got ") << size;
    int64_t outer = llvm::divideFloorSigned(rest, size);
    frame.set(op->getResult(at), Scalar::of(rest - outer * size));
    rest = outer;
  }
  frame.set(op->getResult(0), Scalar::of(rest));
  return success();
}

/// Coordinates put together to a linear index.
static LogicalResult evaluateLinearize(affine::AffineLinearizeIndexOp op, Frame &frame) {
  SmallVector<int64_t> basis = frame.integers(op.getMixedBasis());
  SmallVector<int64_t> coordinates = frame.integers(op.getMultiIndex());
  size_t unnamed = coordinates.size() - basis.size();
  int64_t index = 0;
  for (auto [at, coordinate] : llvm::enumerate(coordinates))
    if ((at > 0 && __builtin_mul_overflow(index, basis[at - unnamed], &index)) ||
        __builtin_add_overflow(index, coordinate, &index))
      return op.emitOpError("expected an index that fits 64 bits");
  frame.set(op.getResult(), Scalar::of(index));
  return success();
}

void addScalarOps(OpTable &table) {
  addFloatOps(table);
  addIntegerOps(table);
  addCastOps(table);
  table.add(evaluateConstant);
  table.add(evaluatePoison);
  table.addScalar<arith::SelectOp>(buildSelect);
  table.add(evaluateAffineOp<affine::AffineApplyOp>);
  table.add(evaluateAffineOp<affine::AffineMinOp>);
  table.add(evaluateAffineOp<affine::AffineMaxOp>);
  table.add(evaluateDelinearize);
  table.add(evaluateLinearize);
}

} // namespace heed
