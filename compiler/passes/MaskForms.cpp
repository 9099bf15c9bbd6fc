#include "compiler/passes/MaskForms.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace heed {

Form Form::variable(unsigned number) {
  Form form;
  form.coefficients.resize(number + 1);
  form.coefficients[number] = 1;
  return form;
}

Form Form::operator+(const Form &other) const {
  Form sum = *this;
  sum.coefficients.resize(std::max(coefficients.size(), other.coefficients.size()));
  for (auto [variable, coefficient] : llvm::enumerate(other.coefficients))
    sum.coefficients[variable] += coefficient;
  sum.constant += other.constant;
  return sum;
}

Form Form::operator*(int64_t factor) const {
  Form product = *this;
  for (int64_t &coefficient : product.coefficients)
    coefficient *= factor;
  product.constant *= factor;
  return product;
}

bool Form::operator==(const Form &other) const {
  Form difference = *this - other;
  return difference.isConstant() && difference.constant == 0;
}

MaskVariables::MaskVariables() {
  for (StringRef name :
       {"q", "k", "q0", "q1", "query_len", "key_len", "query_offset", "key_offset", "batch", "head"})
    variables.emplace_back().name = name.str();
}

Form MaskVariables::divide(const Form &dividend, int64_t divisor) {
  if (divisor == 1)
    return dividend;
  if (dividend.isConstant())
    return llvm::divideFloorSigned(dividend.constant, divisor);
  const auto *first = llvm::find_if(dividend.coefficients, [](int64_t c) { return c != 0; });
  if (*first < 0) // of two forms for one quotient, the one that reads better
    return divide(dividend * -1 + (divisor - 1), divisor) * -1;
  for (auto [number, variable] : llvm::enumerate(variables))
    if (variable.divisor == divisor && variable.dividend == dividend)
      return Form::variable(number);
  Variable &added = variables.emplace_back();
  added.dividend = dividend;
  added.divisor = divisor;
  return Form::variable(variables.size() - 1);
}

Form MaskVariables::symbol(Value value, bool isBoolean) {
  unsigned count = 0;
  for (auto [number, variable] : llvm::enumerate(variables)) {
    if (variable.value == value)
      return Form::variable(number);
    count += variable.value != nullptr;
  }
  Variable &added = variables.emplace_back();
  added.name = "s" + std::to_string(count);
  added.value = value;
  added.isBoolean = isBoolean;
  return Form::variable(variables.size() - 1);
}

bool MaskVariables::isInvariant(unsigned variable) const {
  if (!isDivision(variable))
    return variable != maskVariable::query && variable != maskVariable::key;
  for (auto [other, coefficient] : llvm::enumerate(getDividend(variable).coefficients))
    if (coefficient != 0 && !isInvariant(other))
      return false;
  return true;
}

AffineExpr MaskVariables::getExpression(const Form &form, MLIRContext *context) const {
  AffineExpr sum = getAffineConstantExpr(form.constant, context);
  for (auto [variable, coefficient] : llvm::enumerate(form.coefficients)) {
    if (coefficient == 0)
      continue;
    AffineExpr term = isDivision(variable)
                          ? getExpression(getDividend(variable), context).floorDiv(getDivisor(variable))
                          : getAffineSymbolExpr(variable, context);
    sum = sum + term * coefficient;
  }
  return sum;
}

int64_t MaskVariables::evaluate(const Form &form, ArrayRef<int64_t> values) const {
  int64_t sum = form.constant;
  for (auto [variable, coefficient] : llvm::enumerate(form.coefficients)) {
    if (coefficient == 0)
      continue;
    int64_t value = isDivision(variable) ? llvm::divideFloorSigned(evaluate(getDividend(variable), values),
                                                                   getDivisor(variable))
                                         : values[variable];
    sum += coefficient * value;
  }
  return sum;
}

std::string MaskVariables::print(const Form &form) const {
  std::string text;
  auto add = [&](int64_t coefficient, const std::string &term) {
    if (!text.empty())
      text += coefficient < 0 ? " − " : " + ";
    else if (coefficient < 0)
      text += "−";
    int64_t size = std::abs(coefficient);
    if (term.empty())
      text += std::to_string(size);
    else
      text += (size == 1 ? "" : std::to_string(size) + "·") + term;
  };
  for (auto [variable, coefficient] : llvm::enumerate(form.coefficients)) {
    if (coefficient == 0)
      continue;
    if (!isDivision(variable)) {
      add(coefficient, variables[variable].name);
      continue;
    }
    std::string dividend = print(getDividend(variable));
    bool isSum = StringRef(dividend).contains(' ');
    add(coefficient,
        "⌊" + (isSum ? "(" + dividend + ")" : dividend) + "/" + std::to_string(getDivisor(variable)) + "⌋");
  }
  if (form.constant != 0 || text.empty())
    add(form.constant, "");
  return text;
}

} // namespace heed
