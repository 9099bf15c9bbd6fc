// Products, score changes, masks and softmax against constants computed by hand or with numpy.
#include "tests/unit/Interpret.h"

using namespace heed;

namespace {

constexpr double close = 1e-7;

/// `op` on a tensor %x of type `type`, and on %y of `second` where that is given.
std::string on(const std::string &type, const std::string &op, const std::string &second = "") {
  std::string more = second.empty() ? "" : ", %y: " + second;
  return "func.func @f(%x: " + type + more + ") -> " + type + " {\n%r = " + op + "\nreturn %r : " + type +
         "\n}";
}

TEST(InterpreterScores, MatmulOfStacks) {
  std::string source = R"(
    func.func @f(%a: tensor<2x1x2xf32>, %b: tensor<2x2x?xf32>) -> tensor<2x1x?xf32> {
      %r = attn.matmul %a, %b : (tensor<2x1x2xf32>, tensor<2x2x?xf32>) -> tensor<2x1x?xf32>
      return %r : tensor<2x1x?xf32>
    })";
  Outcome outcome =
      interpret(source, {f32({2, 1, 2}, {1, 2, 3, 4}), f32({2, 2, 3}, {1, 2, 3, 4, 5, 6, 1, 0, 0, 0, 1, 0})});
  EXPECT_TRUE(holds(outcome[0], {2, 1, 3}, {9, 12, 15, 3, 4, 0}));
}

TEST(InterpreterScores, MatmulSharesHeads) {
  std::string source = R"(
    func.func @f(%a: tensor<1x4x1x1xf32>, %b: tensor<1x2x1x1xf32>) -> tensor<1x4x1x1xf32> {
      %r = attn.matmul %a, %b transpose_rhs : (tensor<1x4x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x4x1x1xf32>
      return %r : tensor<1x4x1x1xf32>
    })";
  Outcome outcome = interpret(source, {f32({1, 4, 1, 1}, {1, 1, 1, 1}), f32({1, 2, 1, 1}, {5, 7})});
  EXPECT_TRUE(holds(outcome[0], {1, 4, 1, 1}, {5, 5, 7, 7}));
}

TEST(InterpreterScores, MatmulOfUnequalSizesIsAnError) {
  std::string source = R"(
    func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %r = attn.matmul %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
      return %r : tensor<?x?xf32>
    })";
  EXPECT_EQ(interpret(source, {f32({1, 2}, {1, 2}), f32({3, 1}, {1, 2, 3})}).errors,
            "'attn.matmul' op expected inner size of rhs 2, but got 3\n");
}

TEST(InterpreterScores, NegativeZeroCountsInAnOrdinaryProduct) {
  std::string source = R"(
    func.func @f(%a: tensor<1x1xf32>, %b: tensor<1x1xf32>) -> tensor<1x1xf32> {
      %r = attn.matmul %a, %b : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
      return %r : tensor<1x1xf32>
    })";
  EXPECT_TRUE(holds(interpret(source, {f32({1, 1}, {-0.0}), f32({1, 1}, {NaN})})[0], {1, 1}, {NaN}));
}

TEST(InterpreterScores, ScaleAndSoftcap) {
  EXPECT_TRUE(
      holds(interpret(on("tensor<2xf32>", "attn.scale %x by 0.25 : tensor<2xf32>"), {f32({2}, {2, -6})})[0],
            {2}, {.5, -1.5}));
  EXPECT_TRUE(holds(interpret(on("tensor<5xf32>", "attn.softcap %x by 2.0 : tensor<5xf32>"),
                              {f32({5}, {-2, -.5, 0, 1, 3})})[0],
                    {5}, {-1.5231883119, -.4898373248, 0, .9242343145, 1.8102965073}, close));
}

TEST(InterpreterScores, BiasBroadcasts) {
  Outcome outcome = interpret(
      on("tensor<2x2x2xf32>", "attn.bias %x, %y : tensor<2x2x2xf32>, tensor<1x2xf32>", "tensor<1x2xf32>"),
      {f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), f32({1, 2}, {10, 20})});
  EXPECT_TRUE(holds(outcome[0], {2, 2, 2}, {11, 22, 13, 24, 15, 26, 17, 28}));
}

TEST(InterpreterScores, WhatIsNotKeptStaysSoWhateverIsAdded) {
  Outcome bias =
      interpret(on("tensor<4xf32>", "attn.bias %x, %y : tensor<4xf32>, tensor<4xf32>", "tensor<4xf32>"),
                {f32({4}, {-inf, 1, -inf, 1}), f32({4}, {NaN, NaN, inf, inf})});
  EXPECT_TRUE(holds(bias[0], {4}, {-inf, NaN, -inf, inf}));
  Outcome alibi = interpret(
      on("tensor<1x1x1x2xf32>", "attn.alibi %x, %y : tensor<1x1x1x2xf32>, tensor<1xf32>", "tensor<1xf32>"),
      {f32({1, 1, 1, 2}, {-inf, 1}), f32({1}, {NaN})});
  EXPECT_TRUE(holds(alibi[0], {1, 1, 1, 2}, {-inf, NaN}));
  Outcome negated =
      interpret(on("tensor<1xf32>", "attn.scale %x by -2.0 : tensor<1xf32>"), {f32({1}, {-inf})});
  EXPECT_TRUE(holds(negated[0], {1}, {inf}));
}

TEST(InterpreterScores, BiasOfAnotherLengthIsAnError) {
  Outcome outcome =
      interpret(on("tensor<?xf32>", "attn.bias %x, %y : tensor<?xf32>, tensor<?xf32>", "tensor<?xf32>"),
                {f32({3}, {1, 2, 3}), f32({2}, {1, 2})});
  EXPECT_EQ(outcome.errors, "'attn.bias' op expected tensors that cover shape [3]\n");
}

TEST(InterpreterScores, AlibiPenalizesDistance) {
  Outcome outcome = interpret(
      on("tensor<1x2x2x3xf32>", "attn.alibi %x, %y : tensor<1x2x2x3xf32>, tensor<2xf32>", "tensor<2xf32>"),
      {f32({1, 2, 2, 3}, std::vector<double>(12, 1)), f32({2}, {.5, .25})});
  EXPECT_TRUE(holds(outcome[0], {1, 2, 2, 3}, {1, .5, 0, .5, 1, .5, 1, .75, .5, .75, 1, .75}));
}

TEST(InterpreterScores, RelativeBiasUsesTheBucketsOfT5) {
  // Table row = number of the bucket, so that the result is the bucket. Buckets by the published formula.
  std::vector<double> table = {0, 1, 2, 3, 4, 5, 6, 7};
  std::string row = "tensor<1x1x1x20xf32>", column = "tensor<1x1x20x21xf32>";
  Outcome both = interpret(
      on(row, "attn.relative_bias %x, %y bidirectional max_distance(16) : " + row + ", tensor<8x1xf32>",
         "tensor<8x1xf32>"),
      {f32({1, 1, 1, 20}, std::vector<double>(20, 0)), f32({8, 1}, table)});
  EXPECT_TRUE(holds(both[0], {1, 1, 1, 20}, {0, 5, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}));
  Outcome one =
      interpret(on(column, "attn.relative_bias %x, %y max_distance(16) : " + column + ", tensor<8x1xf32>",
                   "tensor<8x1xf32>"),
                {f32({1, 1, 20, 21}, std::vector<double>(420, 0)), f32({8, 1}, table)});
  std::vector<double> last(one[0].values.end() - 21, one[0].values.end());
  EXPECT_EQ(last, (std::vector<double>{7, 7, 7, 7, 7, 7, 7, 7, 6, 6, 6, 6, 5, 5, 4, 4, 3, 2, 1, 0, 0}));
}

// Masks

/// The pairs of a 4 × 4 matrix that `body`, which computes %keep from %i and %j, keeps.
std::vector<std::string> kept(const std::string &body) {
  Outcome outcome = interpret(on("tensor<4x4xf32>", R"(attn.mask %x keep {
    ^bb0(%b: index, %h: index, %i: index, %j: index, %lq: index, %lk: index):
    )" + body + "\nattn.yield %keep : i1 } : tensor<4x4xf32>"),
                              {f32({4, 4}, std::vector<double>(16, 1))});
  std::vector<std::string> rows(4);
  for (int64_t at = 0; at < outcome[0].size(); ++at)
    rows[at / 4] += outcome[0].values[at] == 1 ? '#' : outcome[0].values[at] == -inf ? '.' : '?';
  return rows;
}

using Rows = std::vector<std::string>;

TEST(InterpreterScores, NamedMasks) {
  EXPECT_EQ(kept("%keep = attn.causal %i, %j"), (Rows{"#...", "##..", "###.", "####"}));
  EXPECT_EQ(kept("%two = arith.constant 2 : index\n%keep = attn.causal %i, %j bottom_right(%lq, %two)"),
            (Rows{"....", "....", "#...", "##.."}));
  EXPECT_EQ(kept("%keep = attn.window %i, %j before(1) after(0)"), (Rows{"#...", "##..", ".##.", "..##"}));
  EXPECT_EQ(kept("%keep = attn.window %i, %j before(0) after(2)"), (Rows{"###.", ".###", "..##", "...#"}));
  EXPECT_EQ(kept("%two = arith.constant 2 : index\n%keep = attn.prefix %j, %two"), (Rows(4, "##..")));
  EXPECT_EQ(kept("%keep = attn.chunk %i, %j width(2)"), (Rows{"##..", "##..", "..##", "..##"}));
  EXPECT_EQ(kept("%keep = attn.dilated %i, %j step(2)"), (Rows{"#.#.", ".#.#", "#.#.", ".#.#"}));
  EXPECT_EQ(kept(R"(%two = arith.constant 2 : index
    %a = arith.divui %i, %two : index
    %b0 = arith.divui %j, %two : index
    %d = arith.index_cast %a : index to i64
    %e = arith.index_cast %b0 : index to i64
    %keep = attn.same_document %d, %e : i64)"),
            (Rows{"##..", "##..", "..##", "..##"}));
}

TEST(InterpreterScores, MasksCompose) {
  EXPECT_EQ(kept(R"(%a = attn.causal %i, %j
    %w = attn.window %i, %j before(1) after(1)
    %keep = arith.andi %a, %w : i1)"),
            (Rows{"#...", "##..", ".##.", "..##"}));
  EXPECT_EQ(kept(R"(%true = arith.constant true
    %a = attn.causal %i, %j
    %keep = arith.xori %a, %true : i1)"),
            (Rows{".###", "..##", "...#", "...."}));
}

TEST(InterpreterScores, MaskReadsTensors) {
  std::string type = "tensor<2x1x2xf32>";
  Outcome outcome =
      interpret(on(type, R"(attn.mask %x reads(%y : tensor<2x2xi1>)
      maps [affine_map<(b, h, q, k) -> (b, k)>] keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index, %lq: index, %lk: index, %m: i1):
        attn.yield %m : i1
      } : tensor<2x1x2xf32>)",
                   "tensor<2x2xi1>"),
                {f32({2, 1, 2}, {1, 2, 3, NaN}), Tensor::ofIntegers(typeOf("i1"), {2, 2}, {0, 1, 1, 0})});
  EXPECT_TRUE(holds(outcome[0], {2, 1, 2}, {-inf, 2, 3, -inf}));
}

TEST(InterpreterScores, MapOutsideATensorIsAnError) {
  std::string type = "tensor<?x?xf32>";
  Outcome outcome =
      interpret(on(type, R"(attn.mask %x reads(%y : tensor<?xi1>) maps [affine_map<(b, h, q, k) -> (k)>]
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index, %lq: index, %lk: index, %m: i1):
        attn.yield %m : i1
      } : tensor<?x?xf32>)",
                   "tensor<?xi1>"),
                {f32({1, 3}, {1, 2, 3}), Tensor::ofIntegers(typeOf("i1"), {2}, {1, 1})});
  EXPECT_EQ(outcome.errors,
            "'attn.mask' op expected read 0 inside its tensor of shape [2], but the map leads outside\n");
}

// softmax

std::string softmax(const std::string &type, const std::string &options = "") {
  return on(type, "attn.softmax %x " + options + " : " + type);
}

TEST(InterpreterScores, SoftmaxAlongEitherAxis) {
  std::vector<double> expected = {.090030573, .244728471, .665240956};
  EXPECT_TRUE(
      holds(interpret(softmax("tensor<1x3xf32>"), {f32({1, 3}, {1, 2, 3})})[0], {1, 3}, expected, close));
  EXPECT_TRUE(holds(interpret(softmax("tensor<3x1xf32>", "axis(0)"), {f32({3, 1}, {1001, 1002, 1003})})[0],
                    {3, 1}, expected, close));
}

TEST(InterpreterScores, SoftmaxMarksDroppedPairs) {
  EXPECT_TRUE(holds(interpret(softmax("tensor<2x2xf32>"), {f32({2, 2}, {-inf, 5, -inf, -inf})})[0], {2, 2},
                    {-0.0, 1, -0.0, -0.0}));
  EXPECT_TRUE(
      holds(interpret(softmax("tensor<2x2xf32>", "empty_rows(nan)"), {f32({2, 2}, {-inf, 5, -inf, -inf})})[0],
            {2, 2}, {-0.0, 1, NaN, NaN}));
}

TEST(InterpreterScores, AnAddedInfinityHasTwoReadings) {
  Outcome outcome = interpret(R"(func.func @f(%x: f32, %mask: f32, %value: f32) -> (f32, f32) {
  %score = arith.addf %x, %mask : f32
  %weight = math.exp %score : f32
  %product = arith.mulf %weight, %value : f32
  return %score, %product : f32, f32
})",
                              {f32({}, {NaN}), f32({}, {-inf}), f32({}, {inf})});
  EXPECT_TRUE(std::isnan(outcome[0].values[0]) && std::isnan(outcome[1].values[0]));
  ASSERT_TRUE(outcome[0].leftOut && outcome[1].leftOut);
  EXPECT_EQ(outcome[0].leftOut->values[0], -inf);
  EXPECT_TRUE(holds(*outcome[1].leftOut, {}, {-0.0}));
}

TEST(InterpreterScores, WhatIsKeptHasOneReading) {
  const char *sum = R"(func.func @f(%x: f32, %y: f32) -> f32 {
  %z = arith.addf %x, %y : f32
  return %z : f32
})";
  EXPECT_FALSE(interpret(sum, {f32({}, {NaN}), f32({}, {1})})[0].leftOut);
  EXPECT_FALSE(interpret(sum, {f32({}, {1}), f32({}, {-inf})})[0].leftOut);
}

TEST(InterpreterScores, SoftmaxOfSpecialRows) {
  double lowest = -std::numeric_limits<float>::max();
  EXPECT_TRUE(holds(interpret(softmax("tensor<3x2xf32>"), {f32({3, 2}, {NaN, 1, inf, 0, lowest, lowest})})[0],
                    {3, 2}, {NaN, NaN, NaN, NaN, .5, .5}));
}

TEST(InterpreterScores, ManyEqualScoresSumToOne) {
  Outcome outcome = interpret(softmax("tensor<4096xf16>"), {f16({4096}, std::vector<double>(4096, 60000))});
  double sum = 0;
  for (double weight : outcome[0].values)
    sum += weight;
  EXPECT_EQ(sum, 1);
}

TEST(InterpreterScores, AdditiveScores) {
  std::string source = R"(
    func.func @f(%q: tensor<2x2xf32>, %k: tensor<3x2xf32>, %v: tensor<2xf32>) -> tensor<2x3xf32> {
      %r = attn.additive_scores %q, %k, %v : (tensor<2x2xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<2x3xf32>
      return %r : tensor<2x3xf32>
    })";
  Outcome outcome =
      interpret(source, {f32({2, 2}, {1, -1, .5, 2}), f32({3, 2}, {0, 1, 2, -1, 1, 1}), f32({2}, {.5, -2})});
  EXPECT_TRUE(holds(outcome[0], {2, 3},
                    {.380797078, 2.425582537, .482013790, -1.759050929, -1.029881163, -1.537535381}, close));
}

// Activations

TEST(InterpreterScores, Activations) {
  std::vector<double> x = {-2, -.5, 0, 1, 3};
  auto apply = [&](const std::string &op) { return interpret(on("tensor<5xf32>", op), {f32({5}, x)})[0]; };
  EXPECT_TRUE(holds(apply("attn.relu %x : tensor<5xf32>"), {5}, {0, 0, 0, 1, 3}));
  EXPECT_TRUE(holds(apply("attn.silu %x : tensor<5xf32>"), {5},
                    {-.2384058440, -.1887703344, 0, .7310585786, 2.8577223805}, close));
  EXPECT_TRUE(holds(apply("attn.gelu %x : tensor<5xf32>"), {5},
                    {-.0455002639, -.1542687694, 0, .8413447461, 2.9959503059}, close));
  EXPECT_TRUE(holds(apply("attn.gelu %x form(tanh) : tensor<5xf32>"), {5},
                    {-.0454023059, -.1542859902, 0, .8411919906, 2.9963626079}, close));
}

TEST(InterpreterScores, GatedUnits) {
  auto apply = [&](const std::string &activation) {
    std::string type = "tensor<2xf32>";
    return interpret(on(type, "attn.gated %x, %y activation(" + activation + ") : " + type, type),
                     {f32({2}, {-.5, 3}), f32({2}, {2, -1})})[0];
  };
  EXPECT_TRUE(holds(apply("sigmoid"), {2}, {2 * .3775406688, -.9525741268}, close));
  EXPECT_TRUE(holds(apply("relu"), {2}, {0, -3}));
  EXPECT_TRUE(holds(apply("gelu"), {2}, {2 * -.1542687694, -2.9959503059}, close));
  EXPECT_TRUE(holds(apply("gelu_tanh"), {2}, {2 * -.1542859902, -2.9963626079}, close));
  EXPECT_TRUE(holds(apply("silu"), {2}, {2 * -.1887703344, -2.8577223805}, close));
}

} // namespace
