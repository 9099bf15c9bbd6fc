#include "compiler/passes/MaskIntegers.h"
#include "compiler/target/Dimensions.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace heed {

Condition Condition::atLeastZero(Form form) {
  if (form.isConstant())
    return form.constant >= 0 ? always() : never();
  return {Kind::atLeastZero, std::move(form), {}};
}

Condition Condition::equal(const Form &a, const Form &b) { return atLeastZero(a - b) && atLeastZero(b - a); }

Condition Condition::operator!() const {
  if (kind == Kind::unknown)
    return *this;
  if (kind == Kind::atLeastZero)
    return atLeastZero(form * -1 - 1);
  Condition result{kind == Kind::all ? Kind::any : Kind::all, {}, {}};
  for (const Condition &part : parts)
    result.parts.push_back(!part);
  return result;
}

Condition Condition::operator&&(const Condition &other) const { return {Kind::all, {}, {*this, other}}; }
Condition Condition::operator||(const Condition &other) const { return {Kind::any, {}, {*this, other}}; }

MaskContext MaskContext::of(attn::AttentionOp op, int64_t tileRows) {
  attn::AttentionLayout letters = op.getLetters();
  auto sizeOf = [](Value tensor, StringRef in, char letter) -> std::optional<int64_t> {
    int64_t size = cast<ShapedType>(tensor.getType()).getDimSize(attn::AttentionLayout::find(in, letter));
    return ShapedType::isDynamic(size) ? std::nullopt : std::optional(size);
  };
  MaskContext context{&op.getKeep(),
                      op.getReadMaps(),
                      sizeOf(op.getQuery(), letters.query, 'q'),
                      std::nullopt,
                      /*isSquare=*/false,
                      op.getQueryOffset() != nullptr,
                      op.getKeyOffset() != nullptr,
                      tileRows};
  if (!op.getKeyLengths()) {
    context.keyLength = sizeOf(op.getKey(), letters.key, 'k');
    context.isSquare = areEqual(op.getQuery(), attn::AttentionLayout::find(letters.query, 'q'), op.getKey(),
                                attn::AttentionLayout::find(letters.key, 'k'));
  }
  return context;
}

Form MaskContext::getQueryLength() const {
  return queryLength ? Form(*queryLength) : Form::variable(maskVariable::queryLength);
}
Form MaskContext::getKeyLength() const {
  if (isSquare)
    return getQueryLength();
  return keyLength ? Form(*keyLength) : Form::variable(maskVariable::keyLength);
}

namespace {

class Translator {
public:
  Translator(const MaskContext &context, MaskVariables &variables, std::vector<MaskGap> &gaps)
      : variables(variables), gaps(gaps), integers(context, variables) {}

  Condition translate(Value value);

private:
  /// What `decide` says of the forms of `operands`, case by case; a gap at `value` where they are not affine.
  Condition decide(Value value, ValueRange operands, function_ref<Condition(ArrayRef<Form>)> decide);
  Condition addGap(Value value);

  MaskVariables &variables;
  std::vector<MaskGap> &gaps;
  MaskIntegers integers;
};

} // namespace

static Condition compare(arith::CmpIPredicate predicate, const Form &a, const Form &b) {
  using Predicate = arith::CmpIPredicate;
  auto atLeast = [](const Form &x, const Form &y) { return Condition::atLeastZero(x - y); };
  switch (predicate) {
  case Predicate::eq:
    return Condition::equal(a, b);
  case Predicate::ne:
    return !Condition::equal(a, b);
  case Predicate::sge:
    return atLeast(a, b);
  case Predicate::slt:
    return !atLeast(a, b);
  case Predicate::uge: { // a negative number is larger than all others
    Condition aNegative = !atLeast(a, 0), bNegative = !atLeast(b, 0);
    return (aNegative && !bNegative) || (atLeast(a, b) && (aNegative || !bNegative));
  }
  case Predicate::ult:
    return !compare(Predicate::uge, a, b);
  case Predicate::sle:
    return compare(Predicate::sge, b, a);
  case Predicate::sgt:
    return compare(Predicate::slt, b, a);
  case Predicate::ule:
    return compare(Predicate::uge, b, a);
  case Predicate::ugt:
    return compare(Predicate::ult, b, a);
  }
  llvm_unreachable("every predicate is handled");
}

Condition Translator::addGap(Value value) {
  if (integers.isInvariant(value))
    return Condition::atLeastZero(variables.symbol(value, /*isBoolean=*/true) - 1);
  Operation *op = value.getDefiningOp();
  std::string reason = "a tensor over queries and keys";
  if (op)
    reason = (op->getName().getStringRef() + (isa<attn::SameDocumentOp, arith::CmpIOp>(op)
                                                  ? " compares what is read by query or key"
                                                  : " is not affine in query and key"))
                 .str();
  gaps.push_back({op, std::move(reason)});
  return Condition::unknown();
}

Condition Translator::decide(Value value, ValueRange operands,
                             function_ref<Condition(ArrayRef<Form>)> decide) {
  std::optional<MaskCases> cases = integers.get(llvm::to_vector(operands));
  if (!cases)
    return addGap(value);
  Condition result = Condition::never();
  for (const MaskCase &one : *cases)
    result = result || (one.when && decide(one.forms));
  return result;
}

Condition Translator::translate(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isZero() ? Condition::never() : Condition::always();
  Operation *op = value.getDefiningOp();
  if (!op || (integers.isInvariant(value) && integers.isOpaque(value)))
    return addGap(value);
  return TypeSwitch<Operation *, Condition>(op)
      .Case([&](arith::AndIOp op) { return translate(op.getLhs()) && translate(op.getRhs()); })
      .Case([&](arith::OrIOp op) { return translate(op.getLhs()) || translate(op.getRhs()); })
      .Case([&](arith::XOrIOp op) {
        Condition a = translate(op.getLhs()), b = translate(op.getRhs());
        return (a && !b) || (!a && b);
      })
      .Case([&](arith::SelectOp op) {
        Condition chosen = translate(op.getCondition());
        return (chosen && translate(op.getTrueValue())) || (!chosen && translate(op.getFalseValue()));
      })
      .Case([&](arith::CmpIOp op) {
        return decide(value, op->getOperands(),
                      [&](ArrayRef<Form> in) { return compare(op.getPredicate(), in[0], in[1]); });
      })
      .Case([&](attn::CausalOp op) {
        return decide(value, op->getOperands(), [&](ArrayRef<Form> in) {
          Form shift = op.getAlignment() == attn::Alignment::BottomRight ? in[3] - in[2] : Form(0);
          return Condition::atLeastZero(in[0] + shift - in[1]);
        });
      })
      .Case([&](attn::WindowOp op) {
        return decide(value, op->getOperands(), [&](ArrayRef<Form> in) {
          auto within = [](int64_t bound, const Form &distance) {
            return bound > largestPosition ? Condition::always()
                                           : Condition::atLeastZero(Form(bound) - distance);
          };
          return within(op.getBefore(), in[0] - in[1]) && within(op.getAfter(), in[1] - in[0]);
        });
      })
      .Case([&](attn::PrefixOp op) {
        return decide(value, op->getOperands(),
                      [&](ArrayRef<Form> in) { return !Condition::atLeastZero(in[0] - in[1]); });
      })
      .Case([&](attn::ChunkOp op) {
        return decide(value, op->getOperands(), [&](ArrayRef<Form> in) {
          int64_t width = op.getWidth();
          if (width > largestPosition)
            return addGap(value);
          return Condition::equal(variables.divide(in[0], width), variables.divide(in[1], width));
        });
      })
      .Case([&](attn::DilatedOp op) {
        return decide(value, op->getOperands(), [&](ArrayRef<Form> in) {
          int64_t step = op.getStep();
          if (step > largestPosition)
            return addGap(value);
          Form distance = in[0] - in[1];
          return Condition::equal(distance, variables.divide(distance, step) * step);
        });
      })
      .Case([&](attn::SameDocumentOp op) {
        return decide(value, op->getOperands(),
                      [&](ArrayRef<Form> in) { return Condition::equal(in[0], in[1]); });
      })
      .Default([&](Operation *) { return addGap(value); });
}

Condition translateMask(const MaskContext &context, MaskVariables &variables, std::vector<MaskGap> &gaps) {
  Value kept = context.keep->front().getTerminator()->getOperand(0);
  return Translator(context, variables, gaps).translate(kept);
}

} // namespace heed
