#include "compiler/passes/MaskIntegers.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace heed {

static MaskCases always(Form form) { return {{Condition::always(), {std::move(form)}}}; }

bool MaskIntegers::isInvariant(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber();
    if (number < 6)
      return number != 2 && number != 3;
    auto map = cast<AffineMapAttr>(context.readMaps[number - 6]).getValue();
    return !map.isFunctionOfDim(2) && !map.isFunctionOfDim(3);
  }
  Operation *op = value.getDefiningOp();
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) // of a table, at a place that is there if any pair is
    return llvm::all_of(extract.getIndices(), [](Value index) {
      auto argument = dyn_cast<BlockArgument>(index);
      return matchPattern(index, m_Constant()) || (argument && argument.getArgNumber() < 2);
    });
  return isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isInvariant(operand); });
}

bool MaskIntegers::isOpaque(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() >= 6;
  return llvm::any_of(value.getDefiningOp()->getOperands(), [&](Value operand) { return isOpaque(operand); });
}

std::optional<MaskCases> MaskIntegers::get(ArrayRef<Value> values) {
  MaskCases cases{{Condition::always(), {}}};
  for (Value value : values) {
    std::optional<MaskCases> next = getOne(value);
    if (!next)
      return std::nullopt;
    MaskCases product;
    for (const MaskCase &before : cases)
      for (const MaskCase &one : *next) {
        product.push_back({before.when && one.when, before.forms});
        product.back().forms.append(one.forms);
      }
    cases = std::move(product);
  }
  return cases;
}

std::optional<MaskCases> MaskIntegers::apply(ValueRange operands,
                                             function_ref<std::optional<MaskCases>(ArrayRef<Form>)> apply) {
  std::optional<MaskCases> cases = get(llvm::to_vector(operands));
  if (!cases)
    return std::nullopt;
  MaskCases result;
  for (const MaskCase &before : *cases) {
    std::optional<MaskCases> after = apply(before.forms);
    if (!after)
      return std::nullopt;
    for (const MaskCase &one : *after)
      result.push_back({before.when && one.when, one.forms});
  }
  return result;
}

MaskCases MaskIntegers::argument(BlockArgument argument) {
  auto offset = [](bool has, unsigned variable) { return has ? Form::variable(variable) : Form(0); };
  switch (argument.getArgNumber()) {
  case 0:
    return always(Form::variable(maskVariable::batch));
  case 1:
    return always(Form::variable(maskVariable::head));
  case 2:
    return always(Form::variable(maskVariable::query) +
                  offset(context.hasQueryOffset, maskVariable::queryOffset));
  case 3:
    return always(Form::variable(maskVariable::key) + offset(context.hasKeyOffset, maskVariable::keyOffset));
  case 4:
    return always(context.getQueryLength());
  default:
    return always(context.getKeyLength());
  }
}

std::optional<MaskCases> MaskIntegers::getOne(Value value) {
  if (value.getType().isInteger(1))
    return std::nullopt;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    int64_t number = constant.getSExtValue();
    return -largestPosition < number && number < largestPosition ? std::optional(always(number))
                                                                 : std::nullopt;
  }
  if (isInvariant(value) && isOpaque(value))
    return always(variables.symbol(value, /*isBoolean=*/false));
  if (auto blockArgument = dyn_cast<BlockArgument>(value))
    return blockArgument.getArgNumber() < 6 ? std::optional(argument(blockArgument)) : std::nullopt;

  // Quotient or rest of a division towards zero, by a constant of at least 1.
  auto divide = [&](ArrayRef<Form> operands, bool rest) -> std::optional<MaskCases> {
    const Form &x = operands[0];
    if (!operands[1].isConstant() || operands[1].constant < 1)
      return std::nullopt;
    int64_t divisor = operands[1].constant;
    Form up = variables.divide(x, divisor), down = variables.divide(x * -1, divisor) * -1;
    Condition positive = Condition::atLeastZero(x);
    return MaskCases{{positive, {rest ? x - up * divisor : up}},
                     {!positive, {rest ? x - down * divisor : down}}};
  };
  auto smaller = [](const Form &a, const Form &b) {
    Condition first = Condition::atLeastZero(b - a);
    return MaskCases{{first, {a}}, {!first, {b}}};
  };
  using Result = std::optional<MaskCases>;
  return TypeSwitch<Operation *, Result>(value.getDefiningOp())
      .Case<arith::IndexCastOp, arith::ExtSIOp>([&](auto op) { return getOne(op.getIn()); })
      .Case([&](arith::AddIOp op) {
        return apply(op->getOperands(), [&](ArrayRef<Form> in) -> Result { return always(in[0] + in[1]); });
      })
      .Case([&](arith::SubIOp op) {
        return apply(op->getOperands(), [&](ArrayRef<Form> in) -> Result { return always(in[0] - in[1]); });
      })
      .Case([&](arith::MulIOp op) {
        return apply(op->getOperands(), [&](ArrayRef<Form> in) -> Result {
          const Form &factor = in[1].isConstant() ? in[1] : in[0],
                     &other = in[1].isConstant() ? in[0] : in[1];
          if (!factor.isConstant())
            return std::nullopt;
          return always(other * factor.constant);
        });
      })
      .Case([&](arith::FloorDivSIOp op) {
        return apply(op->getOperands(), [&](ArrayRef<Form> in) -> Result {
          if (!in[1].isConstant() || in[1].constant < 1)
            return std::nullopt;
          return always(variables.divide(in[0], in[1].constant));
        });
      })
      .Case([&](arith::DivSIOp op) {
        return apply(op->getOperands(), [&](ArrayRef<Form> in) { return divide(in, /*rest=*/false); });
      })
      .Case([&](arith::RemSIOp op) {
        return apply(op->getOperands(), [&](ArrayRef<Form> in) { return divide(in, /*rest=*/true); });
      })
      .Case([&](arith::MinSIOp op) {
        return apply(op->getOperands(), [&](ArrayRef<Form> in) -> Result { return smaller(in[0], in[1]); });
      })
      .Case([&](arith::MaxSIOp op) {
        return apply(op->getOperands(), [&](ArrayRef<Form> in) -> Result {
          MaskCases negated = smaller(in[0] * -1, in[1] * -1);
          for (MaskCase &one : negated)
            one.forms[0] = one.forms[0] * -1;
          return negated;
        });
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace heed
