// Softmax of one row with its bound; see Softmax.h.
#include "compiler/interpreter/Softmax.h"

#include <algorithm>

namespace heed {

static constexpr double infinity = std::numeric_limits<double>::infinity();

Softmax::Softmax(llvm::ArrayRef<Real> scores, const Real *sink) {
  std::vector<Real> row(scores.begin(), scores.end());
  if (sink)
    row.push_back(*sink);
  size_t largest = 0;
  max = -infinity;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i].value > max)
      largest = i;
    max = std::isnan(row[i].value) || std::isnan(max) ? NAN : std::max(max, row[i].value);
  }
  weights.resize(row.size());
  own.resize(row.size());
  if (isEmpty())
    return;

  double partials = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    weights[i] = row[i].value == -infinity ? -0.0 : std::exp(row[i].value - max);
    sum += weights[i];
    partials += sum;
  }

  // Which maximum is subtracted cancels, unless another score may take its place.
  double maxReach = kConfidence * row[largest].deviation();
  for (size_t i = 0; i < row.size(); ++i) {
    double score = row[i].value;
    if (score == -infinity)
      continue;
    weights[i] /= sum;
    // The score, rounded once more when the scale of a base-2 exponential is folded in; then the exponential.
    double reach = kConfidence * std::sqrt(row[i].variance + square(score * kUnitF32));
    if (maxReach > 1 && i != largest)
      reach += maxReach;
    // No weight moves by more than 1, however uncertain its score is.
    double moved = std::min((std::exp(score - max + reach) - std::exp(score - max)) / sum, 1.0);
    if (score + reach >= max - maxReach)
      largestVariance = std::max(largestVariance, square(reach / kConfidence));
    own[i] = square(moved / kConfidence) + roundingF32(weights[i], 4);
    sumVariance += own[i];
  }
  sumVariance += square(partials / sum * kUnitF32 / kConfidence);
}

Real Softmax::weight(int64_t i) const {
  if (isDropped(i))
    return {-0.0};
  // The weight's own part moves numerator and sum alike.
  double variance = own[i] * std::max(1 - 2 * weights[i], 0.0) + square(weights[i]) * sumVariance;
  return roundF32(weights[i], std::min(variance, square(1 / kConfidence)), 2);
}

Real Softmax::logSumExp() const {
  if (isEmpty())
    return {-infinity};
  // It moves by no more than the scores near the maximum do.
  return roundF32(max + std::log(sum), sumVariance + largestVariance + roundingF32(max, 2), 4);
}

} // namespace heed
