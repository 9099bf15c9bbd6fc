// A computed tensor against the oracle's; see Compare.h.
#include "compiler/interpreter/Compare.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace heed {

static constexpr double infinity = std::numeric_limits<double>::infinity();

double boundOf(FloatType type, Real x) {
  if (!std::isfinite(x.value))
    return 0;
  // A result that f32 cannot hold as a normal number may have become 0.
  return kConfidence * x.deviation() + rounding(type, x.value) + FLT_MIN;
}

namespace {
/// How one element stands: its error and bound, and whether it passes.
struct Verdict {
  double error, bound;
  bool passes;
};
} // namespace

static Verdict judge(FloatType type, Real expected, double computed) {
  double bound = boundOf(type, expected), error = std::fabs(computed - expected.value);
  if (std::isnan(expected.value))
    return {0, 0, std::isnan(computed)};
  if (std::isnan(computed))
    return {infinity, bound, false};
  if (std::isinf(computed)) {
    // Right where the oracle, or something within its bound, overflows the type on the same side.
    double reached =
        std::copysign(expected.value, computed) == expected.value ? std::fabs(expected.value) + bound : bound;
    return reached >= overflowOf(type) ? Verdict{0, bound, true} : Verdict{infinity, bound, false};
  }
  return {error, bound, error <= bound};
}

/// Where an intermediate left its type's range, right is what follows if it is kept, and what follows if it
/// is infinite; a kernel that keeps some and stores others may get an infinity where that is NaN.
static Verdict judge(FloatType type, Real kept, Real overflown, double computed) {
  Verdict verdict = judge(type, kept, computed);
  if (verdict.passes || std::isnan(kept.value))
    return verdict;
  if (std::isnan(overflown.value) && std::isinf(computed))
    return {0, verdict.bound, true};
  Verdict other = judge(type, overflown, computed);
  return other.passes ? other : verdict;
}

/// By the reading of the graph that the computed element agrees with, if there is one.
static Verdict judge(const Tensor &expected, int64_t at, double computed) {
  auto type = cast<FloatType>(expected.elementType);
  Verdict verdict = expected.overflown
                        ? judge(type, expected.real(at), expected.overflown->real(at), computed)
                        : judge(type, expected.real(at), computed);
  if (verdict.passes || !expected.leftOut)
    return verdict;
  Verdict other = judge(*expected.leftOut, at, computed);
  return other.passes ? other : verdict;
}

static std::string describe(const Tensor &tensor, int64_t at) {
  SmallVector<int64_t> coordinate(tensor.rank());
  for (int64_t dim = tensor.rank() - 1; dim >= 0; --dim) {
    coordinate[dim] = at % tensor.shape[dim];
    at /= tensor.shape[dim];
  }
  return "element " + showShape(coordinate);
}

static void addMismatch(Comparison &comparison, std::string message) {
  comparison.ok = false;
  if (comparison.mismatches++ == 0)
    comparison.message = std::move(message);
}

static void compareFloats(const Tensor &expected, const Tensor &computed, Comparison &comparison) {
  double worstRatio = -1;
  for (int64_t at = 0, size = expected.size(); at < size; ++at) {
    Real oracle = expected.real(at);
    if (std::isinf(oracle.variance) || (std::isfinite(oracle.value) && std::isnan(oracle.variance))) {
      ++comparison.unbounded;
      continue;
    }
    Verdict verdict = judge(expected, at, computed.values[at]);
    double ratio = verdict.error == 0 ? 0 : verdict.error / verdict.bound;
    comparison.largestError = std::fmax(comparison.largestError, verdict.error);
    if (ratio > worstRatio) {
      worstRatio = ratio;
      comparison.worst = at;
      comparison.error = verdict.error;
      comparison.bound = verdict.bound;
    }
    if (!verdict.passes)
      addMismatch(comparison,
                  llvm::formatv("{0}: expected {1:e8} within {2:e2}, but got {3:e8}", describe(expected, at),
                                oracle.value, verdict.bound, computed.values[at]));
  }
}

/// Whether candidate `b` may be chosen where the oracle chose `a`.
static bool mayReplace(const Tensor &candidates, int64_t a, int64_t b) {
  Real best = candidates.real(a), other = candidates.real(b);
  if (std::isnan(best.value) || std::isnan(other.value) || (best.variance == 0 && other.variance == 0))
    return a == b;
  double margin = best.value - other.value; // NaN where both are infinite
  return !(std::fabs(margin) > kConfidence * (best.deviation() + other.deviation()));
}

/// Whether the integer computed at `at` is the oracle's, or a choice as good.
static bool isRight(const Tensor &expected, const Tensor &computed, int64_t at) {
  int64_t oracle = expected.integers[at], got = computed.integers[at];
  const Tensor *candidates = expected.candidates.get();
  int64_t width = candidates ? candidates->dim(-1) : 0;
  if (oracle == got || width == 0)
    return oracle == got;
  int64_t perRow = expected.size() / (candidates->size() / width), row = at / perRow;
  bool isChosenTwice = llvm::is_contained(ArrayRef(computed.integers).slice(row * perRow, at % perRow), got);
  return got >= 0 && got < width && !isChosenTwice &&
         mayReplace(*candidates, row * width + oracle, row * width + got);
}

static void compareIntegers(const Tensor &expected, const Tensor &computed, Comparison &comparison) {
  for (int64_t at = 0, size = expected.size(); at < size; ++at)
    if (!isRight(expected, computed, at) &&
        !(expected.overflown && isRight(*expected.overflown, computed, at)) &&
        !(expected.leftOut && isRight(*expected.leftOut, computed, at)))
      addMismatch(comparison, llvm::formatv("{0}: expected {1}, but got {2}", describe(expected, at),
                                            expected.integers[at], computed.integers[at]));
}

Comparison compare(const Tensor &expected, const Tensor &computed) {
  Comparison comparison;
  if (expected.elementType != computed.elementType || expected.shape != computed.shape ||
      expected.size() != computed.size()) {
    llvm::raw_string_ostream message(comparison.message);
    message << "expected " << expected.elementType << " of shape " << showShape(expected.shape)
            << ", but got " << computed.elementType << " of shape " << showShape(computed.shape);
    comparison.ok = false;
    return comparison;
  }
  if (expected.isFloat())
    compareFloats(expected, computed, comparison);
  else
    compareIntegers(expected, computed, comparison);
  return comparison;
}

} // namespace heed
