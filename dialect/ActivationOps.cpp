// Activations, which change one element at a time as score operations do. See AttnLayerOps.td.
#include "dialect/Checks.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace heed::attn {

/// Emits `activation(x)` in f32.
static Value buildActivation(ImplicitLocOpBuilder builder, Activation activation, Value x) {
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, builder.getF32FloatAttr(static_cast<float>(value)));
  };
  auto add = [&](Value a, Value b) -> Value { return arith::AddFOp::create(builder, a, b); };
  auto mul = [&](Value a, Value b) -> Value { return arith::MulFOp::create(builder, a, b); };
  switch (activation) {
  case Activation::Relu:
    return arith::MaximumFOp::create(builder, x, constant(0));
  case Activation::Sigmoid:
  case Activation::Silu: {
    Value denominator = add(constant(1), math::ExpOp::create(builder, arith::NegFOp::create(builder, x)));
    return arith::DivFOp::create(builder, activation == Activation::Silu ? x : constant(1), denominator);
  }
  case Activation::Gelu: {
    // x · Φ(x). The complement of erf loses nothing where x is far below zero, and comes cheaper for one
    // sign.
    Value distance = mul(math::AbsFOp::create(builder, x), constant(std::sqrt(0.5)));
    Value tail = math::ErfcOp::create(builder, distance, arith::FastMathFlags::afn);
    Value isNegative = arith::CmpFOp::create(builder, arith::CmpFPredicate::OLT, x, constant(0));
    Value twice =
        arith::SelectOp::create(builder, isNegative, tail, arith::SubFOp::create(builder, constant(2), tail));
    return mul(mul(x, constant(0.5)), twice);
  }
  case Activation::GeluTanh: {
    Value cubic = add(x, mul(constant(0.044715), mul(x, mul(x, x))));
    Value tanh = math::TanhOp::create(builder, mul(constant(std::sqrt(2 / M_PI)), cubic));
    return mul(mul(x, constant(0.5)), add(constant(1), tanh));
  }
  }
  llvm_unreachable("unknown activation");
}

/// The formulas of the reference page.
static double evaluateActivation(Activation activation, double x) {
  switch (activation) {
  case Activation::Relu:
    return x < 0 ? 0 : x;
  case Activation::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case Activation::Silu:
    return x / (1 + std::exp(-x));
  case Activation::Gelu:
    return x / 2 * std::erfc(-x / std::sqrt(2.0));
  case Activation::GeluTanh:
    return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  llvm_unreachable("unknown activation");
}

static Activation getActivation(ReluOp) { return Activation::Relu; }
static Activation getActivation(SiluOp) { return Activation::Silu; }
static Activation getActivation(GeluOp op) {
  return op.getForm() == GeluForm::Exact ? Activation::Gelu : Activation::GeluTanh;
}

Value ReluOp::buildScore(OpBuilder &builder, Location loc, Value score, const ScorePoint &, ValueRange) {
  return buildActivation({loc, builder}, getActivation(*this), score);
}
OpFoldResult ReluOp::fold(FoldAdaptor) { return getInput().getDefiningOp<ReluOp>() ? getInput() : Value(); }
double ReluOp::evaluateScore(double score, ArrayRef<int64_t>, ArrayRef<int64_t>,
                             function_ref<double(unsigned, ArrayRef<int64_t>)>) {
  return evaluateActivation(getActivation(*this), score);
}

Value SiluOp::buildScore(OpBuilder &builder, Location loc, Value score, const ScorePoint &, ValueRange) {
  return buildActivation({loc, builder}, getActivation(*this), score);
}
double SiluOp::evaluateScore(double score, ArrayRef<int64_t>, ArrayRef<int64_t>,
                             function_ref<double(unsigned, ArrayRef<int64_t>)>) {
  return evaluateActivation(getActivation(*this), score);
}

Value GeluOp::buildScore(OpBuilder &builder, Location loc, Value score, const ScorePoint &, ValueRange) {
  return buildActivation({loc, builder}, getActivation(*this), score);
}
double GeluOp::evaluateScore(double score, ArrayRef<int64_t>, ArrayRef<int64_t>,
                             function_ref<double(unsigned, ArrayRef<int64_t>)>) {
  return evaluateActivation(getActivation(*this), score);
}

SmallVector<ScoreRead> GatedOp::getScoreReads() {
  return {{getUp(), AffineMap::getMultiDimIdentityMap(getUp().getType().getRank(), getContext())}};
}
Value GatedOp::buildScore(OpBuilder &builder, Location loc, Value score, const ScorePoint &,
                          ValueRange reads) {
  Value gate = buildActivation({loc, builder}, getActivation(), score);
  return arith::MulFOp::create(builder, loc, gate, reads[0]);
}
double GatedOp::evaluateScore(double score, ArrayRef<int64_t> coordinate, ArrayRef<int64_t>,
                              function_ref<double(unsigned, ArrayRef<int64_t>)> read) {
  return evaluateActivation(getActivation(), score) * read(0, coordinate);
}

} // namespace heed::attn
