// Whether the oracle's bounds are honest: f32 code that is right stays within them, wrong code does not.
#include "compiler/interpreter/Compare.h"
#include "tests/unit/Interpret.h"

#include <random>

using namespace heed;

namespace {

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

TEST(InterpreterBounds, ProductsInF32StayWithinTheirBounds) {
  for (int64_t inner : {1, 7, 64, 1000, 4096}) {
    std::vector<double> x = normals(4 * inner, inner), w = normals(8 * inner, inner + 1);
    Tensor oracle = interpret(product, {f32({4, inner}, x), f32({8, inner}, w)})[0];
    Comparison comparison = compare(oracle, f32({4, 8}, productInF32(x, w, inner)));
    EXPECT_TRUE(comparison.ok) << inner << ": " << comparison.message;
    // A bound that says nothing would pass as well: it must be small beside the values, about √inner large.
    EXPECT_LT(comparison.bound, 2e-7 * inner * std::sqrt(inner) + 1e-6) << inner;
  }
}

TEST(InterpreterBounds, ErrorsThatARowSharesAddUp) {
  // The difference of two attention weights, 64 times: an error of a weight reaches each with the same sign.
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @f(%s: tensor<1x2xf32>, %v: tensor<2x64xf32>, %w: tensor<1x64xf32>) -> tensor<1x1xf32> {
      %p = attn.softmax %s : tensor<1x2xf32>
      %x = attn.matmul %p, %v : (tensor<1x2xf32>, tensor<2x64xf32>) -> tensor<1x64xf32>
      %y = attn.linear %x, %w : tensor<1x64xf32>, tensor<1x64xf32> -> tensor<1x1xf32>
      return %y : tensor<1x1xf32>
    })",
                                                        &testContext());
  ASSERT_TRUE(module);
  std::vector<double> v(128, 1);
  std::fill_n(v.begin() + 64, 64, -1);
  std::vector<Tensor> inputs = {f32({1, 2}, {40, 40.5}), f32({2, 64}, v),
                                f32({1, 64}, std::vector<double>(64, 1))};
  Interpreter interpreter(*module);
  auto function = module->lookupSymbol<mlir::func::FuncOp>("f");
  std::vector<Tensor> results = *interpreter.run(function, inputs);
  Real independent = results[0].real(0);
  ASSERT_TRUE(mlir::succeeded(interpreter.widen(function, inputs, results, 1)));
  Real shared = results[0].real(0);
  EXPECT_EQ(independent.value, shared.value);
  EXPECT_GT(shared.deviation(), 2 * independent.deviation());
  EXPECT_LT(shared.deviation(), 16 * independent.deviation()); // and a wrong result still lies outside
  results = *interpreter.run(function, inputs);
  EXPECT_EQ(independent.variance, results[0].real(0).variance); // nothing of it stays behind
}

TEST(InterpreterBounds, SumsOfEqualTermsStayWithinTheirBounds) {
  // All errors go the same way here.
  for (double term : {0.1, 0.3, 0.7}) {
    int64_t inner = 4096;
    std::vector<double> x(inner, static_cast<float>(term)), w(inner, 1);
    Tensor oracle = interpret(product, {f32({1, inner}, x), f32({1, inner}, w)})[0];
    Comparison comparison = compare(oracle, f32({1, 1}, productInF32(x, w, inner)));
    EXPECT_TRUE(comparison.ok) << comparison.message;
  }
}

TEST(InterpreterBounds, ALostTermIsFound) {
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

TEST(InterpreterBounds, AttentionInF32StaysWithinItsBoundsAndAWrongMaskDoesNot) {
  for (double scale : {0.1, 1., 10., 100., 1e4}) {
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

TEST(InterpreterBounds, SumsThatMayOverflowAreUnbounded) {
  Tensor oracle = interpret(product, {f32({1, 2}, {2e38, 2e38}), f32({1, 2}, {1, -1})})[0];
  Comparison comparison = compare(oracle, f32({1, 1}, {0}));
  EXPECT_TRUE(comparison.ok);
  EXPECT_EQ(comparison.unbounded, 0);
  oracle = interpret(product, {f32({1, 3}, {2e38, 2e38, -3e38}), f32({1, 3}, {1, 1, 1})})[0];
  comparison = compare(oracle, f32({1, 1}, {NaN}));
  EXPECT_TRUE(comparison.ok);
  EXPECT_EQ(comparison.unbounded, 1);
  // One that overflows may do so on the other side before, but not where too little stands against it.
  std::vector<double> ones(4, 1);
  oracle = interpret(product, {f32({1, 4}, {3e38, 3e38, 3e38, -3.5e38}), f32({1, 4}, ones)})[0];
  EXPECT_EQ(compare(oracle, f32({1, 1}, {-inf})).unbounded, 1);
  oracle = interpret(product, {f32({1, 4}, {3e38, 3e38, 3e38, -3e38}), f32({1, 4}, ones)})[0];
  EXPECT_FALSE(compare(oracle, f32({1, 1}, {-inf})).ok);
}

TEST(InterpreterBounds, SubnormalsMayBeFlushed) {
  const char *source = R"(func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
    %y = attn.scale %x by 1.0e6 : tensor<1xf32>
    return %y : tensor<1xf32>
  })";
  Tensor oracle = interpret(source, {f32({1}, {1e-39})})[0];
  EXPECT_TRUE(compare(oracle, f32({1}, {0})).ok);
  oracle = interpret(source, {f32({1}, {1e-37})})[0];
  EXPECT_FALSE(compare(oracle, f32({1}, {0})).ok);
}

/// One row in f32, mean and variance in two passes.
std::vector<double> layerNormInF32(const std::vector<double> &x, float epsilon, bool onePass = false) {
  float sum = 0, squares = 0;
  for (double value : x)
    sum += static_cast<float>(value);
  float mean = sum / x.size();
  for (double value : x) {
    float distance = static_cast<float>(value) - (onePass ? 0 : mean);
    squares += distance * distance;
  }
  float variance = squares / x.size() - (onePass ? mean * mean : 0),
        factor = 1 / std::sqrt(variance + epsilon);
  std::vector<double> result;
  for (double value : x)
    result.push_back((static_cast<float>(value) - mean) * factor);
  return result;
}

TEST(InterpreterBounds, LayerNormInF32StaysWithinItsBoundsAndACancellingOneDoesNot) {
  const char *source = R"(func.func @f(%x: tensor<1x?xf32>) -> tensor<1x?xf32> {
    %y = attn.layer_norm %x epsilon(1.0e-5) : tensor<1x?xf32>
    return %y : tensor<1x?xf32>
  })";
  for (int64_t width : {2, 8, 384, 1000}) {
    std::vector<double> x = normals(width, 7);
    for (double &value : x)
      value = static_cast<float>(value + 300); // a mean far from 0 makes E[x²] − mean² cancel
    Tensor oracle = interpret(source, {f32({1, width}, x)})[0];
    Comparison right = compare(oracle, f32({1, width}, layerNormInF32(x, 1e-5f)));
    EXPECT_TRUE(right.ok) << width << ": " << right.message;
    if (width >= 384) {
      EXPECT_FALSE(compare(oracle, f32({1, width}, layerNormInF32(x, 1e-5f, true))).ok) << width;
      EXPECT_FALSE(compare(oracle, f32({1, width}, layerNormInF32(x, 1e-2f))).ok) << width;
    }
  }
}

TEST(InterpreterBounds, ActivationsInF32StayWithinTheirBoundsAndOthersDoNot) {
  std::vector<double> x;
  for (int i = -400; i <= 400; ++i)
    x.push_back(static_cast<float>(i * 0.0237));
  int64_t count = x.size();
  auto run = [&](const std::string &op) {
    return interpret("func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n%y = attn." + op +
                         " : tensor<?xf32>\nreturn %y : tensor<?xf32>\n}",
                     {f32({count}, x)})[0];
  };
  auto apply = [&](float (*function)(float)) {
    std::vector<double> y;
    for (double value : x)
      y.push_back(function(static_cast<float>(value)));
    return f32({count}, y);
  };
  Tensor exact = apply([](float v) { return v * 0.5f * (1 + std::erf(v * 0.70710678f)); });
  Tensor approximate =
      apply([](float v) { return v * 0.5f * (1 + std::tanh(0.79788456f * (v + 0.044715f * v * v * v))); });
  EXPECT_TRUE(compare(run("gelu %x"), exact).ok) << compare(run("gelu %x"), exact).message;
  EXPECT_TRUE(compare(run("gelu %x form(tanh)"), approximate).ok)
      << compare(run("gelu %x form(tanh)"), approximate).message;
  EXPECT_FALSE(compare(run("gelu %x"), approximate).ok);
  EXPECT_TRUE(compare(run("silu %x"), apply([](float v) { return v / (1 + std::exp(-v)); })).ok);
  EXPECT_FALSE(compare(run("silu %x"), exact).ok);
}

TEST(InterpreterBounds, SumsInLinalgStayWithinTheirBounds) {
  std::vector<double> terms(4096, static_cast<float>(0.1));
  Tensor oracle = interpret(R"(func.func @f(%x: tensor<?xf32>) -> tensor<f32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %r = linalg.reduce ins(%x : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
      (%in: f32, %out: f32) {
        %s = arith.addf %in, %out : f32
        linalg.yield %s : f32
      }
    return %r : tensor<f32>
  })",
                            {f32({4096}, terms)})[0];
  float sum = 0;
  for (double term : terms)
    sum += static_cast<float>(term);
  Comparison comparison = compare(oracle, f32({}, {sum}));
  EXPECT_TRUE(comparison.ok) << comparison.message;
  EXPECT_FALSE(compare(oracle, f32({}, {sum - 0.1})).ok); // one term less
}

TEST(InterpreterBounds, HalfPrecisionAllowsItsRoundingAndNotMuchMore) {
  const char *source = R"(func.func @f(%x: tensor<?xf16>) -> tensor<?xf16> {
    %y = attn.scale %x by 0.1 : tensor<?xf16>
    return %y : tensor<?xf16>
  })";
  std::vector<double> x = normals(100, 9), y;
  Tensor input = f16({100}, x);
  for (double value : input.values)
    y.push_back(static_cast<float>(value) * 0.1f);
  Tensor oracle = interpret(source, {input})[0];
  EXPECT_TRUE(compare(oracle, f16({100}, y)).ok);
  for (double &value : y)
    value *= 1.004;
  EXPECT_FALSE(compare(oracle, f16({100}, y)).ok);
}

/// @f scales 300 (and what else is given) by 300, past the range of f16, and returns what `rest` makes of %y.
Tensor beyondF16(const std::string &rest, const std::string &result, std::vector<double> x = {300}) {
  std::string size = std::to_string(x.size());
  return interpret("func.func @f(%x: tensor<" + size + "xf16>) -> tensor<" + result +
                       "> {\n%y = attn.scale %x by 300.0 : tensor<" + size + "xf16>\n" + rest + "\n}",
                   {f16({static_cast<int64_t>(x.size())}, x)})[0];
}

TEST(InterpreterBounds, OutputsBeyondTheirRangeAreInfinite) {
  Tensor oracle = beyondF16("return %y : tensor<1xf16>", "1xf16");
  EXPECT_TRUE(compare(oracle, f16({1}, {inf})).ok);
  for (double wrong : {0., 65504., -inf, NaN})
    EXPECT_FALSE(compare(oracle, f16({1}, {wrong})).ok) << wrong;
}

TEST(InterpreterBounds, IntermediatesBeyondTheirRangeAreKeptOrInfinite) {
  Tensor oracle = beyondF16("%z = attn.scale %y by 0.01 : tensor<1xf16>\nreturn %z : tensor<1xf16>", "1xf16");
  for (double right : {900., inf})
    EXPECT_TRUE(compare(oracle, f16({1}, {right})).ok) << right;
  for (double wrong : {0., 890., 65504., -inf, NaN})
    EXPECT_FALSE(compare(oracle, f16({1}, {wrong})).ok) << wrong;
  std::vector<double> x = {300, 250, 0};
  oracle = beyondF16("%z = attn.softmax %y : tensor<3xf16>\nreturn %z : tensor<3xf16>", "3xf16", x);
  EXPECT_TRUE(compare(oracle, f16({3}, {1, 0, 0})).ok);
  EXPECT_TRUE(compare(oracle, f16({3}, {NaN, NaN, NaN})).ok);
  EXPECT_FALSE(compare(oracle, f16({3}, {0.5, 0.5, 0})).ok);
  oracle = beyondF16("%z = attn.scale %y by 0.25 : tensor<3xf16>\n%i = attn.argmax %z : tensor<3xf16> -> "
                     "tensor<i64>\nreturn %i : tensor<i64>",
                     "i64", {299, 300, 0});
  for (int64_t right : {0, 1})
    EXPECT_TRUE(compare(oracle, i64({}, {right})).ok) << right;
  EXPECT_FALSE(compare(oracle, i64({}, {2})).ok);
}

TEST(InterpreterBounds, BoundsOfDeepGraphsStayUseful) {
  // Twelve layers of product, norm and activation: a worst-case bound would be past 1e10 here.
  std::string body, last = "%x";
  for (int layer = 0; layer < 12; ++layer) {
    std::string n = std::to_string(layer);
    body += "%a" + n + " = attn.linear " + last +
            ", %w : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>\n";
    body += "%b" + n + " = attn.gelu %a" + n + " : tensor<4x64xf32>\n";
    body += "%c" + n + " = attn.layer_norm %b" + n + " epsilon(1.0e-5) : tensor<4x64xf32>\n";
    last = "%c" + n;
  }
  Tensor oracle =
      interpret("func.func @f(%x: tensor<4x64xf32>, %w: tensor<64x64xf32>) -> tensor<4x64xf32> {\n" + body +
                    "return " + last + " : tensor<4x64xf32>\n}",
                {f32({4, 64}, normals(256, 1)), f32({64, 64}, normals(4096, 2, 0.125))})[0];
  std::vector<double> current = normals(256, 1), weight = normals(4096, 2, 0.125);
  for (int layer = 0; layer < 12; ++layer) {
    current = productInF32(current, weight, 64);
    std::vector<double> next;
    for (int row = 0; row < 4; ++row) {
      std::vector<double> values;
      for (int i = 0; i < 64; ++i) {
        float v = static_cast<float>(current[row * 64 + i]);
        values.push_back(v * 0.5f * (1 + std::erf(v * 0.70710678f)));
      }
      values = layerNormInF32(values, 1e-5f);
      next.insert(next.end(), values.begin(), values.end());
    }
    current = next;
  }
  Comparison comparison = compare(oracle, f32({4, 64}, current));
  EXPECT_TRUE(comparison.ok) << comparison.message;
  EXPECT_LT(comparison.bound, 1e-2);
}

} // namespace
