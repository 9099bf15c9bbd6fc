// The integers of a keep region as affine forms, case by case.
#pragma once

#include "compiler/passes/MaskConditions.h"

namespace heed {

/// What some integers are under a condition.
struct MaskCase {
  Condition when;
  llvm::SmallVector<Form, 4> forms; ///< one per integer
};
using MaskCases = llvm::SmallVector<MaskCase, 2>;

class MaskIntegers {
public:
  MaskIntegers(const MaskContext &context, MaskVariables &variables)
      : context(context), variables(variables) {}

  /// `values` as forms, in cases of which exactly one holds; none where one of them is not affine.
  std::optional<MaskCases> get(llvm::ArrayRef<mlir::Value> values);

  /// Whether no query and no key changes `value`, and it may be computed although no pair asks for it.
  bool isInvariant(mlir::Value value) const;
  /// Whether `value`, invariant, depends on what is read: then it stays whole, as a symbol.
  bool isOpaque(mlir::Value value) const;

private:
  MaskCases argument(mlir::BlockArgument argument);
  std::optional<MaskCases> getOne(mlir::Value value);
  /// The cases of `operands` with forms replaced by what `apply` makes of them.
  std::optional<MaskCases> apply(mlir::ValueRange operands,
                                 llvm::function_ref<std::optional<MaskCases>(llvm::ArrayRef<Form>)> apply);

  const MaskContext &context;
  MaskVariables &variables;
};

} // namespace heed
