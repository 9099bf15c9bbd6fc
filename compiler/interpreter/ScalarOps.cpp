// Constants, choices, affine arithmetic and poison.
#include "compiler/interpreter/Integers.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace heed {

/// The tensor of a dense constant; nothing where its kind is unknown.
static std::shared_ptr<Tensor> readConstant(ElementsAttr elements) {
  auto tensor = std::make_shared<Tensor>(elements.getElementType(), elements.getShapedType().getShape());
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
  return nullptr;
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
  std::shared_ptr<Tensor> tensor = elements ? readConstant(elements) : nullptr;
  if (!tensor)
    return op.emitOpError("expected a constant of floats or integers");
  return frame.set(op.getResult(), std::move(tensor));
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
      return op.emitOpError("expected positive divisors");
    bool isMin = isa<affine::AffineMinOp>(op);
    reduced = !reduced ? *value : isMin ? std::min(*reduced, *value) : std::max(*reduced, *value);
  }
  frame.set(op.getResult(), Scalar::of(*reduced));
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
}

} // namespace heed
