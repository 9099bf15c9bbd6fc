// The oracle's numbers: a value in double precision beside how far f32 code may be from it.
#pragma once

#include <cfloat>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace heed {

/// Half the spacing of f32 numbers, relative.
constexpr double kUnitF32 = 0x1p-24;
/// f32 overflows from here on: half a step above its largest number.
constexpr double kOverflowF32 = 0x1.ffffffp127;
/// A stated bound is so many standard deviations.
constexpr double kConfidence = 8;

inline double square(double x) { return x * x; }

/// A value, and the variance of what evaluation in f32 may differ from it.
///
/// Rounding errors count as independent with mean 0, so variances add up and the bound of a deep graph grows
/// as its real error does; a worst-case bound would grow exponentially and let wrong kernels pass. Source:
/// Higham and Mary 2019, "A new approach to probabilistic rounding error analysis".
struct Real {
  double value = 0, variance = 0;

  Real() = default;
  Real(double value, double variance = 0) : value(value), variance(variance) {}

  double deviation() const { return std::sqrt(variance); }
};

/// While one lives, the rounding errors of its thread are made, at random, instead of counted: operands have
/// no variance then, and what an operation would add to its result's moves its value. Repeated runs show what
/// becomes of errors that several results share, which independent variances cannot say.
class Perturbation {
public:
  /// `noise` gives numbers evenly distributed over [-1, 1].
  explicit Perturbation(std::function<double()> noise) : noise(std::move(noise)) { current = this; }
  Perturbation(const Perturbation &) = delete;
  Perturbation &operator=(const Perturbation &) = delete;
  ~Perturbation() { current = nullptr; }

  static Real settle(Real x) {
    if (current && x.variance > 0 && std::isfinite(x.variance))
      return {x.value + std::sqrt(3 * x.variance) * current->noise()};
    return x;
  }

private:
  std::function<double()> noise;
  static inline thread_local Perturbation *current = nullptr;
};

/// What a graph says may be read in two ways, of which compiled code may follow either. While one of these
/// lives, its thread computes by the second. `Of` tells one question from another.
template <class Of> class SecondReading {
public:
  SecondReading() { isActive = true; }
  SecondReading(const SecondReading &) = delete;
  SecondReading &operator=(const SecondReading &) = delete;
  ~SecondReading() { isActive = false; }

  static bool holds() { return isActive; }
  /// Of an operation where the readings may part: whether the second holds.
  static bool note() {
    isNoted = true;
    return isActive;
  }
  /// Whether they may have parted since the last call.
  static bool forget() { return std::exchange(isNoted, false); }

private:
  static inline thread_local bool isActive = false, isNoted = false;
};

/// An intermediate that leaves the range of its narrow type is kept, or else it is infinite.
using Overflow = SecondReading<struct OverflowOfNarrowTypes>;
/// A mask may be written with `arith`, as an addition of −inf. It is IEEE's, where NaN survives the addition
/// and a weight of 0 makes NaN of NaN; or else it is that of attention, and the pair is left out whatever it
/// holds: −inf added to anything is −inf, its exponential is −0.0, and −0.0 is a factor that contributes
/// nothing.
using LeavingOut = SecondReading<struct MasksWrittenAsAdditions>;

inline bool isNegativeZero(double x) { return x == 0 && std::signbit(x); }

/// Variance of one rounding to f32, or of an approximation good to `ulps` half steps: an error is as likely
/// anywhere within them. A subnormal number may become 0.
inline double roundingF32(double value, double ulps = 1) {
  double size = std::fabs(value);
  return size < FLT_MIN ? square(size) : square(size * kUnitF32 * ulps) / 3;
}

/// The result of an f32 operation: what f32 cannot hold is infinite; one more rounding.
inline Real roundF32(double value, double variance, double ulps = 1) {
  if (std::fabs(value) >= kOverflowF32)
    value = std::copysign(std::numeric_limits<double>::infinity(), value);
  if (!std::isfinite(value))
    return {value, 0};
  return Perturbation::settle({value, variance + roundingF32(value, ulps)});
}

/// The part of a result's variance that an operand with `variance` causes; 0 · inf is 0 here.
inline double propagate(double derivative, double variance) {
  return variance == 0 ? 0 : square(derivative) * variance;
}

inline Real operator-(Real a) { return {-a.value, a.variance}; }
inline Real operator+(Real a, Real b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double sum = a.value + b.value;
  if (std::isnan(sum) && (a.value == -infinity || b.value == -infinity) && LeavingOut::note())
    sum = -infinity;
  return roundF32(sum, a.variance + b.variance);
}
inline Real operator-(Real a, Real b) { return a + -b; }
inline Real operator*(Real a, Real b) {
  double product = a.value * b.value;
  if (std::isnan(product) && (a.value == 0 || b.value == 0) && LeavingOut::note() &&
      (isNegativeZero(a.value) || isNegativeZero(b.value)))
    return {-0.0};
  return roundF32(product, propagate(b.value, a.variance) + propagate(a.value, b.variance));
}
inline Real operator/(Real a, Real b) {
  double quotient = a.value / b.value;
  return roundF32(quotient, propagate(1 / b.value, a.variance) + propagate(quotient / b.value, b.variance),
                  2);
}

/// A function with value `y` and `derivative` at `x`, computed by an approximation good to `ulps`.
inline Real applied(double y, double derivative, Real x, double ulps = 4) {
  return roundF32(y, propagate(derivative, x.variance), ulps);
}

/// Where x is uncertain a slope says little: the chord that ends at the bound takes its place.
inline Real exp(Real x) {
  if (std::isinf(x.value) && x.value < 0)
    return {LeavingOut::holds() ? -0.0 : 0.0};
  double y = std::exp(x.value), reach = kConfidence * x.deviation();
  return applied(y, reach == 0 ? y : y * std::expm1(reach) / reach, x);
}
inline Real sqrt(Real x) {
  double y = std::sqrt(x.value);
  return applied(y, 0.5 / y, x, 2);
}

/// A sum with the variance of its terms and the sum of the sizes of its partial sums: each is rounded, and
/// all may round the same way, as in sums of equal numbers; so the bound is that of the worst case. Nothing
/// is known of a sum where some order of summation overflows and another does not, or on the other side:
/// `opposed` is the size of the terms of the other sign than the sum's, which is asked of infinite sums
/// alone.
inline Real finishSum(double value, double variance, double partials, double opposed = 0) {
  if (partials >= kOverflowF32 && (std::fabs(value) < kOverflowF32 || opposed >= kOverflowF32))
    return {value, std::numeric_limits<double>::infinity()};
  return roundF32(value, variance + square(partials * kUnitF32 / kConfidence));
}

/// The sum of f32 numbers in whatever order.
struct Sum {
  double value = 0, variance = 0, partials = 0, sizes = 0;

  void add(Real x) {
    value += x.value;
    variance += x.variance;
    partials += std::fabs(value);
    sizes += std::fabs(x.value);
  }
  Real result() const { return finishSum(value, variance, partials, (sizes - std::fabs(value)) / 2); }
};

/// The larger number; a NaN stays. The result is uncertain by either operand where they may change places.
inline Real maximum(Real a, Real b) {
  if (std::isnan(a.value) || std::isnan(b.value))
    return std::isnan(a.value) ? a : b;
  const Real &larger = a.value < b.value ? b : a;
  bool close = std::fabs(a.value - b.value) <= kConfidence * (a.deviation() + b.deviation());
  return {larger.value, close ? std::fmax(a.variance, b.variance) : larger.variance};
}
inline Real minimum(Real a, Real b) { return -maximum(-a, -b); }

} // namespace heed
