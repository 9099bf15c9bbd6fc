// What ExpandMath makes exact or rounded once: to integers, remainder, fused multiply-add; and powers.
#include "tests/numerics/MathKernels.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

namespace heed {
namespace {

/// Whether two results are one number, zeros told apart, or both NaN.
template <typename T> bool same(T a, T b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

/// Floats whose exponents are near one another, so that sums cancel, with edges among them.
class Numbers {
public:
  float operator()() {
    switch (random() % 8) {
    case 0:
      return edges[random() % edges.size()];
    case 1:
      return bitCast<float>(uint32_t(random()));
    case 2:
      return float(int32_t(random() % 64) - 32); // integers are cases of their own for powers
    default:
      return std::ldexp(float(int32_t(random())), int(random() % 24) - 40);
    }
  }

private:
  std::mt19937 random{7};
  std::vector<float> edges = edges32();
};

struct Rounding {
  const char *name;
  float (*single)(float);
  double (*wide)(double);
};
void PrintTo(const Rounding &rounding, std::ostream *os) { *os << rounding.name; }

class MathExactTestRounding : public testing::TestWithParam<std::tuple<Rounding, const char *>> {
protected:
  /// Compares on `numbers`, eight at a time.
  template <typename T> void compare(const char *type, T (*reference)(T), std::vector<T> numbers) {
    Target target = llvm::cantFail(Target::parse(std::get<1>(GetParam())));
    if (!isRunnable(target))
      GTEST_SKIP() << "this machine does not run " << target.name;
    LoadedKernel kernel({std::get<0>(GetParam()).name, 1, type, type, 8, ""}, target);
    numbers.resize((numbers.size() + 7) / 8 * 8);
    T out[8];
    for (size_t i = 0; i < numbers.size(); i += 8) {
      kernel.function(&numbers[i], nullptr, nullptr, out);
      for (size_t j = 0; j < 8; ++j)
        ASSERT_TRUE(same(out[j], reference(numbers[i + j])))
            << "at " << numbers[i + j] << ": expected " << reference(numbers[i + j]) << ", but got "
            << out[j];
    }
  }
};

TEST_P(MathExactTestRounding, IsExactOnF32) {
  std::vector<float> numbers = edges32();
  for (int quarter = -400; quarter <= 400; ++quarter)
    for (float x : {quarter * 0.25f, std::nextafter(quarter * 0.25f, INFINITY), quarter * 0.25f + 0x1p22f})
      numbers.push_back(x);
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 40009)
    numbers.push_back(bitCast<float>(uint32_t(bits)));
  compare("f32", std::get<0>(GetParam()).single, numbers);
}

TEST_P(MathExactTestRounding, IsExactOnF64) {
  std::vector<double> numbers = edges64();
  for (int quarter = -400; quarter <= 400; ++quarter)
    for (double x : {quarter * 0.25, std::nextafter(quarter * 0.25, INFINITY), quarter * 0.25 + 0x1p51})
      numbers.push_back(x);
  compare("f64", std::get<0>(GetParam()).wide, numbers);
}

const Rounding roundings[] = {
    {"math.floor", std::floor, std::floor},
    {"math.ceil", std::ceil, std::ceil},
    {"math.trunc", std::trunc, std::trunc},
    {"math.round", std::round, std::round},
    {"math.roundeven", std::nearbyint, std::nearbyint},
};
INSTANTIATE_TEST_SUITE_P(, MathExactTestRounding,
                         testing::Combine(testing::ValuesIn(roundings),
                                          testing::Values("x86-64", "x86-64-v2", "x86-64-v4")));

class MathExactTest : public testing::TestWithParam<const char *> {
protected:
  /// Runs `kernel` on `count` random arguments and hands each with its result to `check`.
  void sample(const Kernel &kernel, unsigned count, void (*check)(float a, float b, float c, float got)) {
    Target target = llvm::cantFail(Target::parse(GetParam()));
    if (!isRunnable(target))
      GTEST_SKIP() << "this machine does not run " << target.name;
    LoadedKernel loaded(kernel, target);
    Numbers numbers;
    float a[8], b[8], c[8], out[8];
    for (unsigned i = 0; i < count && !HasFailure(); i += 8) {
      for (unsigned j = 0; j < 8; ++j)
        a[j] = numbers(), b[j] = numbers(), c[j] = i % 3 ? numbers() : -a[j] * b[j];
      loaded.function(a, b, c, out);
      for (unsigned j = 0; j < 8; ++j)
        check(a[j], b[j], c[j], out[j]);
    }
  }
};

TEST_P(MathExactTest, FmaRoundsOnce) {
  sample({"math.fma", 3, "f32", "f32", 8, ""}, 1000000, [](float a, float b, float c, float got) {
    float expected = std::fma(a, b, c);
    EXPECT_TRUE(same(got, expected)) << a << " * " << b << " + " << c << ": expected " << expected
                                     << ", but got " << got;
  });
}

TEST_P(MathExactTest, RemainderIsExact) {
  sample({"arith.remf", 2, "f32", "f32", 8, ""}, 300000, [](float a, float b, float, float got) {
    float expected = std::fmod(a, b);
    EXPECT_TRUE(same(got, expected)) << a << " rem " << b << ": expected " << expected << ", but got " << got;
  });
}

TEST_P(MathExactTest, MaxNumIgnoresNaN) {
  sample({"arith.maxnumf", 2, "f32", "f32", 8, ""}, 100000, [](float a, float b, float, float got) {
    float expected = std::fmax(a, b);
    EXPECT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected)
        << a << ", " << b << ": got " << got;
  });
}

TEST_P(MathExactTest, PowerIsWithinOneUlp) {
  sample({"math.powf", 2, "f32", "f32", 8, ""}, 1000000, [](float a, float b, float, float got) {
    double expected = std::pow(double(a), double(b));
    EXPECT_LE(ulps(got, expected), 0.51)
        << a << " ^ " << b << ": expected " << expected << ", but got " << got;
  });
}

INSTANTIATE_TEST_SUITE_P(, MathExactTest, testing::Values("x86-64", "x86-64-v3", "x86-64-v4", "aarch64"));

} // namespace
} // namespace heed
