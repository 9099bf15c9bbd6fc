// Errors of the elementary functions that ExpandMath builds, against double precision.
//
// By default one float in 4099 and all edges; with HEED_ALL_FLOATS=1 all 2^32 of them (about four minutes a
// function).
#include "tests/numerics/MathKernels.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace heed {
namespace {

float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Distance in units in the last place of the f32 nearest to `expected`; NaN where a NaN meets a number or
/// the signs of zeros differ.
double ulps(float got, double expected) {
  float nearest = static_cast<float>(expected);
  if (std::isnan(nearest) || std::isnan(got))
    return std::isnan(nearest) && std::isnan(got) ? 0 : NAN;
  if (std::isinf(nearest) || std::isinf(got))
    return got == nearest                           ? 0
           : std::isinf(nearest) && std::isinf(got) ? NAN
           : std::isinf(nearest)                    ? (std::abs(expected) - std::abs(double(got))) / 0x1p104
                                                    : INFINITY;
  if (got == 0 && expected == 0)
    return std::signbit(got) == std::signbit(expected) ? 0 : NAN;
  int exponent = std::max(expected == 0 ? -126 : std::ilogb(expected), -126);
  return std::abs(got - expected) / std::ldexp(1.0, exponent - 23);
}

struct Function {
  const char *name;
  double (*reference)(double);
  double bound;            ///< ulps with fused multiply-add
  double unfusedBound;     ///< and without
  double flushBelow = 0;   ///< results under this magnitude may be zero
  double limit = INFINITY; ///< of the argument
};
void PrintTo(const Function &function, std::ostream *os) { *os << function.name; }

const Function functions[] = {
    {"math.exp", std::exp, 1, 1.25, 0x1.6ap-126},
    {"math.exp2", std::exp2, 1, 1.25, 0x1.6ap-126},
    {"math.expm1", std::expm1, 1.5, 1.5},
    {"math.log", std::log, 1, 1},
    {"math.log2", std::log2, 1, 1.75},
    {"math.log1p", std::log1p, 1.5, 1.5},
    {"math.tanh", std::tanh, 2.5, 2.5},
    {"math.erf", std::erf, 1, 1},
    {"math.sin", std::sin, 2, 2, 0, 0x1p28},
    {"math.cos", std::cos, 2, 2, 0, 0x1p28},
    {"math.rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1.5, 1.5},
};

class MathTest : public testing::TestWithParam<std::tuple<Function, const char *, unsigned>> {};

TEST_P(MathTest, StaysWithinBound) {
  const Function &function = std::get<0>(GetParam());
  const char *targetName = std::get<1>(GetParam());
  const unsigned lanes = std::get<2>(GetParam());
  Target target = llvm::cantFail(Target::parse(targetName));
  if (!isRunnable(target))
    GTEST_SKIP() << "this machine has no " << targetName;
  LoadedKernel kernel({function.name, 1, "f32", "f32", lanes, ""}, target);
  const bool all = std::getenv("HEED_ALL_FLOATS");
  const uint64_t step = all ? 1 : 4099;

  double worst = 0;
  float worstAt = 0, worstGot = 0;
  bool failed = false;
  std::vector<float> in(lanes), out(lanes);
  unsigned filled = 0;
  auto flush = [&] {
    kernel.function(in.data(), nullptr, nullptr, out.data());
    for (unsigned i = 0; i < filled; ++i) {
      double expected = function.reference(in[i]);
      if ((out[i] == 0 && std::abs(expected) < function.flushBelow) || std::abs(in[i]) > function.limit)
        continue;
      double error = ulps(out[i], expected);
      if (!(error <= worst) && !failed) {
        worst = error, worstAt = in[i], worstGot = out[i];
        failed = std::isnan(error);
      }
    }
    filled = 0;
  };
  auto visit = [&](uint32_t bits) {
    in[filled++] = fromBits(bits);
    if (filled == lanes)
      flush();
  };
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += step)
    visit(bits);
  for (uint32_t exponent = 0; exponent < 512; ++exponent) // both signs
    for (int32_t edge = -2; edge <= 2; ++edge)
      visit((exponent << 23) + edge);
  while (filled)
    visit(0);

  double bound = target.hasFma ? function.bound : function.unfusedBound;
  RecordProperty("ulps", std::to_string(worst));
  std::printf("%-10s %-10s x%-2u %.3f ulp at %a\n", function.name, targetName, lanes, worst, worstAt);
  EXPECT_LE(worst, bound) << "at " << worstAt << ": got " << worstGot << ", expected "
                          << function.reference(worstAt);
}

INSTANTIATE_TEST_SUITE_P(, MathTest,
                         testing::Combine(testing::ValuesIn(functions),
                                          testing::Values("x86-64", "x86-64-v3", "x86-64-v4"),
                                          testing::Values(1u, 8u)));

} // namespace
} // namespace heed
