// Errors of the functions of one argument that ExpandMath builds, against double precision.
//
// By default one float in 4099 and all edges; with HEED_ALL_FLOATS=1 all 2^32 of them, about four minutes a
// function and target.
#include "tests/numerics/MathKernels.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace heed {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Function {
  const char *name;
  double (*reference)(double);
  double fused, unfused; ///< bounds with fused multiply-add and without, in ulps
  double flushBelow = 0; ///< results under this magnitude may be zero
  const char *flags = "";
  double upTo = infinity;  ///< arguments past it are not promised anything
  bool isAbsolute = false; ///< bounds are errors as they are, not in ulps
};
/// In the function's unit; NaN as `ulps` has it.
double errorOf(const Function &function, float got, double expected) {
  double error = ulps(got, expected);
  return function.isAbsolute && error > 0 ? std::abs(got - expected) : error;
}

void PrintTo(const Function &function, std::ostream *os) { *os << function.name; }

// The table of MathFunctions.h.
const Function functions[] = {
    {"math.exp", std::exp, 1, 1.25, 0x1.6a09e668p-126},
    {"math.exp2", std::exp2, 1, 1.25, 0x1.6a09e668p-126},
    {"math.exp2", std::exp2, 2, 2.25, 0x1.6a09e668p-126, "fastmath<afn>", 128},
    {"math.expm1", std::expm1, 1.75, 1.75},
    {"math.log", std::log, 1, 1},
    {"math.log2", std::log2, 1.25, 1.75},
    {"math.log1p", std::log1p, 1.5, 1.5},
    {"math.tanh", std::tanh, 1.5, 1.5},
    {"math.erf", std::erf, 1.25, 1.25},
    {"math.erfc", std::erfc, 0x1.8p-23, 0x1.8p-23, 0, "fastmath<afn>", infinity, true},
    {"math.sin", std::sin, 1.75, 1.75},
    {"math.cos", std::cos, 1.75, 1.75},
    {"math.rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1.5, 1.5},
};

/// What `visit` is given: all floats or a sample, by `HEED_ALL_FLOATS`, in groups of `lanes`.
template <typename Visit> void sweep(unsigned lanes, Visit visit) {
  std::vector<float> group;
  auto add = [&](float x) {
    group.push_back(x);
    if (group.size() == lanes) {
      visit(group);
      group.clear();
    }
  };
  const uint64_t step = std::getenv("HEED_ALL_FLOATS") ? 1 : 4099;
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += step)
    add(bitCast<float>(uint32_t(bits)));
  for (float x : edges32())
    add(x);
  while (!group.empty())
    add(0);
}

class MathTest : public testing::TestWithParam<std::tuple<Function, const char *, unsigned>> {};

TEST_P(MathTest, StaysWithinBound) {
  const Function &function = std::get<0>(GetParam());
  const unsigned lanes = std::get<2>(GetParam());
  Target target = llvm::cantFail(Target::parse(std::get<1>(GetParam())));
  if (!isRunnable(target))
    GTEST_SKIP() << "this machine does not run " << target.name;
  LoadedKernel kernel({function.name, 1, "f32", "f32", lanes, "", function.flags}, target);

  double worst = 0;
  float worstAt = 0, worstGot = 0;
  std::vector<float> out(lanes);
  sweep(lanes, [&](const std::vector<float> &in) {
    kernel.function(in.data(), nullptr, nullptr, out.data());
    for (unsigned i = 0; i < lanes; ++i) {
      double expected = function.reference(in[i]);
      if (in[i] > function.upTo)
        continue;
      if (out[i] == 0 && std::abs(expected) < function.flushBelow)
        continue;
      double error = errorOf(function, out[i], expected);
      if (!std::isnan(worst) && !(error <= worst))
        worst = error, worstAt = in[i], worstGot = out[i];
    }
  });
  RecordProperty("ulps", std::to_string(worst));
  if (std::getenv("HEED_ALL_FLOATS"))
    std::printf("%-10s %-10s x%-2u %.3g at %a\n", function.name, target.name.c_str(), lanes, worst, worstAt);
  EXPECT_LE(worst, target.hasFma ? function.fused : function.unfused)
      << "at " << worstAt << ": expected " << function.reference(worstAt) << ", but got " << worstGot;
}

INSTANTIATE_TEST_SUITE_P(, MathTest,
                         testing::Combine(testing::ValuesIn(functions),
                                          testing::Values("x86-64", "x86-64-v3", "x86-64-v4", "aarch64"),
                                          testing::Values(1u, 8u, 16u)));

#ifdef __x86_64__
class MathTestFlushed : public testing::TestWithParam<Function> {};

TEST_P(MathTestFlushed, IsRightWhereSubnormalsAreZero) {
  const Function &function = GetParam();
  Target target = llvm::cantFail(Target::parse("x86-64-v3"));
  if (!isRunnable(target))
    GTEST_SKIP() << "this machine does not run " << target.name;
  LoadedKernel kernel({function.name, 1, "f32", "f32", 8, "", function.flags}, target);

  std::vector<float> out(8);
  const unsigned control = _mm_getcsr();
  unsigned failures = 0;
  sweep(8, [&](const std::vector<float> &in) {
    _mm_setcsr(control | 0x8040); // flush to zero, denormals are zero
    kernel.function(in.data(), nullptr, nullptr, out.data());
    _mm_setcsr(control);
    for (unsigned i = 0; i < 8; ++i) {
      if (in[i] > function.upTo)
        continue;
      double exact = function.reference(in[i]), flushed = function.reference(std::copysign(0.0, in[i]));
      bool small = std::abs(exact) < std::max(0x1p-126, function.flushBelow) && out[i] == 0;
      bool subnormal =
          std::fpclassify(in[i]) == FP_SUBNORMAL && errorOf(function, out[i], flushed) <= function.fused;
      if (!small && !subnormal && !(errorOf(function, out[i], exact) <= function.fused) && ++failures < 5)
        ADD_FAILURE() << "at " << in[i] << ": expected " << exact << ", but got " << out[i];
    }
  });
  EXPECT_EQ(failures, 0u);
}

INSTANTIATE_TEST_SUITE_P(, MathTestFlushed, testing::ValuesIn(functions));
#endif

} // namespace
} // namespace heed
