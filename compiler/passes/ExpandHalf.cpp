// Replaces arithmetic on f16 and bf16 by f32's and conversions by integer operations; see Passes.td.
#include "compiler/passes/MathFunctions.h"
#include "compiler/passes/Passes.h"
#include "compiler/target/Target.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace heed {
#define GEN_PASS_DEF_EXPANDHALF
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

bool isHalf(Type type) { return getElementTypeOrSelf(type).isF16() || getElementTypeOrSelf(type).isBF16(); }

/// f16 to f32. NaNs become quiet and keep their payload, as F16C does it.
Expr extendF16(Expr x) {
  Expr bits = x.bits().zeroExtendTo(32);
  Expr magnitude = bits & 0x7fff;
  Expr normal = addi(shli(magnitude, 13), (127 - 15) << 23);
  Expr subnormal = (magnitude.intToF32() * 0x1p-24).bits();
  Expr special = normal | 0x7f800000;
  Expr quiet = special | 0x400000;
  Expr result = select(lessSigned(magnitude, 0x400), subnormal, normal);
  result =
      select(lessSigned(magnitude, 0x7c00), result, select(lessSigned(magnitude, 0x7c01), special, quiet));
  return (result | shli(bits & 0x8000, 16)).asF32();
}

/// f32 to f16, to nearest even. NaNs become quiet and keep the upper part of their payload.
Expr truncateF16(Expr x, Type f16) {
  Expr bits = x.bits();
  Expr magnitude = bits & 0x7fffffff;
  Expr odd = shrui(magnitude, 13) & 1;
  Expr normal = shrui(addi(subi(addi(magnitude, odd), (127 - 15) << 23), 0xfff), 13);
  // A half has the last bit that subnormal f16 have, so that the addition rounds.
  Expr subnormal = subi((magnitude.asF32() + 0.5).bits(), 0x3f000000);
  Expr result = select(lessSigned(magnitude, 0x38800000), subnormal, minsi(normal, 0x7c00));
  Expr nan = (shrui(magnitude, 13) & 0x3ff) | 0x7e00;
  result = select(lessSigned(magnitude, 0x7f800001), result, nan);
  return (result | (shrui(bits, 16) & 0x8000)).truncateTo(16).asFloat(f16);
}

/// An integer that f64 holds and that rounds to f16 and bf16 as x does: what is below the last of 52 bits is
/// gathered there, so that a later rounding sees it.
Expr gatherBits(Expr x) {
  if (x.width() < 64)
    return x;
  Expr lost = x & 0x7ff;
  Expr gathered = (x & ~int64_t(0x7ff)) | shli((select(equal(lost, 0), lost, x.integer(1))), 11);
  Expr fits = x.compare(arith::CmpIPredicate::ult, x.integer(int64_t(1) << 53));
  Expr negativeFits = x.compare(arith::CmpIPredicate::uge, x.integer(-(int64_t(1) << 53)));
  return select(fits | negativeFits, x, gathered);
}

struct ExpandHalf : impl::ExpandHalfBase<ExpandHalf> {
  void runOnOperation() override {
    FailureOr<Target> machine = Target::of(getOperation());
    if (failed(machine))
      return signalPassFailure();
    nativeCasts = machine->hasHalfCasts;

    forEach([&](Operation *op) { return expandBits(op); });
    forEach([&](Operation *op) { return expandIntegerCast(op); });
    if (failed(promoteArithmetic()))
      return signalPassFailure();
    forEach([&](Operation *op) { return narrowTwice(op); });
    forEach([&](Operation *op) { return expandCast(op); });
    RewritePatternSet patterns(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

private:
  /// Replaces what `expansion` gives a value for.
  void forEach(llvm::function_ref<Value(Operation *)> expansion) {
    SmallVector<Operation *> work;
    getOperation()->walk([&](Operation *op) {
      if (op->getNumResults() == 1 && op->getNumOperands() &&
          isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
        work.push_back(op);
    });
    for (Operation *op : work)
      if (Value value = expansion(op)) {
        op->getResult(0).replaceAllUsesWith(value);
        op->erase();
        ++numExpanded;
      }
  }

  /// Sign manipulation needs no conversion.
  Value expandBits(Operation *op) {
    if (!isHalf(op->getResult(0).getType()) || !isa<arith::NegFOp, math::AbsFOp, math::CopySignOp>(op))
      return {};
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    Expr x(builder, target, op->getOperand(0));
    Expr bits = x.bits();
    Expr result = isa<arith::NegFOp>(op) ? bits ^ 0x8000 : bits & 0x7fff;
    if (isa<math::CopySignOp>(op))
      result = result | (x.with(op->getOperand(1)).bits() & 0x8000);
    return result.asFloat(x.element());
  }

  /// Wide integers go through f64, from which narrowing rounds once.
  Value expandIntegerCast(Operation *op) {
    if (!isHalf(op->getResult(0).getType()) || !isa<arith::SIToFPOp, arith::UIToFPOp>(op))
      return {};
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    Expr x(builder, target, op->getOperand(0));
    if (x.width() <= 24)
      return {}; // f32 holds it
    x = gatherBits(x);
    Type f64 = builder.getF64Type();
    Expr wide = isa<arith::SIToFPOp>(op) ? x.cast<arith::SIToFPOp>(f64) : x.cast<arith::UIToFPOp>(f64);
    return wide.toFloat(getElementTypeOrSelf(op->getResult(0).getType()));
  }

  LogicalResult promoteArithmetic() {
    TypeConverter converter;
    Builder builder(&getContext());
    arith::populateEmulateUnsupportedFloatsConversions(
        converter, {builder.getF16Type(), builder.getBF16Type()}, builder.getF32Type());
    RewritePatternSet patterns(&getContext());
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget legality(getContext());
    arith::populateEmulateUnsupportedFloatsLegality(legality, converter);
    return applyPartialConversion(getOperation(), legality, std::move(patterns));
  }

  /// f64 to f16 or bf16 by way of f32, to f64 by way of f32.
  Value narrowTwice(Operation *op) {
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    Type result = op->getResult(0).getType();
    Expr x(builder, target, op->getOperand(0));
    if (isa<arith::TruncFOp>(op) && x.element().isF64() && isHalf(result))
      return truncateToOdd(x).toFloat(getElementTypeOrSelf(result));
    if (isa<arith::ExtFOp>(op) && isHalf(x.element()) && getElementTypeOrSelf(result).isF64())
      return x.toF32().toF64();
    return {};
  }

  Value expandCast(Operation *op) {
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    Type result = getElementTypeOrSelf(op->getResult(0));
    Expr x(builder, target, op->getOperand(0));
    if (isa<arith::ExtFOp>(op) && x.element().isF16() && !nativeCasts)
      return extendF16(x);
    if (isa<arith::TruncFOp>(op) && result.isF16() && !nativeCasts)
      return truncateF16(x, result);
    return {};
  }

  MathTarget target;
  bool nativeCasts = false;
};

} // namespace
} // namespace heed
