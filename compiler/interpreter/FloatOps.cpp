// arith and math on floats. The derivative beside each function carries its operands' uncertainty on.
#include "compiler/interpreter/Integers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace heed {

using Unary = Real (*)(Real);
using Binary = Real (*)(Real, Real);

static OpTable::ScalarBuild unary(Unary function) {
  return [function](Operation *op) -> OpTable::ScalarFunction {
    Type type = getElementTypeOrSelf(op->getResult(0).getType());
    return [=](const Scalar *x) { return Scalar::of(roundedLike(type, function(x[0].real))); };
  };
}

static OpTable::ScalarBuild binary(Binary function) {
  return [function](Operation *op) -> OpTable::ScalarFunction {
    Type type = getElementTypeOrSelf(op->getResult(0).getType());
    return [=](const Scalar *x) { return Scalar::of(roundedLike(type, function(x[0].real, x[1].real))); };
  };
}

static Real smooth(Real x, double (*function)(double), double derivative) {
  return applied(function(x.value), derivative, x);
}

/// Like `maximum`, but a number beats a NaN.
static Real maxNumber(Real a, Real b) {
  return std::isnan(a.value) ? b : std::isnan(b.value) ? a : maximum(a, b);
}

static Real power(Real a, Real b) {
  double y = std::pow(a.value, b.value);
  double byBase = b.value == 0 ? 0 : b.value * std::pow(a.value, b.value - 1);
  double variance = propagate(byBase, a.variance) + propagate(y * std::log(std::fabs(a.value)), b.variance);
  return roundF32(y, variance, 4 + std::fabs(std::log(std::fabs(y) + DBL_MIN)));
}

static Real remainder(Real a, Real b) {
  return roundF32(std::fmod(a.value, b.value),
                  a.variance + propagate(std::trunc(a.value / b.value), b.variance));
}

/// A function of steps: exact, and uncertain where the operand is close to a step.
static Real step(Real x, double (*function)(double)) {
  double reach = kConfidence * x.deviation();
  double rise = function(x.value + reach) - function(x.value - reach);
  return {function(x.value), rise == 0 ? 0 : square(rise)};
}

static bool holds(arith::CmpFPredicate predicate, double a, double b) {
  // The bits of a predicate: equal, greater, less, unordered.
  unsigned relation = std::isnan(a) || std::isnan(b) ? 8 : a == b ? 1 : a > b ? 2 : 4;
  return (static_cast<unsigned>(predicate) & relation) != 0;
}

void addFloatOps(OpTable &table) {
  table.addScalar<arith::AddFOp>(binary([](Real a, Real b) { return a + b; }));
  table.addScalar<arith::SubFOp>(binary([](Real a, Real b) { return a - b; }));
  table.addScalar<arith::MulFOp>(binary([](Real a, Real b) { return a * b; }));
  table.addScalar<arith::DivFOp>(binary([](Real a, Real b) { return a / b; }));
  table.addScalar<arith::RemFOp>(binary(remainder));
  table.addScalar<arith::NegFOp>(unary([](Real x) { return -x; }));
  table.addScalar<arith::MaximumFOp>(binary(maximum));
  table.addScalar<arith::MinimumFOp>(binary(minimum));
  table.addScalar<arith::MaxNumFOp>(binary(maxNumber));
  table.addScalar<arith::MinNumFOp>(binary([](Real a, Real b) { return -maxNumber(-a, -b); }));
  table.addScalar<math::ExpOp>(unary(exp));
  table.addScalar<math::Exp2Op>(unary([](Real x) {
    return std::isinf(x.value) ? exp(x) : applied(std::exp2(x.value), std::exp2(x.value) * M_LN2, x);
  }));
  table.addScalar<math::ExpM1Op>(unary([](Real x) { return smooth(x, std::expm1, std::exp(x.value)); }));
  table.addScalar<math::LogOp>(unary([](Real x) { return smooth(x, std::log, 1 / x.value); }));
  table.addScalar<math::Log2Op>(unary([](Real x) { return smooth(x, std::log2, 1 / (x.value * M_LN2)); }));
  table.addScalar<math::Log10Op>(unary([](Real x) { return smooth(x, std::log10, 1 / (x.value * M_LN10)); }));
  table.addScalar<math::Log1pOp>(unary([](Real x) { return smooth(x, std::log1p, 1 / (1 + x.value)); }));
  table.addScalar<math::SinOp>(unary([](Real x) { return smooth(x, std::sin, std::cos(x.value)); }));
  table.addScalar<math::CosOp>(unary([](Real x) { return smooth(x, std::cos, std::sin(x.value)); }));
  table.addScalar<math::TanhOp>(
      unary([](Real x) { return smooth(x, std::tanh, 1 - square(std::tanh(x.value))); }));
  table.addScalar<math::ErfOp>(
      unary([](Real x) { return smooth(x, std::erf, M_2_SQRTPI * std::exp(-square(x.value))); }));
  table.addScalar<math::ErfcOp>(unary([](Real x) {
    Real y = smooth(x, std::erfc, M_2_SQRTPI * std::exp(-square(x.value)));
    y.variance += square(0x1p-24); // the error that compiled code may make is absolute
    return y;
  }));
  table.addScalar<math::SqrtOp>(unary(sqrt));
  table.addScalar<math::RsqrtOp>(unary([](Real x) { return Real(1) / sqrt(x); }));
  table.addScalar<math::AbsFOp>(unary([](Real x) { return Real(std::fabs(x.value), x.variance); }));
  table.addScalar<math::FloorOp>(unary([](Real x) { return step(x, std::floor); }));
  table.addScalar<math::CeilOp>(unary([](Real x) { return step(x, std::ceil); }));
  table.addScalar<math::RoundOp>(unary([](Real x) { return step(x, std::round); }));
  table.addScalar<math::RoundEvenOp>(unary([](Real x) { return step(x, std::nearbyint); }));
  table.addScalar<math::TruncOp>(unary([](Real x) { return step(x, std::trunc); }));
  table.addScalar<math::PowFOp>(binary(power));
  table.addScalar<math::CopySignOp>(
      binary([](Real a, Real b) { return Real(std::copysign(a.value, b.value), a.variance); }));
  table.addScalar<math::FmaOp>([](Operation *op) -> OpTable::ScalarFunction {
    Type type = getElementTypeOrSelf(op->getResult(0).getType());
    return [=](const Scalar *x) { return Scalar::of(roundedLike(type, x[0].real * x[1].real + x[2].real)); };
  });
  table.addScalar<arith::CmpFOp>([](Operation *op) -> OpTable::ScalarFunction {
    arith::CmpFPredicate predicate = cast<arith::CmpFOp>(op).getPredicate();
    return [=](const Scalar *x) {
      return Scalar::of(int64_t(holds(predicate, x[0].real.value, x[1].real.value)));
    };
  });
}

} // namespace heed
