// Sizes as formulas; see Formula.h.
#include "compiler/driver/Formula.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <fmt/format.h>

using namespace llvm;

namespace heed::driver {

namespace {
/// A formula, and whether it is a sum, which a product puts in parentheses.
struct Formula {
  std::string text;
  bool isSum = false;

  std::string factor() const { return isSum ? "(" + text + ")" : text; }
};

class Reader {
public:
  explicit Reader(DenseMap<mlir::Value, Formula> known) : known(std::move(known)) {}

  Formula read(mlir::Value value);

private:
  Formula read(mlir::AffineExpr expr, mlir::affine::AffineApplyOp apply);

  DenseMap<mlir::Value, Formula> known;
};
} // namespace

static Formula sum(const Formula &a, const Formula &b) {
  if (a.text == "0" || b.text == "0")
    return a.text == "0" ? b : a;
  return {a.text + " + " + b.text, true};
}

static bool isNumber(const Formula &formula) { return all_of(formula.text, isDigit); }

/// Numbers first and together.
static Formula product(Formula a, Formula b) {
  if (isNumber(b))
    std::swap(a, b);
  if (isNumber(a) && isNumber(b))
    return {std::to_string(std::stoll(a.text) * std::stoll(b.text))};
  if (a.text == "1")
    return b;
  size_t split = b.text.find("·");
  if (isNumber(a) && !b.isSum && split != std::string::npos && isNumber({b.text.substr(0, split)}))
    return {std::to_string(std::stoll(a.text) * std::stoll(b.text.substr(0, split))) + b.text.substr(split)};
  return {a.factor() + "·" + b.factor()};
}

static Formula call(StringRef name, const Formula &a, const Formula &b) {
  return {fmt::format("{}({}, {})", name, a.text, b.text)};
}

Formula Reader::read(mlir::AffineExpr expr, mlir::affine::AffineApplyOp apply) {
  if (auto constant = dyn_cast<mlir::AffineConstantExpr>(expr))
    return {std::to_string(constant.getValue())};
  if (auto dim = dyn_cast<mlir::AffineDimExpr>(expr))
    return read(apply.getMapOperands()[dim.getPosition()]);
  if (auto symbol = dyn_cast<mlir::AffineSymbolExpr>(expr))
    return read(apply.getMapOperands()[apply.getAffineMap().getNumDims() + symbol.getPosition()]);
  auto binary = cast<mlir::AffineBinaryOpExpr>(expr);
  Formula a = read(binary.getLHS(), apply), b = read(binary.getRHS(), apply);
  switch (expr.getKind()) {
  case mlir::AffineExprKind::Add:
    return sum(a, b);
  case mlir::AffineExprKind::Mul:
    return product(a, b);
  case mlir::AffineExprKind::CeilDiv:
    return {fmt::format("ceil({} / {})", a.factor(), b.factor())};
  case mlir::AffineExprKind::FloorDiv:
    return {fmt::format("floor({} / {})", a.factor(), b.factor())};
  default:
    return call("mod", a, b);
  }
}

Formula Reader::read(mlir::Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  APInt constant;
  if (matchPattern(value, mlir::m_ConstantInt(&constant)))
    return {std::to_string(constant.getSExtValue())};
  mlir::Operation *op = value.getDefiningOp();
  if (auto apply = dyn_cast<mlir::affine::AffineApplyOp>(op))
    return read(apply.getAffineMap().getResult(0), apply);
  auto operand = [&](unsigned i) { return read(op->getOperand(i)); };
  if (isa<mlir::arith::AddIOp>(op))
    return sum(operand(0), operand(1));
  if (isa<mlir::arith::MulIOp>(op))
    return product(operand(0), operand(1));
  if (isa<mlir::arith::CeilDivSIOp, mlir::arith::CeilDivUIOp>(op))
    return {fmt::format("ceil({} / {})", operand(0).factor(), operand(1).factor())};
  if (isa<mlir::arith::DivSIOp, mlir::arith::DivUIOp, mlir::arith::FloorDivSIOp>(op))
    return {fmt::format("floor({} / {})", operand(0).factor(), operand(1).factor())};
  if (isa<mlir::arith::MinSIOp, mlir::arith::MinUIOp>(op))
    return call("min", operand(0), operand(1));
  if (isa<mlir::arith::SelectOp>(op))
    return {fmt::format("({} ? {} : {})", operand(0).text, operand(1).text, operand(2).text)};
  if (auto compare = dyn_cast<mlir::arith::CmpIOp>(op)) {
    static constexpr const char *signs[] = {"=", "≠", "<", "≤", ">", "≥", "<", "≤", ">", "≥"};
    return {fmt::format("{} {} {}", operand(0).factor(), signs[static_cast<int>(compare.getPredicate())],
                        operand(1).factor())};
  }
  if (isa<mlir::arith::AndIOp, mlir::arith::OrIOp>(op) && value.getType().isInteger(1))
    return {fmt::format("({} {} {})", operand(0).text, isa<mlir::arith::AndIOp>(op) ? "and" : "or",
                        operand(1).text)};
  // No size is negative.
  if (isa<mlir::arith::MaxSIOp, mlir::arith::MaxUIOp>(op))
    return matchPattern(op->getOperand(1), mlir::m_Zero()) ? operand(0) : call("max", operand(0), operand(1));
  // (x + 63) & −64.
  if (auto mask = dyn_cast<mlir::arith::AndIOp>(op);
      mask && matchPattern(mask.getRhs(), mlir::m_ConstantInt(&constant)) && constant.isNegative())
    if (auto add = mask.getLhs().getDefiningOp<mlir::arith::AddIOp>())
      return {fmt::format("round_up({}, {})", read(add.getLhs()).text, (-constant).getSExtValue())};
  return {op->getName().getStringRef().str() + "(…)"};
}

std::string formulaOf(mlir::func::FuncOp function, ArrayRef<std::string> names) {
  DenseMap<mlir::Value, Formula> known;
  for (auto [argument, name] : zip_equal(function.getArguments(), names))
    known[argument] = {name};
  return Reader(std::move(known)).read(function.getBody().front().getTerminator()->getOperand(0)).text;
}

} // namespace heed::driver
