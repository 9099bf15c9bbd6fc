// Replaces elementary functions by arithmetic, so that emitted code needs no libm; see Passes.td.
#include "compiler/passes/MathFunctions.h"
#include "compiler/passes/Passes.h"
#include "compiler/target/Target.h"

#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace heed {
#define GEN_PASS_DEF_EXPANDMATH
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

using Unary = Expr (*)(Expr);
using Binary = Expr (*)(Expr, Expr);

/// What replaces an operation on f32; null where the target has it.
Unary findUnary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Unary>(op)
      .Case([](math::ExpOp) { return buildExp; })
      .Case([](math::Exp2Op op) {
        bool approximate = bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
        return approximate ? buildExp2Approximate : buildExp2;
      })
      .Case([](math::ExpM1Op) { return buildExpm1; })
      .Case([](math::LogOp) { return buildLog; })
      .Case([](math::Log2Op) { return buildLog2; })
      .Case([](math::Log1pOp) { return buildLog1p; })
      .Case([](math::TanhOp) { return buildTanh; })
      .Case([](math::ErfOp) { return buildErf; })
      .Case([](math::ErfcOp op) {
        bool approximate = bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
        return approximate ? buildErfcApproximate : nullptr;
      })
      .Case([](math::SinOp) { return buildSin; })
      .Case([](math::CosOp) { return buildCos; })
      .Case([](math::RsqrtOp) { return buildRsqrt; })
      .Default(nullptr);
}

Unary findRounding(Operation *op, const MathTarget &target) {
  if (isa<math::RoundOp>(op)) // which rounds halves away from zero, as no vector unit of x86 does
    return buildRound;
  if (target.round)
    return nullptr;
  return llvm::TypeSwitch<Operation *, Unary>(op)
      .Case([](math::FloorOp) { return buildFloor; })
      .Case([](math::CeilOp) { return buildCeil; })
      .Case([](math::TruncOp) { return buildTrunc; })
      .Case([](math::RoundEvenOp) { return buildRoundEven; })
      .Default(nullptr);
}

Binary findBinary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Binary>(op)
      .Case([](math::PowFOp) { return buildPow; })
      .Case([](arith::RemFOp) { return buildRem; })
      .Default(nullptr);
}

/// Whether code generators build it from instructions of the target.
bool isNative(Operation *op, const MathTarget &target) {
  if (isa<math::FmaOp>(op))
    return target.fma;
  return isa<math::AbsFOp, math::CopySignOp, math::SqrtOp, math::IsFiniteOp, math::IsInfOp, math::IsNaNOp,
             math::IsNormalOp, math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp>(op);
}

struct ExpandMath : impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    FailureOr<Target> machine = Target::of(getOperation());
    if (failed(machine))
      return signalPassFailure();
    target = {machine->hasFma, machine->hasRounding};

    RewritePatternSet patterns(&getContext());
    math::populateExpansionPatterns(patterns,
                                    {"tan", "sinh", "cosh", "asinh", "acosh", "atanh", "fpowi", "clampf"});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();

    SmallVector<Operation *> work;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::RemFOp, arith::MaxNumFOp, arith::MinNumFOp>(op) ||
          (isa<math::MathDialect>(op->getDialect()) && isOnFloats(op)))
        work.push_back(op);
    });
    for (Operation *op : work)
      if (failed(expand(op)))
        return signalPassFailure();
  }

private:
  static bool isOnFloats(Operation *op) { return isa<FloatType>(getElementTypeOrSelf(op->getOperand(0))); }

  /// Replaces `op`, or leaves it where the target has it.
  LogicalResult expand(Operation *op) {
    auto type = cast<FloatType>(getElementTypeOrSelf(op->getOperand(0)));
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    SmallVector<Expr, 3> operands;
    for (Value operand : op->getOperands())
      operands.emplace_back(builder, target, operand);

    // A comparison, where code generators may call fmaxf and fminf.
    if (isa<arith::MaxNumFOp>(op))
      return replace(op, buildMaxNum(operands[0], operands[1]));
    if (isa<arith::MinNumFOp>(op))
      return replace(op, buildMinNum(operands[0], operands[1]));
    Unary rounding = findRounding(op, target);
    if (rounding && type.getWidth() >= 32)
      return replace(op, rounding(operands[0]));
    bool native = isNative(op, target);
    if (native &&
        (type.getWidth() >= 32 || isa<math::AbsFOp, math::CopySignOp>(op))) // ExpandHalf has the latter
      return success();
    if (type.getWidth() > 32 || isa<TensorType>(op->getOperand(0).getType()))
      return op->emitOpError("expected f16, bf16 or f32 scalars or vectors, but got ")
             << op->getOperand(0).getType();

    for (Expr &operand : operands)
      operand = operand.toF32();
    if (rounding)
      return replace(op, rounding(operands[0]).toFloat(type));
    if (Unary unary = findUnary(op))
      return replace(op, unary(operands[0]).toFloat(type));
    if (Binary binary = findBinary(op))
      return replace(op, binary(operands[0], operands[1]).toFloat(type));
    if (isa<math::FmaOp>(op) && !target.fma)
      return replace(op, buildExactFma(operands[0], operands[1], operands[2]).toFloat(type));
    if (native)
      return replace(op, applyToSingle(op, operands));
    return op->emitOpError("expected an operation with an expansion");
  }

  /// A native operation on half precision, by way of f32.
  Value applyToSingle(Operation *op, ArrayRef<Expr> operands) {
    IRMapping mapping;
    for (auto [old, operand] : llvm::zip(op->getOperands(), operands))
      mapping.map(old, Value(operand));
    Operation *single = operands[0].getBuilder().clone(*op, mapping);
    Value result = single->getResult(0);
    if (!isa<FloatType>(getElementTypeOrSelf(result)))
      return result; // a classification
    Type half = getElementTypeOrSelf(result);
    result.setType(Value(operands[0]).getType());
    return operands[0].with(result).toFloat(half);
  }

  LogicalResult replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    ++numExpanded;
    return success();
  }

  MathTarget target;
};

} // namespace
} // namespace heed
