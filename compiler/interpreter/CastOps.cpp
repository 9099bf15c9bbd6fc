// Casts between widths and between floats and integers.
#include "compiler/interpreter/Integers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace heed {

static OpTable::ScalarFunction keep(Operation *) {
  return [](const Scalar *x) { return x[0]; };
}

/// What is uncertain before a cast may fall on either side of a step after it.
static OpTable::ScalarFunction buildTruncF(Operation *op) {
  auto type = cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  return [=](const Scalar *x) {
    Real from = x[0].real;
    double value = roundTo(type, from.value);
    if (!std::isfinite(value))
      return Scalar::of(Real(value));
    double step = from.variance == 0 ? 0 : rounding(type, value);
    return Scalar::of(Real(value, from.variance + square(step)));
  };
}

template <bool isSigned> static OpTable::ScalarFunction buildIntegerCast(Operation *op) {
  unsigned from = widthOf(op->getOperand(0).getType()), to = widthOf(op->getResult(0).getType());
  return [=](const Scalar *x) {
    int64_t value = x[0].integer;
    return Scalar::of(wrap(isSigned ? uint64_t(signedOf(value, from)) : unsignedOf(value, from), to));
  };
}

template <bool isSigned> static OpTable::ScalarFunction buildIntegerToFloat(Operation *op) {
  unsigned width = widthOf(op->getOperand(0).getType());
  auto type = cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  return [=](const Scalar *x) {
    int64_t value = x[0].integer;
    double wide = isSigned ? static_cast<double>(signedOf(value, width))
                           : static_cast<double>(unsignedOf(value, width));
    return Scalar::of(Real(roundTo(type, wide)));
  };
}

/// Towards zero; undefined outside the integer's range.
template <bool isSigned> static OpTable::ScalarFunction buildFloatToInteger(Operation *op) {
  unsigned width = widthOf(op->getResult(0).getType());
  double least = isSigned ? -std::ldexp(1.0, width - 1) : 0,
         end = std::ldexp(1.0, isSigned ? width - 1 : width);
  return [=](const Scalar *x) -> std::optional<Scalar> {
    double value = std::trunc(x[0].real.value);
    if (!(value >= least && value < end))
      return std::nullopt;
    return Scalar::of(wrap(value < 0 ? uint64_t(int64_t(value)) : uint64_t(value), width));
  };
}

/// The bits of a float of `type`.
static uint64_t toBits(FloatType type, double value) {
  APFloat number(value);
  bool losesInfo;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

static OpTable::ScalarFunction buildBitcast(Operation *op) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType()),
       to = getElementTypeOrSelf(op->getResult(0).getType());
  return [=](const Scalar *x) {
    auto fromFloat = dyn_cast<FloatType>(from);
    uint64_t bits = fromFloat ? toBits(fromFloat, x[0].real.value) : unsignedOf(x[0].integer, widthOf(from));
    if (auto toFloat = dyn_cast<FloatType>(to))
      return Scalar::of(
          Real(APFloat(toFloat.getFloatSemantics(), APInt(widthOf(to), bits)).convertToDouble()));
    return Scalar::of(wrap(bits, widthOf(to)));
  };
}

void addCastOps(OpTable &table) {
  table.addScalar<arith::ExtFOp>(keep);
  table.addScalar<arith::TruncFOp>(buildTruncF);
  table.addScalar<arith::ExtSIOp>(buildIntegerCast<true>);
  table.addScalar<arith::ExtUIOp>(buildIntegerCast<false>);
  table.addScalar<arith::TruncIOp>(buildIntegerCast<false>);
  table.addScalar<arith::IndexCastOp>(buildIntegerCast<true>);
  table.addScalar<arith::IndexCastUIOp>(buildIntegerCast<false>);
  table.addScalar<arith::SIToFPOp>(buildIntegerToFloat<true>);
  table.addScalar<arith::UIToFPOp>(buildIntegerToFloat<false>);
  table.addScalar<arith::FPToSIOp>(buildFloatToInteger<true>);
  table.addScalar<arith::FPToUIOp>(buildFloatToInteger<false>);
  table.addScalar<arith::BitcastOp>(buildBitcast);
}

} // namespace heed
