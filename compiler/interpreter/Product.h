// Products of matrices with their bounds, for all ops that have one. Private to compiler/interpreter.
#pragma once

#include "compiler/interpreter/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace heed {

/// A matrix inside a tensor: element (row, column) lies at offset + row · rowStride + column · columnStride.
struct MatrixView {
  const Tensor &tensor;
  int64_t offset, rowStride, columnStride;

  int64_t at(int64_t row, int64_t column) const { return offset + row * rowStride + column * columnStride; }
};

/// Calls `emit(m, n, sum_k lhs[m, k] · rhs[k, n])` for every element. With `masked`, a factor of lhs that is
/// −0.0 contributes nothing, whatever rhs holds.
void multiply(int64_t rows, int64_t inner, int64_t columns, MatrixView lhs, MatrixView rhs, bool masked,
              llvm::function_ref<void(int64_t, int64_t, Real)> emit);

} // namespace heed
