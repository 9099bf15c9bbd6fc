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
  bool isDropped(int64_t i) const { return exponentials[i] == 0 && std::signbit(exponentials[i]); }
  Real weight(int64_t i) const;
  /// Variance of weight i over its square, as far as it comes from score i alone.
  double relativeVariance(int64_t i) const { return relative[i]; }
  /// Variance of all weights over their squares that the sum causes.
  double sumVariance() const { return relativeSum; }
  /// log(sum_i exp(s[i])); −inf where empty.
  Real logSumExp() const;

private:
  double max = 0, sum = 0, relativeSum = 0, fromScores = 0;
  std::vector<double> exponentials, relative;
};

} // namespace heed
