// Comparisons with the oracle, and whether its bounds are honest: f32 code stays within, wrong code does not.
#include "compiler/interpreter/Compare.h"
#include "tests/unit/Interpret.h"

#include <random>

using namespace heed;

namespace {

Tensor uncertain(std::vector<double> values, double deviation) {
  int64_t count = values.size();
  Tensor tensor = f32({count}, std::move(values));
  tensor.trackVariance();
  std::fill(tensor.variance.begin(), tensor.variance.end(), deviation * deviation);
  return tensor;
}

TEST(InterpreterCompare, WithinTheBoundOrNot) {
  Tensor oracle = uncertain({1, 2}, 1e-4);
  double bound = boundOf(mlir::Float32Type::get(&testContext()), oracle.real(0));
  EXPECT_NEAR(bound, 8e-4, 1e-6);
  Comparison passes = compare(oracle, f32({2}, {1.0007, 2}));
  EXPECT_TRUE(passes.ok);
  EXPECT_EQ(passes.worst, 0);
  EXPECT_NEAR(passes.error, 7e-4, 1e-6);
  EXPECT_NEAR(passes.bound, bound, 1e-9);
  Comparison fails = compare(oracle, f32({2}, {1, 2.01}));
  EXPECT_FALSE(fails.ok);
  EXPECT_EQ(fails.mismatches, 1);
  EXPECT_EQ(fails.message, "element [1]: expected 2.00000000e+00 within 8.00e-04, but got 2.00999999e+00");
}

TEST(InterpreterCompare, ExactValuesAllowOneRounding) {
  EXPECT_TRUE(compare(f32({1}, {1}), f32({1}, {1})).ok);
  EXPECT_FALSE(compare(f32({1}, {1}), f32({1}, {1.0000003})).ok);
}

TEST(InterpreterCompare, NaNIsNeverWithinABound) {
  EXPECT_FALSE(compare(uncertain({1, 2}, 100), f32({2}, {1, NaN})).ok);
  EXPECT_FALSE(compare(uncertain({1, NaN}, 100), f32({2}, {1, 2})).ok);
  EXPECT_TRUE(compare(uncertain({1, NaN}, 100), f32({2}, {1, NaN})).ok);
}

TEST(InterpreterCompare, InfinitiesMustAgree) {
  EXPECT_TRUE(compare(f32({1}, {inf}), f32({1}, {inf})).ok);
  EXPECT_FALSE(compare(f32({1}, {inf}), f32({1}, {-inf})).ok);
  EXPECT_FALSE(compare(f32({1}, {inf}), f32({1}, {3e38})).ok);
  EXPECT_FALSE(compare(f32({1}, {3e38}), f32({1}, {inf})).ok);
  // What f16 rounds to infinity may be infinite, but only on its side.
  Tensor wide = f16({1}, {0});
  wide.values[0] = 70000;
  EXPECT_TRUE(compare(wide, f16({1}, {inf})).ok);
  EXPECT_FALSE(compare(wide, f16({1}, {-inf})).ok);
  EXPECT_FALSE(compare(wide, f16({1}, {65504})).ok);
}

TEST(InterpreterCompare, ShapesAndTypesMustAgree) {
  EXPECT_EQ(compare(f32({2}, {1, 2}), f32({1, 2}, {1, 2})).message,
            "expected f32 of shape [2], but got f32 of shape [1, 2]");
  EXPECT_FALSE(compare(f32({1}, {1}), f16({1}, {1})).ok);
}

TEST(InterpreterCompare, IntegersMustBeEqual) {
  EXPECT_TRUE(compare(i64({2}, {1, 2}), i64({2}, {1, 2})).ok);
  EXPECT_EQ(compare(i64({2}, {1, 2}), i64({2}, {1, 3})).message, "element [1]: expected 2, but got 3");
}

TEST(InterpreterCompare, ChoicesMayDifferWithinTheirMargin) {
  Tensor oracle = i64({1}, {1});
  auto candidates = [&](std::vector<double> values, double deviation) {
    oracle.candidates = std::make_shared<Tensor>(uncertain(std::move(values), deviation));
    oracle.candidates = [&] {
      auto shaped = std::make_shared<Tensor>(*oracle.candidates);
      shaped->shape = {1, shaped->size()};
      return shaped;
    }();
  };
  candidates({1, 1.001, 0}, 1e-4); // 8 deviations of both reach 1.6e-3
  EXPECT_TRUE(compare(oracle, i64({1}, {0})).ok);
  EXPECT_FALSE(compare(oracle, i64({1}, {2})).ok);
  EXPECT_FALSE(compare(oracle, i64({1}, {3})).ok);
  EXPECT_FALSE(compare(oracle, i64({1}, {-1})).ok);
  candidates({1, 1.001, 0}, 1e-5);
  EXPECT_FALSE(compare(oracle, i64({1}, {0})).ok);
  candidates({0, 1, 1}, 0); // an exact tie takes the lowest index
  EXPECT_FALSE(compare(oracle, i64({1}, {2})).ok);
}

TEST(InterpreterCompare, AnIndexIsChosenOnce) {
  Tensor oracle = i64({1, 2}, {0, 1});
  auto candidates = std::make_shared<Tensor>(uncertain({1, 1, 0}, 1e-3));
  candidates->shape = {1, 3};
  oracle.candidates = candidates;
  EXPECT_TRUE(compare(oracle, i64({1, 2}, {1, 0})).ok);
  EXPECT_FALSE(compare(oracle, i64({1, 2}, {0, 0})).ok);
}

// Bounds

std::vector<double> normals(int64_t count, unsigned seed, double scale = 1) {
  std::mt19937 engine(seed);
  std::vector<double> values(count);
  for (double &value : values) {
    value = 0;
    for (int i = 0; i < 12; ++i) // a sum of uniforms is near enough to normal
      value += engine() * 0x1p-32;
    value = static_cast<float>((value - 6) * scale);
  }
  return values;
}

/// x · wᵀ in f32, term after term.
std::vector<double> productInF32(const std::vector<double> &x, const std::vector<double> &w, int64_t inner) {
  std::vector<double> result;
  for (size_t m = 0; m < x.size() / inner; ++m)
    for (size_t n = 0; n < w.size() / inner; ++n) {
      float sum = 0;
      for (int64_t k = 0; k < inner; ++k)
        sum += static_cast<float>(x[m * inner + k]) * static_cast<float>(w[n * inner + k]);
      result.push_back(sum);
    }
  return result;
}

const char *product = R"(
  func.func @f(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %y = attn.linear %x, %w : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  })";

TEST(InterpreterCompare, ProductsInF32StayWithinTheirBounds) {
  for (int64_t inner : {1, 7, 64, 1000, 4096}) {
    std::vector<double> x = normals(4 * inner, inner), w = normals(8 * inner, inner + 1);
    Tensor oracle = interpret(product, {f32({4, inner}, x), f32({8, inner}, w)})[0];
    Comparison comparison = compare(oracle, f32({4, 8}, productInF32(x, w, inner)));
    EXPECT_TRUE(comparison.ok) << inner << ": " << comparison.message;
    // A bound that says nothing would pass as well: it must be small beside the values, about √inner large.
    EXPECT_LT(comparison.bound, 2e-7 * inner * std::sqrt(inner) + 1e-6) << inner;
  }
}

TEST(InterpreterCompare, SumsOfEqualTermsStayWithinTheirBounds) {
  // All errors go the same way here.
  for (double term : {0.1, 0.3, 0.7}) {
    int64_t inner = 4096;
    std::vector<double> x(inner, static_cast<float>(term)), w(inner, 1);
    Tensor oracle = interpret(product, {f32({1, inner}, x), f32({1, inner}, w)})[0];
    Comparison comparison = compare(oracle, f32({1, 1}, productInF32(x, w, inner)));
    EXPECT_TRUE(comparison.ok) << comparison.message;
  }
}

TEST(InterpreterCompare, ALostTermIsFound) {
  for (int64_t inner : {8, 64, 512, 3072}) {
    std::vector<double> x = normals(4 * inner, 5), w = normals(8 * inner, 6);
    Tensor oracle = interpret(product, {f32({4, inner}, x), f32({8, inner}, w)})[0];
    for (int64_t row = 0; row < 4; ++row)
      x[row * inner + inner / 2] = 0;
    EXPECT_FALSE(compare(oracle, f32({4, 8}, productInF32(x, w, inner))).ok) << inner;
  }
}

const char *attention = R"(
  func.func @f(%q: tensor<1x1x?x8xf32>, %k: tensor<1x1x?x8xf32>, %v: tensor<1x1x?x8xf32>) -> tensor<1x1x?x8xf32> {
    %o = attn.attention %q, %k, %v scale(0.35355339) keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index, %lq: index, %lk: index):
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      } : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x1x?x8xf32>
    return %o : tensor<1x1x?x8xf32>
  })";

/// Causal attention in f32; `lookAhead` keys too many are kept.
std::vector<double> attentionInF32(const std::vector<double> &q, const std::vector<double> &k,
                                   const std::vector<double> &v, int64_t length, int64_t lookAhead) {
  std::vector<double> result;
  for (int64_t i = 0; i < length; ++i) {
    float max = -INFINITY, sum = 0, out[8] = {};
    std::vector<float> scores;
    for (int64_t j = 0; j < std::min(i + 1 + lookAhead, length); ++j) {
      float score = 0;
      for (int64_t d = 0; d < 8; ++d)
        score += static_cast<float>(q[i * 8 + d]) * static_cast<float>(k[j * 8 + d]);
      scores.push_back(score * 0.35355339f);
      max = std::max(max, scores.back());
    }
    for (size_t j = 0; j < scores.size(); ++j) {
      float weight = std::exp(scores[j] - max);
      sum += weight;
      for (int64_t e = 0; e < 8; ++e)
        out[e] += weight * static_cast<float>(v[j * 8 + e]);
    }
    for (float x : out)
      result.push_back(x / sum);
  }
  return result;
}

TEST(InterpreterCompare, AttentionInF32StaysWithinItsBoundsAndAWrongMaskDoesNot) {
  for (double scale : {0.1, 1., 10., 100.}) {
    int64_t length = 65, size = length * 8;
    std::vector<double> q = normals(size, 1, scale), k = normals(size, 2, scale), v = normals(size, 3);
    Tensor oracle = interpret(
        attention, {f32({1, 1, length, 8}, q), f32({1, 1, length, 8}, k), f32({1, 1, length, 8}, v)})[0];
    Comparison right = compare(oracle, f32({1, 1, length, 8}, attentionInF32(q, k, v, length, 0)));
    EXPECT_TRUE(right.ok) << scale << ": " << right.message;
    Comparison wrong = compare(oracle, f32({1, 1, length, 8}, attentionInF32(q, k, v, length, 1)));
    EXPECT_GT(wrong.mismatches, 10) << scale; // few at large scales, where one key takes all
  }
}

TEST(InterpreterCompare, SumsThatMayOverflowAreUnbounded) {
  Tensor oracle = interpret(product, {f32({1, 2}, {2e38, 2e38}), f32({1, 2}, {1, -1})})[0];
  Comparison comparison = compare(oracle, f32({1, 1}, {0}));
  EXPECT_TRUE(comparison.ok);
  EXPECT_EQ(comparison.unbounded, 0);
  oracle = interpret(product, {f32({1, 3}, {2e38, 2e38, -3e38}), f32({1, 3}, {1, 1, 1})})[0];
  comparison = compare(oracle, f32({1, 1}, {NaN}));
  EXPECT_TRUE(comparison.ok);
  EXPECT_EQ(comparison.unbounded, 1);
}

TEST(InterpreterCompare, SubnormalsMayBeFlushed) {
  const char *source = R"(func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
    %y = attn.scale %x by 1.0e6 : tensor<1xf32>
    return %y : tensor<1xf32>
  })";
  Tensor oracle = interpret(source, {f32({1}, {1e-39})})[0];
  EXPECT_TRUE(compare(oracle, f32({1}, {0})).ok);
  oracle = interpret(source, {f32({1}, {1e-37})})[0];
  EXPECT_FALSE(compare(oracle, f32({1}, {0})).ok);
}

} // namespace
