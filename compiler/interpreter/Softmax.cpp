// Softmax of one row with its bound; see Softmax.h.
#include "compiler/interpreter/Softmax.h"

#include <algorithm>

namespace heed {

static constexpr double infinity = std::numeric_limits<double>::infinity();

Softmax::Softmax(llvm::ArrayRef<Real> scores, const Real *sink) {
  std::vector<Real> row(scores.begin(), scores.end());
  if (sink)
    row.push_back(*sink);
  max = -infinity;
  for (const Real &score : row)
    max = std::isnan(score.value) || std::isnan(max) ? NAN : std::max(max, score.value);
  exponentials.resize(row.size());
  relative.resize(row.size());
  if (isEmpty())
    return;

  double partials = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    double score = row[i].value;
    exponentials[i] = score == -infinity ? -0.0 : std::exp(score - max);
    if (score == -infinity)
      continue;
    sum += exponentials[i];
    partials += sum;
    // The score, rounded once more when the scale of a base-2 exponential is folded in; then the exponential.
    double exponent = std::min(row[i].variance + square(2 * score * kUnitF32), 1.0);
    relative[i] = exponent + square(4 * kUnitF32) + square(exponentials[i] < FLT_MIN ? 1 : 0);
    fromScores += square(exponentials[i]) * relative[i];
  }
  fromScores /= square(sum);
  relativeSum = fromScores + square(partials / sum * kUnitF32 / 4);
}

Real Softmax::weight(int64_t i) const {
  if (isDropped(i))
    return {-0.0};
  double weight = exponentials[i] / sum;
  // The weight's own part moves numerator and sum alike.
  double variance = square(weight) * (relative[i] * std::max(1 - 2 * weight, 0.0) + relativeSum);
  return roundF32(weight, std::min(variance, 1.0), 2);
}

Real Softmax::logSumExp() const {
  if (isEmpty())
    return {-infinity};
  return roundF32(max + std::log(sum), relativeSum + square(max * kUnitF32), 4);
}

} // namespace heed
