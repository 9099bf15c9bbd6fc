// The layers around attention against constants computed by hand or with numpy.
#include "tests/unit/Interpret.h"

using namespace heed;

namespace {

constexpr double close = 1e-6;

const std::vector<double> x = {1, 2, 4, -3, .5, .5, .25, 1};
const std::vector<double> weight = {1, 2, .5, -1}, bias = {0, .1, .2, .3};

TEST(InterpreterLayers, LinearWithBias) {
  std::string source = R"(
    func.func @f(%x: tensor<?x3xf32>, %w: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<?x2xf32> {
      %y = attn.linear %x, %w, %b : tensor<?x3xf32>, tensor<2x3xf32>, tensor<2xf32> -> tensor<?x2xf32>
      return %y : tensor<?x2xf32>
    })";
  Outcome outcome = interpret(
      source, {f32({2, 3}, {1, 2, 3, -1, 0, 1}), f32({2, 3}, {1, 0, 2, 3, 1, -1}), f32({2}, {10, 20})});
  EXPECT_TRUE(holds(outcome[0], {2, 2}, {17, 22, 11, 16}));
}

TEST(InterpreterLayers, LinearEpilogueGetsTheSumAndReads) {
  std::string source = R"(
    func.func @f(%x: tensor<2x1xf32>, %w: tensor<2x1xf32>, %r: tensor<2x2xf32>, %s: tensor<2xf32>) -> tensor<2x2xf32> {
      %y = attn.linear %x, %w reads(%r, %s : tensor<2x2xf32>, tensor<2xf32>)
        maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>] epilogue {
        ^bb0(%sum: f32, %a: f32, %b: f32):
          %0 = arith.mulf %sum, %b : f32
          %1 = arith.addf %0, %a : f32
          attn.yield %1 : f32
        } : tensor<2x1xf32>, tensor<2x1xf32> -> tensor<2x2xf32>
      return %y : tensor<2x2xf32>
    })";
  Outcome outcome = interpret(source, {f32({2, 1}, {1, 2}), f32({2, 1}, {3, 4}),
                                       f32({2, 2}, {100, 200, 300, 400}), f32({2}, {1, 10})});
  EXPECT_TRUE(holds(outcome[0], {2, 2}, {103, 240, 306, 480}));
}

std::string tileMatmul(const std::string &rhs, const std::string &options) {
  return "func.func @f(%a: tensor<1x2xf32>, %b: " + rhs + R"(, %init: tensor<1x3xf32>) -> tensor<1x3xf32> {
      %r = attn.tile_matmul ins(%a, %b : tensor<1x2xf32>, )" +
         rhs + ") outs(%init : tensor<1x3xf32>) " + options +
         R"( -> tensor<1x3xf32>
      return %r : tensor<1x3xf32>
    })";
}

TEST(InterpreterLayers, TileMatmulOverwritesOrAccumulates) {
  std::vector<Tensor> inputs = {f32({1, 2}, {1, 2}), f32({2, 3}, {1, 2, 3, 4, 5, 6}),
                                f32({1, 3}, {100, 200, NaN})};
  EXPECT_TRUE(holds(interpret(tileMatmul("tensor<2x3xf32>", ""), inputs)[0], {1, 3}, {9, 12, 15}));
  EXPECT_TRUE(
      holds(interpret(tileMatmul("tensor<2x3xf32>", "accumulate"), inputs)[0], {1, 3}, {109, 212, NaN}));
}

TEST(InterpreterLayers, TileMatmulReadsPanels) {
  // Columns 0 and 1 in the first panel, 2 and padding in the second.
  Outcome outcome =
      interpret(tileMatmul("tensor<2x2x2xf32>", ""),
                {f32({1, 2}, {1, 2}), f32({2, 2, 2}, {1, 2, 4, 5, 3, NaN, 6, NaN}), f32({1, 3}, {0, 0, 0})});
  EXPECT_TRUE(holds(outcome[0], {1, 3}, {9, 12, 15}));
}

TEST(InterpreterLayers, TileMatmulMasksByNegativeZero) {
  std::vector<double> rhs = {NaN, inf, NaN, 4, 5, 6};
  auto with = [&](double factor, const char *options) {
    return interpret(tileMatmul("tensor<2x3xf32>", options),
                     {f32({1, 2}, {factor, 2}), f32({2, 3}, rhs), f32({1, 3}, {0, 0, 0})})[0];
  };
  EXPECT_TRUE(holds(with(-0.0, "masked"), {1, 3}, {8, 10, 12}));
  EXPECT_TRUE(holds(with(0.0, "masked"), {1, 3}, {NaN, NaN, NaN}));
  EXPECT_TRUE(holds(with(-0.0, ""), {1, 3}, {NaN, NaN, NaN}));
}

TEST(InterpreterLayers, TileMatmulThatDoesNotAskHasNoMasks) {
  auto with = [&](const char *asks) {
    return interpret(std::string(R"(
      func.func @f(%lhs: tensor<1x2xf32>, %rhs: tensor<2x1xf32>, %init: tensor<1x1xf32>) -> tensor<1x1xf32> {
        %asks = arith.constant )") +
                         asks + R"(
        %0 = attn.tile_matmul ins(%lhs, %rhs : tensor<1x2xf32>, tensor<2x1xf32>) outs(%init : tensor<1x1xf32>)
          masked asks(%asks) -> tensor<1x1xf32>
        return %0 : tensor<1x1xf32>
      })",
                     {f32({1, 2}, {-0.0, 2}), f32({2, 1}, {inf, 3}), f32({1, 1}, {0})})[0];
  };
  EXPECT_TRUE(holds(with("true"), {1, 1}, {6}));
  EXPECT_TRUE(holds(with("false"), {1, 1}, {NaN}));
}

TEST(InterpreterLayers, LayerNorm) {
  auto run = [&](const char *operands, const char *types) {
    return interpret(std::string(R"(
      func.func @f(%x: tensor<2x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
        %y = attn.layer_norm %x)") +
                         operands + " epsilon(1.0e-5) : tensor<2x4xf32>" + types + R"(
        return %y : tensor<2x4xf32>
      })",
                     {f32({2, 4}, x), f32({4}, weight), f32({4}, bias)})[0];
  };
  EXPECT_TRUE(holds(run(", %w, %b", ", tensor<4xf32>, tensor<4xf32>"), {2, 4},
                    {0, .884463937, .788347953, 1.868927874, -.22940028, -.35880056, -.3735007, -1.30580196},
                    close));
  EXPECT_TRUE(holds(
      run("", ""), {2, 4},
      {0, .392231969, 1.176695906, -1.568927874, -.22940028, -.22940028, -1.1470014, 1.60580196}, close));
}

TEST(InterpreterLayers, LayerNormOfEqualValuesIsTheBias) {
  Outcome outcome = interpret(R"(
      func.func @f(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
        %y = attn.layer_norm %x epsilon(1.0e-5) : tensor<1x3xf32>
        return %y : tensor<1x3xf32>
      })",
                              {f32({1, 3}, {1000, 1000, 1000})});
  EXPECT_TRUE(holds(outcome[0], {1, 3}, {0, 0, 0}));
}

TEST(InterpreterLayers, RmsNorm) {
  auto run = [&](const char *offset) {
    return interpret(std::string(R"(
      func.func @f(%x: tensor<2x4xf32>, %w: tensor<4xf32>) -> tensor<2x4xf32> {
        %y = attn.rms_norm %x, %w epsilon(1.0e-6) )") +
                         offset + R"( : tensor<2x4xf32>, tensor<4xf32>
        return %y : tensor<2x4xf32>
      })",
                     {f32({2, 4}, x), f32({4}, weight)})[0];
  };
  EXPECT_TRUE(holds(
      run(""), {2, 4},
      {.365148347, 1.460593389, .730296695, 1.095445042, .799998976, 1.599997952, .199999744, -1.599997952},
      close));
  EXPECT_TRUE(holds(run("offset(1.0)"), {2, 4},
                    {.730296695, 2.190890084, 2.190890084, 0, 1.599997952, 2.399996928, .599999232, 0},
                    close));
}

TEST(InterpreterLayers, EmbeddingChecksIds) {
  std::string source = R"(
    func.func @f(%t: tensor<3x2xf32>, %ids: tensor<?xi64>) -> tensor<?x2xf32> {
      %y = attn.embedding %t, %ids : (tensor<3x2xf32>, tensor<?xi64>) -> tensor<?x2xf32>
      return %y : tensor<?x2xf32>
    })";
  Tensor table = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(holds(interpret(source, {table, i64({3}, {2, 0, 2})})[0], {3, 2}, {5, 6, 1, 2, 5, 6}));
  EXPECT_TRUE(holds(interpret(source, {table, i64({0}, {})})[0], {0, 2}, std::vector<double>{}));
  EXPECT_EQ(interpret(source, {table, i64({1}, {3})}).errors,
            "'attn.embedding' op expected ids in [0, 3), but got 3\n");
  EXPECT_EQ(interpret(source, {table, i64({1}, {-1})}).errors,
            "'attn.embedding' op expected ids in [0, 3), but got -1\n");
}

TEST(InterpreterLayers, SinusoidalPositions) {
  Outcome outcome = interpret(R"(
    func.func @f(%x: tensor<1x2x4xf32>, %p: index) -> tensor<1x2x4xf32> {
      %y = attn.sinusoidal_positions %x offset(%p : index) : tensor<1x2x4xf32>
      return %y : tensor<1x2x4xf32>
    })",
                              {f32({1, 2, 4}, {1, 1, 1, 1, 0, 0, 0, 0}), index(3)});
  EXPECT_TRUE(holds(
      outcome[0], {1, 2, 4},
      {1.141120008, .010007503, 1.0299955, 1.99955003, -.756802495, -.653643621, .039989334, .999200107},
      close));
}

TEST(InterpreterLayers, LearnedPositionsByBatchEntry) {
  std::string source = R"(
    func.func @f(%x: tensor<2x2x1xf32>, %t: tensor<4x1xf32>, %p: tensor<2xi64>) -> tensor<2x2x1xf32> {
      %y = attn.learned_positions %x, %t offset(%p : tensor<2xi64>) : tensor<2x2x1xf32>, tensor<4x1xf32>
      return %y : tensor<2x2x1xf32>
    })";
  auto run = [&](int64_t second) {
    return interpret(source,
                     {f32({2, 2, 1}, {0, 0, 0, 0}), f32({4, 1}, {1, 2, 3, 4}), i64({2}, {0, second})});
  };
  EXPECT_TRUE(holds(run(2)[0], {2, 2, 1}, {1, 2, 3, 4}));
  EXPECT_EQ(run(3).errors,
            "'attn.learned_positions' op expected positions in [0, 4), but got 3 and 2 positions\n");
  EXPECT_EQ(run(-1).errors,
            "'attn.learned_positions' op expected positions in [0, 4), but got -1 and 2 positions\n");
}

TEST(InterpreterLayers, RotaryInBothPairings) {
  auto run = [&](const char *options, std::vector<int64_t> shape, const char *type) {
    return interpret(std::string("func.func @f(%x: ") + type + ", %p: index) -> " + type + R"( {
        %y = attn.rotary %x pairing()" +
                         options + " offset(%p : index) : " + type + R"(
        return %y : )" + type +
                         "}",
                     {f32(shape, {1, 2, 3, 4}), index(5)})[0];
  };
  EXPECT_TRUE(holds(run("interleaved)", {1, 1, 4}, "tensor<1x1x4xf32>"), {1, 1, 4},
                    {2.201510735, -.391599904, 2.796334104, 4.144938549}, close));
  EXPECT_TRUE(holds(run("halves)", {1, 1, 4}, "tensor<1x1x4xf32>"), {1, 1, 4},
                    {3.160435009, 1.797583844, -.107937718, 4.094959380}, close));
  // Only the first two features turn, by 5 radians.
  EXPECT_TRUE(holds(run("halves) width(2)", {1, 1, 4}, "tensor<1x1x4xf32>"), {1, 1, 4},
                    {std::cos(5.) - 2 * std::sin(5.), 2 * std::cos(5.) + std::sin(5.), 3, 4}, close));
}

TEST(InterpreterLayers, HeadsSplitAndMerge) {
  Outcome outcome = interpret(R"(
    func.func @f(%x: tensor<1x2x4xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x4xf32>) {
      %s = attn.split_heads %x heads(2) : tensor<1x2x4xf32> -> tensor<1x2x2x2xf32>
      %m = attn.merge_heads %s : tensor<1x2x2x2xf32> -> tensor<1x2x4xf32>
      return %s, %m : tensor<1x2x2x2xf32>, tensor<1x2x4xf32>
    })",
                              {f32({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})});
  EXPECT_TRUE(holds(outcome[0], {1, 2, 2, 2}, {1, 2, 5, 6, 3, 4, 7, 8}));
  EXPECT_TRUE(holds(outcome[1], {1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(InterpreterLayers, CacheUpdate) {
  std::string source = R"(
    func.func @f(%c: tensor<2x3x1xf32>, %e: tensor<2x2x1xf32>, %p: tensor<2xi64>) -> tensor<2x3x1xf32> {
      %y = attn.cache_update %c, %e at %p : tensor<2x3x1xf32>, tensor<2x2x1xf32>, tensor<2xi64>
      return %y : tensor<2x3x1xf32>
    })";
  auto run = [&](int64_t second) {
    return interpret(
        source, {f32({2, 3, 1}, {0, 0, 0, 0, 0, 0}), f32({2, 2, 1}, {1, 2, 3, 4}), i64({2}, {0, second})});
  };
  EXPECT_TRUE(holds(run(1)[0], {2, 3, 1}, {1, 2, 0, 0, 3, 4}));
  for (int64_t bad : {int64_t(2), int64_t(-1), INT64_MAX})
    EXPECT_EQ(run(bad).errors, "'attn.cache_update' op expected positions in [0, 3), but got " +
                                   std::to_string(bad) + " and 2 entries\n");
}

TEST(InterpreterLayers, ArgmaxTakesTheFirstAndNaNIsLargest) {
  Outcome outcome = interpret(R"(
    func.func @f(%x: tensor<3x3xf32>) -> tensor<3xi64> {
      %y = attn.argmax %x : tensor<3x3xf32> -> tensor<3xi64>
      return %y : tensor<3xi64>
    })",
                              {f32({3, 3}, {1, 3, 3, 5, NaN, NaN, -inf, -inf, -inf})});
  EXPECT_TRUE(holds(outcome[0], {3}, std::vector<int64_t>{1, 1, 0}));
}

TEST(InterpreterLayers, TopKFallsAndTiesTakeTheLowerIndex) {
  Outcome outcome = interpret(R"(
    func.func @f(%x: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
      %v, %i = attn.top_k %x k(3) : tensor<2x4xf32> -> tensor<2x3xf32>, tensor<2x3xi64>
      return %v, %i : tensor<2x3xf32>, tensor<2x3xi64>
    })",
                              {f32({2, 4}, {1, 7, 7, 2, 0, -1, NaN, 5})});
  EXPECT_TRUE(holds(outcome[0], {2, 3}, {7, 7, 2, NaN, 5, 0}));
  EXPECT_TRUE(holds(outcome[1], {2, 3}, std::vector<int64_t>{1, 2, 3, 2, 3, 0}));
}

TEST(InterpreterLayers, ParametersComeByName) {
  std::string source = R"(
    func.func @f() -> tensor<2xf32> {
      %w = attn.param "encoder.weight" : tensor<2xf32>
      return %w : tensor<2xf32>
    })";
  EXPECT_TRUE(holds(interpret(source, {}, {{"encoder.weight", f32({2}, {1, 2})}})[0], {2}, {1, 2}));
  EXPECT_EQ(interpret(source, {}).errors,
            "'attn.param' op expected parameter \"encoder.weight\", but there is none\n");
  EXPECT_EQ(interpret(source, {}, {{"encoder.weight", f32({3}, {1, 2, 3})}}).errors,
            "'attn.param' op expected a tensor of shape [2], but got [3]\n");
  EXPECT_EQ(interpret(source, {}, {{"encoder.weight", f16({2}, {1, 2})}}).errors,
            "'attn.param' op expected parameter of 'f32', but got 'f16'\n");
}

} // namespace
