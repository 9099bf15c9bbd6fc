// Affine forms over what the analysis of masks knows: a pair's position, a tile, lengths, and symbols.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"

#include <string>

namespace heed {

/// The variables that every analysis has; their numbers are columns. Positions count from the first row of
/// the tensors, offsets are added by those who ask for the absolute index. Divisions and symbols follow.
namespace maskVariable {
enum : unsigned {
  query,
  key,
  tileBegin, ///< first query of the tile
  tileEnd,   ///< one past its last
  queryLength,
  keyLength, ///< valid keys of the batch entry
  queryOffset,
  keyOffset,
  batch,
  head,
  firstFree
};
} // namespace maskVariable

/// No two positions are as far apart; sums of a few such numbers do not overflow.
inline constexpr int64_t largestPosition = int64_t(1) << 50;

/// A sum of variables with integer coefficients, and a constant.
struct Form {
  llvm::SmallVector<int64_t, 12> coefficients; ///< by variable; what is missing is 0
  int64_t constant = 0;

  Form() = default;
  Form(int64_t constant) : constant(constant) {}
  static Form variable(unsigned number);

  int64_t coefficient(unsigned variable) const {
    return variable < coefficients.size() ? coefficients[variable] : 0;
  }
  bool isConstant() const {
    return llvm::all_of(coefficients, [](int64_t c) { return c == 0; });
  }
  Form operator+(const Form &other) const;
  Form operator-(const Form &other) const { return *this + other * -1; }
  Form operator*(int64_t factor) const;
  bool operator==(const Form &other) const;
};

/// The variables of one analysis.
class MaskVariables {
public:
  MaskVariables();

  size_t size() const { return variables.size(); }
  /// floor(dividend / divisor), divisor >= 1; one variable for equal divisions.
  Form divide(const Form &dividend, int64_t divisor);
  /// An integer of the region that no query and no key changes; `isBoolean`: 0 or 1.
  Form symbol(mlir::Value value, bool isBoolean);

  bool isDivision(unsigned variable) const { return variables[variable].divisor != 0; }
  const Form &getDividend(unsigned variable) const { return variables[variable].dividend; }
  int64_t getDivisor(unsigned variable) const { return variables[variable].divisor; }
  /// The value inside of the region that a symbol stands for, null for the others.
  mlir::Value getValue(unsigned variable) const { return variables[variable].value; }
  bool isBoolean(unsigned variable) const { return variables[variable].isBoolean; }
  /// Whether the variable is the same for all pairs of a tile.
  bool isInvariant(unsigned variable) const;

  /// `form` as an expression of which variable v is symbol v.
  mlir::AffineExpr getExpression(const Form &form, mlir::MLIRContext *context) const;
  /// The value of `form`; `values`: one per variable that is not a division.
  int64_t evaluate(const Form &form, llvm::ArrayRef<int64_t> values) const;
  /// As text: `q1 − 64·⌊q0/64⌋ + 1`.
  std::string print(const Form &form) const;

private:
  struct Variable {
    std::string name;
    mlir::Value value;
    bool isBoolean = false;
    Form dividend;
    int64_t divisor = 0;
  };
  std::vector<Variable> variables;
};

} // namespace heed
