// Conversions from and to f16 and bf16, and arithmetic on them, as ExpandHalf leaves them.
#include "tests/numerics/MathKernels.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

namespace heed {
namespace {

/// f16 and bf16 from their definition: numbers of so many mantissa bits and so large a bias.
struct Format {
  const char *name;
  int mantissa, bias;

  int exponentMask() const { return (1 << (15 - mantissa)) - 1; }
  double value(uint16_t bits) const {
    int exponent = bits >> mantissa & exponentMask(), fraction = bits & ((1 << mantissa) - 1);
    double magnitude = exponent == exponentMask() ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? std::ldexp(fraction, 1 - bias - mantissa)
                                       : std::ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
    return bits >> 15 ? -magnitude : magnitude;
  }
  bool isNaN(uint16_t bits) const { return std::isnan(value(bits)); }
  /// Any NaN is as good as another, if it is quiet.
  bool matches(uint16_t got, uint16_t expected) const {
    return isNaN(expected) ? isNaN(got) && (got >> (mantissa - 1) & 1) : got == expected;
  }
  /// The nearest, ties to even, by scaling so that the last bit kept is that of integers.
  uint16_t nearest(double x) const {
    uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    x = std::abs(x);
    if (std::isnan(x))
      return sign | exponentMask() << mantissa | 1 << (mantissa - 1);
    int exponent = x == 0 || std::isinf(x) ? 1 - bias : std::max(std::ilogb(x), 1 - bias);
    if (std::isinf(x) || exponent > bias)
      return sign | exponentMask() << mantissa;
    // A fraction that rounds up to the next power of two carries into the exponent as it should.
    double units = std::nearbyint(std::ldexp(x, mantissa - exponent));
    return sign | uint16_t(((exponent + bias - 1) << mantissa) + int64_t(units));
  }
};
const Format f16{"f16", 10, 15}, bf16{"bf16", 7, 127};
void PrintTo(const Format &format, std::ostream *os) { *os << format.name; }

class HalfTest : public testing::TestWithParam<std::tuple<Format, const char *>> {
protected:
  const Format &format = std::get<0>(GetParam());
  const Target target = llvm::cantFail(Target::parse(std::get<1>(GetParam())));

  void SetUp() override {
    if (!isRunnable(target))
      GTEST_SKIP() << "this machine does not run " << target.name;
  }
  /// Narrows `numbers`, eight at a time and, for comparison, one at a time.
  template <typename T> void narrow(const Kernel &kernel, std::vector<T> numbers, double (*value)(T)) {
    Kernel single = kernel;
    single.lanes = 1;
    LoadedKernel vector(kernel, target), scalar(single, target);
    numbers.resize((numbers.size() + 7) / 8 * 8);
    uint16_t out[8];
    for (size_t i = 0; i < numbers.size(); i += 8) {
      vector.function(&numbers[i], nullptr, nullptr, out);
      for (size_t j = 0; j < 8; ++j) {
        uint16_t expected = format.nearest(value(numbers[i + j])), one;
        ASSERT_TRUE(format.matches(out[j], expected))
            << "at " << numbers[i + j] << ": expected " << expected << ", but got " << out[j];
        scalar.function(&numbers[i + j], nullptr, nullptr, &one);
        ASSERT_EQ(one, out[j]) << "at " << numbers[i + j];
      }
    }
  }
};

TEST_P(HalfTest, ExtensionIsExact) {
  LoadedKernel toSingle({"arith.extf", 1, format.name, "f32", 8, ""}, target);
  LoadedKernel toDouble({"arith.extf", 1, format.name, "f64", 1, ""}, target);
  for (uint32_t first = 0; first < 0x10000; first += 8) {
    uint16_t in[8];
    float out[8];
    double wide;
    for (unsigned j = 0; j < 8; ++j)
      in[j] = first + j;
    toSingle.function(in, nullptr, nullptr, out);
    for (unsigned j = 0; j < 8; ++j) {
      toDouble.function(&in[j], nullptr, nullptr, &wide);
      double expected = format.value(in[j]);
      ASSERT_EQ(ulps(out[j], expected), 0) << in[j];
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(wide)
                                       : bitCast<uint64_t>(wide) == bitCast<uint64_t>(expected))
          << in[j];
    }
  }
}

TEST_P(HalfTest, NarrowingF32RoundsToNearestEven) {
  std::vector<float> numbers = edges32();
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    // Every number, the middle between it and the next, and the neighbours of both.
    double here = format.value(bits), next = format.value(bits + 1);
    for (double x : {here, (here + next) / 2})
      for (double towards : {x, -double(INFINITY), double(INFINITY)})
        numbers.push_back(std::nextafter(float(x), float(towards)));
  }
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 40009)
    numbers.push_back(bitCast<float>(uint32_t(bits)));
  narrow<float>({"arith.truncf", 1, "f32", format.name, 8, ""}, numbers, [](float x) { return double(x); });
}

TEST_P(HalfTest, NarrowingF64RoundsOnce) {
  std::vector<double> numbers = edges64();
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    // A middle moved by less than f32 can show: rounding by way of f32 would see a tie.
    double middle = (format.value(bits) + format.value(bits + 1)) / 2;
    for (double x : {middle, middle * (1 + 0x1p-40), middle * (1 - 0x1p-40)})
      numbers.push_back(x);
  }
  narrow<double>({"arith.truncf", 1, "f64", format.name, 8, ""}, numbers, [](double x) { return x; });
}

TEST_P(HalfTest, IntegersRoundOnce) {
  std::mt19937_64 random(3);
  std::vector<int32_t> narrows;
  std::vector<int64_t> wides;
  for (int shift = 0; shift < 64; ++shift)
    for (int64_t offset : {-1, 0, 1})
      for (int64_t half : {0x180, 0x181, 0x1801, 0xc04}) {         // near ties of 8 and 11 bits
        uint64_t x = (uint64_t(half) << shift) + uint64_t(offset); // wraps around
        for (uint64_t value : {x, 0 - x, uint64_t(random() >> shift)}) {
          wides.push_back(int64_t(value));
          narrows.push_back(int32_t(value));
        }
      }
  narrow<int32_t>({"arith.sitofp", 1, "i32", format.name, 8, ""}, narrows,
                  [](int32_t x) { return double(x); });
  // double(x) may round a wide integer to a tie; odd last bits keep it off.
  narrow<int64_t>({"arith.sitofp", 1, "i64", format.name, 8, ""}, wides, [](int64_t x) {
    int64_t lost = x & 0x7ff;
    return std::abs(double(x)) < 0x1p53 ? double(x) : double((x & ~int64_t(0x7ff)) | (lost ? 0x800 : 0));
  });
}

TEST_P(HalfTest, ArithmeticIsThatOfF32Rounded) {
  std::mt19937 random(5);
  const std::pair<const char *, double (*)(double, double)> operations[] = {
      {"arith.addf", [](double a, double b) { return a + b; }},
      {"arith.subf", [](double a, double b) { return a - b; }},
      {"arith.mulf", [](double a, double b) { return a * b; }},
      {"arith.divf", [](double a, double b) { return a / b; }},
      {"math.copysign", [](double a, double b) { return std::copysign(a, b); }},
  };
  for (auto [name, reference] : operations) {
    LoadedKernel kernel({name, 2, format.name, format.name, 8, ""}, target);
    for (int i = 0; i < 20000; ++i) {
      uint16_t a[8], b[8], out[8];
      for (unsigned j = 0; j < 8; ++j)
        a[j] = random(), b[j] = i % 2 ? random() : a[j] + random() % 64;
      kernel.function(a, b, nullptr, out);
      for (unsigned j = 0; j < 8; ++j) {
        uint16_t expected = format.nearest(float(reference(format.value(a[j]), format.value(b[j]))));
        ASSERT_TRUE(format.isNaN(expected) ? format.isNaN(out[j]) : out[j] == expected)
            << name << " of " << a[j] << " and " << b[j] << ": expected " << expected << ", but got "
            << out[j];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, HalfTest,
                         testing::Combine(testing::Values(f16, bf16),
                                          testing::Values("x86-64", "x86-64-v3", "x86-64-v4", "aarch64")));

} // namespace
} // namespace heed
