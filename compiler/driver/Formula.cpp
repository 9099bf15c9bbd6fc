// Sizes as formulas; see Formula.h.
#include "compiler/driver/Formula.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <fmt/format.h>

using namespace llvm;

namespace heed::driver {

namespace {
class Reader {
public:
  explicit Reader(DenseMap<mlir::Value, Formula> known) : known(std::move(known)) {}

  Formula read(mlir::Value value);

private:
  /// An expression of a map over `operands`, of which the first `numDims` are its dimensions.
  Formula read(mlir::AffineExpr expr, mlir::ValueRange operands, unsigned numDims);
  Formula readExtreme(mlir::AffineMap map, mlir::ValueRange operands,
                      function_ref<Formula(const Formula &, const Formula &)> extreme);

  DenseMap<mlir::Value, Formula> known;
};
} // namespace

static Formula sum(const Formula &a, const Formula &b) {
  if (a.text == "0" || b.text == "0")
    return a.text == "0" ? b : a;
  return {a.text + " + " + b.text, a.value + b.value, /*isSum=*/true};
}

static Formula number(int64_t value) { return {std::to_string(value), static_cast<double>(value)}; }

static bool isNumber(StringRef text) { return all_of(text, isDigit); }

/// Numbers first and together.
static Formula product(Formula a, Formula b) {
  if (isNumber(b.text))
    std::swap(a, b);
  if (isNumber(a.text) && isNumber(b.text))
    return number(std::stoll(a.text) * std::stoll(b.text));
  if (a.text == "1")
    return b;
  double value = a.value * b.value;
  size_t split = b.text.find("·");
  if (isNumber(a.text) && !b.isSum && split != std::string::npos && isNumber(b.text.substr(0, split)))
    return {std::to_string(std::stoll(a.text) * std::stoll(b.text.substr(0, split))) + b.text.substr(split),
            value};
  return {a.factor() + "·" + b.factor(), value};
}

static Formula quotient(StringRef rounding, const Formula &a, const Formula &b) {
  double value = a.value / b.value;
  return {fmt::format("{}({} / {})", rounding, a.factor(), b.factor()),
          rounding == "ceil" ? std::ceil(value) : std::floor(value)};
}

static Formula call(StringRef name, const Formula &a, const Formula &b, double value) {
  return {fmt::format("{}({}, {})", name, a.text, b.text), std::isnan(a.value + b.value) ? NAN : value};
}

static Formula compare(mlir::arith::CmpIPredicate predicate, const Formula &a, const Formula &b) {
  using P = mlir::arith::CmpIPredicate;
  static constexpr const char *signs[] = {"=", "≠", "<", "≤", ">", "≥", "<", "≤", ">", "≥"};
  bool isLess = a.value < b.value, isEqual = a.value == b.value, holds;
  if (predicate == P::eq || predicate == P::ne)
    holds = isEqual == (predicate == P::eq);
  else if (predicate == P::slt || predicate == P::ult || predicate == P::sge || predicate == P::uge)
    holds = isLess == (predicate == P::slt || predicate == P::ult);
  else
    holds = (isLess || isEqual) == (predicate == P::sle || predicate == P::ule);
  return {fmt::format("{} {} {}", a.factor(), signs[static_cast<int>(predicate)], b.factor()),
          std::isnan(a.value + b.value) ? NAN : double(holds)};
}

static Formula least(const Formula &a, const Formula &b) {
  return call("min", a, b, std::min(a.value, b.value));
}

/// No size is negative.
static Formula greatest(const Formula &a, const Formula &b) {
  return b.text == "0" || b.text == a.text ? a : call("max", a, b, std::max(a.value, b.value));
}

Formula Reader::read(mlir::AffineExpr expr, mlir::ValueRange operands, unsigned numDims) {
  if (auto constant = dyn_cast<mlir::AffineConstantExpr>(expr))
    return number(constant.getValue());
  if (auto dim = dyn_cast<mlir::AffineDimExpr>(expr))
    return read(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<mlir::AffineSymbolExpr>(expr))
    return read(operands[numDims + symbol.getPosition()]);
  auto binary = cast<mlir::AffineBinaryOpExpr>(expr);
  Formula a = read(binary.getLHS(), operands, numDims), b = read(binary.getRHS(), operands, numDims);
  switch (expr.getKind()) {
  case mlir::AffineExprKind::Add:
    return sum(a, b);
  case mlir::AffineExprKind::Mul:
    return product(a, b);
  case mlir::AffineExprKind::CeilDiv:
    return quotient("ceil", a, b);
  case mlir::AffineExprKind::FloorDiv:
    return quotient("floor", a, b);
  default:
    return call("mod", a, b, a.value - b.value * std::floor(a.value / b.value));
  }
}

Formula Reader::readExtreme(mlir::AffineMap map, mlir::ValueRange operands,
                            function_ref<Formula(const Formula &, const Formula &)> extreme) {
  auto read = [&](mlir::AffineExpr expr) { return this->read(expr, operands, map.getNumDims()); };
  Formula result = read(map.getResult(0));
  for (mlir::AffineExpr expr : map.getResults().drop_front())
    result = extreme(result, read(expr));
  return result;
}

Formula Reader::read(mlir::Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  APInt constant;
  if (matchPattern(value, mlir::m_ConstantInt(&constant)))
    return number(constant.getSExtValue());
  mlir::Operation *op = value.getDefiningOp();
  if (auto apply = dyn_cast<mlir::affine::AffineApplyOp>(op))
    return read(apply.getAffineMap().getResult(0), apply.getMapOperands(), apply.getAffineMap().getNumDims());
  if (auto min = dyn_cast<mlir::affine::AffineMinOp>(op))
    return readExtreme(min.getMap(), min.getOperands(), least);
  if (auto max = dyn_cast<mlir::affine::AffineMaxOp>(op))
    return readExtreme(max.getMap(), max.getOperands(), greatest);
  auto operand = [&](unsigned i) { return read(op->getOperand(i)); };
  if (isa<mlir::arith::AddIOp>(op))
    return sum(operand(0), operand(1));
  if (isa<mlir::arith::MulIOp>(op))
    return product(operand(0), operand(1));
  if (isa<mlir::arith::CeilDivSIOp, mlir::arith::CeilDivUIOp>(op))
    return quotient("ceil", operand(0), operand(1));
  if (isa<mlir::arith::DivSIOp, mlir::arith::DivUIOp, mlir::arith::FloorDivSIOp>(op))
    return quotient("floor", operand(0), operand(1));
  if (isa<mlir::arith::SelectOp>(op)) {
    Formula condition = operand(0), a = operand(1), b = operand(2);
    return {fmt::format("({} ? {} : {})", condition.text, a.text, b.text), std::isnan(condition.value) ? NAN
                                                                           : condition.value != 0 ? a.value
                                                                                                  : b.value};
  }
  if (isa<mlir::arith::MinSIOp, mlir::arith::MinUIOp>(op))
    return least(operand(0), operand(1));
  if (isa<mlir::arith::MaxSIOp, mlir::arith::MaxUIOp>(op))
    return greatest(operand(0), operand(1));
  if (auto comparison = dyn_cast<mlir::arith::CmpIOp>(op))
    return compare(comparison.getPredicate(), operand(0), operand(1));
  if (isa<mlir::arith::AndIOp, mlir::arith::OrIOp>(op) && value.getType().isInteger(1)) {
    Formula a = operand(0), b = operand(1);
    bool isAnd = isa<mlir::arith::AndIOp>(op);
    return {fmt::format("({} {} {})", a.text, isAnd ? "and" : "or", b.text),
            isAnd ? a.value * b.value : std::max(a.value, b.value + 0 * a.value)};
  }
  // (x + 63) & −64.
  if (auto mask = dyn_cast<mlir::arith::AndIOp>(op);
      mask && matchPattern(mask.getRhs(), mlir::m_ConstantInt(&constant)) && constant.isNegative())
    if (auto add = mask.getLhs().getDefiningOp<mlir::arith::AddIOp>()) {
      Formula size = read(add.getLhs()), step = number((-constant).getSExtValue());
      return call("round_up", size, step, std::ceil(size.value / step.value) * step.value);
    }
  if (auto call = dyn_cast<mlir::func::CallOp>(op)) // a layer's workspace is part of its caller's
    if (auto callee =
            mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(op, call.getCalleeAttr())) {
      SmallVector<Formula> arguments;
      for (mlir::Value argument : call.getOperands())
        arguments.push_back(read(argument));
      return formulaOf(callee, arguments);
    }
  return {op->getName().getStringRef().str() + "(…)"};
}

Formula formulaOf(mlir::func::FuncOp function, ArrayRef<Formula> arguments) {
  DenseMap<mlir::Value, Formula> known;
  for (auto [argument, formula] : zip_equal(function.getArguments(), arguments))
    known[argument] = formula;
  return Reader(std::move(known)).read(function.getBody().front().getTerminator()->getOperand(0));
}

} // namespace heed::driver
