// Softmax of one row with its bound. Private to compiler/interpreter.
#pragma once

#include "compiler/interpreter/Real.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace heed {

/// Weights exp(s[i] − max) / sum of a row of scores. A score of −inf stands for a pair that is not kept: its
/// weight is −0.0. A NaN makes all other weights NaN.
class Softmax {
public:
  /// `sink`: one more score, which takes weight from the others and has none itself.
  explicit Softmax(llvm::ArrayRef<Real> scores, const Real *sink = nullptr);

  /// No pair is kept and there is no sink.
  bool isEmpty() const { return max == -std::numeric_limits<double>::infinity(); }
  bool isDropped(int64_t i) const { return weights[i] == 0 && std::signbit(weights[i]); }
  Real weight(int64_t i) const;
  /// Variance of weight i as far as it comes from score i alone, the sum held fixed.
  double ownVariance(int64_t i) const { return own[i]; }
  /// log(sum_i exp(s[i])); −inf where empty.
  Real logSumExp() const;

private:
  double max = 0, sum = 0;
  /// Variance of the sum over its square: from all scores, and with its roundings.
  double sumVariance = 0, largestVariance = 0;
  std::vector<double> weights, own;
};

} // namespace heed
