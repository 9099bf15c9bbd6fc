// A computed tensor against the oracle's, element by element, each with its own bound.
#pragma once

#include "compiler/interpreter/Tensor.h"

#include <string>

namespace heed {

/// Of all elements, the one whose error comes closest to its bound, and whether one exceeds it.
struct Comparison {
  bool ok = true;
  /// Of the element with the largest error / bound; both 0 where all elements are exact.
  double error = 0, bound = 0;
  int64_t worst = -1;
  /// Largest error of all elements.
  double largestError = 0;
  /// Elements that differ by more than their bounds.
  int64_t mismatches = 0;
  /// Elements of which nothing is known, because an order of summation overflows; they always pass.
  int64_t unbounded = 0;
  /// "element [1, 2]: expected 0.5 within 1e-6, but got 0.7" for the first mismatch; why shapes or types
  /// differ.
  std::string message;
};

/// How far a computed element of `type` may be from the oracle's x: kConfidence standard deviations of the
/// rounding errors on the way, and one rounding to the type.
double boundOf(mlir::FloatType type, Real x);

/// Compares under the oracle's bounds. A NaN must be a NaN and nothing else may be one; infinities must
/// agree. Integers must be equal, save where `expected` was chosen: another choice passes if its candidate is
/// as large as the oracle's within their bounds, and equal exact candidates take the lowest index.
Comparison compare(const Tensor &expected, const Tensor &computed);

} // namespace heed
