// Formulas in C++ that build arith operations, on scalars and vectors alike.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

namespace heed {

/// What the target does by itself; the rest is built from integer and basic floating-point operations.
struct MathTarget {
  bool fma = true;   ///< fused multiply-add of f32 and f64
  bool round = true; ///< floor, ceil, trunc and roundeven
};

/// A value under construction: a scalar or a vector of floats or integers. Operations carry no fast-math
/// flags: the formulas rely on every rounding.
class Expr {
public:
  Expr(mlir::ImplicitLocOpBuilder &builder, const MathTarget &target, mlir::Value value)
      : builder(&builder), target(&target), value(value) {}

  operator mlir::Value() const { return value; }
  Expr with(mlir::Value other) const { return Expr(*builder, *target, other); }
  mlir::ImplicitLocOpBuilder &getBuilder() const { return *builder; }
  const MathTarget &getTarget() const { return *target; }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(value.getType()); }
  unsigned width() const { return element().getIntOrFloatBitWidth(); }

  /// A constant of this value's type.
  Expr constant(double number) const {
    return splat(mlir::FloatAttr::get(mlir::cast<mlir::FloatType>(element()), number));
  }
  Expr integer(int64_t number) const {
    return splat(mlir::IntegerAttr::get(element(), llvm::APInt(width(), number, true, true)));
  }
  Expr infinity() const { return constant(std::numeric_limits<double>::infinity()); }
  Expr nan() const { return constant(std::numeric_limits<double>::quiet_NaN()); }

  template <typename Op> Expr cast(mlir::Type element) const {
    auto vector = mlir::dyn_cast<mlir::VectorType>(value.getType());
    return with(Op::create(*builder, vector ? vector.clone(element) : element, value));
  }
  /// The bits as an integer of the same width, and back.
  Expr bits() const { return cast<mlir::arith::BitcastOp>(builder->getIntegerType(width())); }
  Expr asFloat(mlir::Type type) const { return cast<mlir::arith::BitcastOp>(type); }
  Expr asF32() const { return asFloat(builder->getF32Type()); }
  Expr asF64() const { return asFloat(builder->getF64Type()); }

  /// Float to float, rounding to nearest even when narrowing.
  Expr toFloat(mlir::Type type) const {
    unsigned to = type.getIntOrFloatBitWidth();
    return to > width()   ? cast<mlir::arith::ExtFOp>(type)
           : to < width() ? cast<mlir::arith::TruncFOp>(type)
                          : *this;
  }
  Expr toF32() const { return toFloat(builder->getF32Type()); }
  Expr toF64() const { return toFloat(builder->getF64Type()); }
  /// Signed integer to and from float of any width.
  Expr intToF32() const { return cast<mlir::arith::SIToFPOp>(builder->getF32Type()); }
  Expr intToF64() const { return cast<mlir::arith::SIToFPOp>(builder->getF64Type()); }
  Expr floatToInt() const { return cast<mlir::arith::FPToSIOp>(builder->getIntegerType(width())); }
  Expr truncateTo(unsigned bits) const { return cast<mlir::arith::TruncIOp>(builder->getIntegerType(bits)); }
  Expr zeroExtendTo(unsigned bits) const { return cast<mlir::arith::ExtUIOp>(builder->getIntegerType(bits)); }

  template <typename Op> Expr apply(const Expr &other) const {
    return with(Op::create(*builder, value, other.value));
  }
  Expr compare(mlir::arith::CmpFPredicate predicate, const Expr &other) const {
    return with(mlir::arith::CmpFOp::create(*builder, predicate, value, other.value));
  }
  Expr compare(mlir::arith::CmpIPredicate predicate, const Expr &other) const {
    return with(mlir::arith::CmpIOp::create(*builder, predicate, value, other.value));
  }

private:
  Expr splat(mlir::TypedAttr attribute) const {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(value.getType()))
      attribute = mlir::DenseElementsAttr::get(vector, mlir::Attribute(attribute));
    return with(mlir::arith::ConstantOp::create(*builder, attribute));
  }

  mlir::ImplicitLocOpBuilder *builder;
  const MathTarget *target;
  mlir::Value value;
};

// Floats. Comparisons are ordered: false when an operand is NaN.
#define HEED_FLOAT_OPERATOR(symbol, Op)                                                                      \
  inline Expr operator symbol(const Expr &a, const Expr &b) { return a.apply<mlir::arith::Op>(b); }          \
  inline Expr operator symbol(const Expr &a, double b) { return a symbol a.constant(b); }                    \
  inline Expr operator symbol(double a, const Expr &b) { return b.constant(a) symbol b; }
HEED_FLOAT_OPERATOR(+, AddFOp)
HEED_FLOAT_OPERATOR(-, SubFOp)
HEED_FLOAT_OPERATOR(*, MulFOp)
HEED_FLOAT_OPERATOR(/, DivFOp)
#undef HEED_FLOAT_OPERATOR

#define HEED_FLOAT_COMPARISON(symbol, predicate)                                                             \
  inline Expr operator symbol(const Expr &a, const Expr &b) {                                                \
    return a.compare(mlir::arith::CmpFPredicate::predicate, b);                                              \
  }                                                                                                          \
  inline Expr operator symbol(const Expr &a, double b) { return a symbol a.constant(b); }
HEED_FLOAT_COMPARISON(<, OLT)
HEED_FLOAT_COMPARISON(<=, OLE)
HEED_FLOAT_COMPARISON(>, OGT)
HEED_FLOAT_COMPARISON(>=, OGE)
HEED_FLOAT_COMPARISON(==, OEQ)
#undef HEED_FLOAT_COMPARISON

// Integers and conditions, which share no operator with floats.
#define HEED_INTEGER_FUNCTION(name, Op)                                                                      \
  inline Expr name(const Expr &a, const Expr &b) { return a.apply<mlir::arith::Op>(b); }                     \
  inline Expr name(const Expr &a, int64_t b) { return name(a, a.integer(b)); }
HEED_INTEGER_FUNCTION(addi, AddIOp)
HEED_INTEGER_FUNCTION(subi, SubIOp)
HEED_INTEGER_FUNCTION(muli, MulIOp)
HEED_INTEGER_FUNCTION(shli, ShLIOp)
HEED_INTEGER_FUNCTION(shrsi, ShRSIOp)
HEED_INTEGER_FUNCTION(shrui, ShRUIOp)
HEED_INTEGER_FUNCTION(remui, RemUIOp)
HEED_INTEGER_FUNCTION(minsi, MinSIOp)
HEED_INTEGER_FUNCTION(maxsi, MaxSIOp)
HEED_INTEGER_FUNCTION(operator&, AndIOp)
HEED_INTEGER_FUNCTION(operator|, OrIOp)
HEED_INTEGER_FUNCTION(operator^, XOrIOp)
#undef HEED_INTEGER_FUNCTION
inline Expr equal(const Expr &a, int64_t b) {
  return a.compare(mlir::arith::CmpIPredicate::eq, a.integer(b));
}
inline Expr lessSigned(const Expr &a, int64_t b) {
  return a.compare(mlir::arith::CmpIPredicate::slt, a.integer(b));
}

inline Expr select(const Expr &condition, const Expr &yes, const Expr &no) {
  return yes.with(mlir::arith::SelectOp::create(yes.getBuilder(), condition, yes, no));
}
inline Expr isNaN(const Expr &x) { return x.compare(mlir::arith::CmpFPredicate::UNO, x); }
inline Expr abs(const Expr &x) { return x.with(mlir::math::AbsFOp::create(x.getBuilder(), x)); }
inline Expr negate(const Expr &x) { return x.with(mlir::arith::NegFOp::create(x.getBuilder(), x)); }
inline Expr copySign(const Expr &x, const Expr &sign) {
  return x.with(mlir::math::CopySignOp::create(x.getBuilder(), x, sign));
}
/// The smaller and the larger of x and a bound, x if it is NaN: the order of operands that is one x86
/// instruction.
inline Expr atMost(const Expr &x, double bound) {
  return select(x.constant(bound) < x, x.constant(bound), x);
}
inline Expr atLeast(const Expr &x, double bound) {
  return select(x.constant(bound) > x, x.constant(bound), x);
}

/// a·b + c, rounded once where the target can, otherwise twice.
inline Expr fma(const Expr &a, const Expr &b, const Expr &c) {
  return a.getTarget().fma ? a.with(mlir::math::FmaOp::create(a.getBuilder(), a, b, c)) : a * b + c;
}
inline Expr fma(const Expr &a, double b, const Expr &c) { return fma(a, a.constant(b), c); }
inline Expr fma(const Expr &a, const Expr &b, double c) { return fma(a, b, a.constant(c)); }
inline Expr fma(const Expr &a, double b, double c) { return fma(a, a.constant(b), a.constant(c)); }

/// Σ coefficients[k]·x^k by Horner's rule.
inline Expr polynomial(const Expr &x, llvm::ArrayRef<double> coefficients) {
  Expr sum = x.constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, coefficient);
  return sum;
}

} // namespace heed
