// Attention against tables computed with numpy.
#include "tests/unit/Interpret.h"

using namespace heed;

namespace {

// The worked example of the paper's figure: three queries, keys and values, scale 1/√3.
const std::vector<double> query = {.1, .3, .5, .4, .2, .6, .7, .8, .9};
const std::vector<double> key = {.2, .1, .3, .5, .7, .4, .9, .2, .8};
const std::vector<double> value = {.3, .7, .5, .6, .4, .8, .9, .5, .2};
const std::vector<double> scores = {.20, .46, .55, .28, .58, .88, .49, 1.27, 1.51};
const std::vector<double> weights = {.295342436, .343177071, .361480493, .277539371, .330024826,
                                     .392435802, .228789233, .358932522, .412278245};
const std::vector<double> attended = {.619841417, .524750780, .494508973, .634468929, .522505392,
                                      .481276707, .655046704, .509864594, .483996283};
const std::vector<double> attendedCausally = {.3,         .7,         .5,         .462958002, .537041998,
                                              .662958002, .655046704, .509864594, .483996283};
constexpr double close = 1e-7; // the inputs are rounded to f32

std::vector<Tensor> figure(const std::vector<int64_t> &shape = {3, 3}) {
  return {f32(shape, query), f32(shape, key), f32(shape, value)};
}

TEST(InterpreterAttention, FigureInSteps) {
  Outcome outcome = interpret(R"(
    func.func @f(%q: tensor<3x3xf32>, %k: tensor<3x3xf32>, %v: tensor<3x3xf32>)
        -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {
      %s = attn.matmul %q, %k transpose_rhs : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
      %scaled = attn.scale %s by 0.57735026918962576 : tensor<3x3xf32>
      %w = attn.softmax %scaled : tensor<3x3xf32>
      %o = attn.matmul %w, %v : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
      return %s, %w, %o : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
    })",
                              figure());
  EXPECT_TRUE(holds(outcome[0], {3, 3}, scores, close));
  EXPECT_TRUE(holds(outcome[1], {3, 3}, weights, close));
  EXPECT_TRUE(holds(outcome[2], {3, 3}, attended, close));
}

TEST(InterpreterAttention, FigureInStepsCausally) {
  Outcome outcome = interpret(R"(
    func.func @f(%q: tensor<3x3xf32>, %k: tensor<3x3xf32>, %v: tensor<3x3xf32>) -> tensor<3x3xf32> {
      %s = attn.matmul %q, %k transpose_rhs : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
      %scaled = attn.scale %s by 0.57735026918962576 : tensor<3x3xf32>
      %masked = attn.mask %scaled keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index, %lq: index, %lk: index):
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      } : tensor<3x3xf32>
      %w = attn.softmax %masked : tensor<3x3xf32>
      %o = attn.matmul %w, %v : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
      return %o : tensor<3x3xf32>
    })",
                              figure());
  EXPECT_TRUE(holds(outcome[0], {3, 3}, attendedCausally, close));
}

/// attention on one head of `q`×`k` with `options` between the operands and the types.
std::string fused(const std::string &options, const std::string &arguments = "",
                  const std::string &results = "") {
  return "func.func @f(%q: tensor<1x1x?x3xf32>, %k: tensor<1x1x?x3xf32>, %v: tensor<1x1x?x3xf32>" +
         arguments + ") -> (tensor<1x1x?x3xf32>" + results + R"() {
      %o)" +
         std::string(results.empty() ? "" : ":2") +
         " = attn.attention %q, %k, %v scale(0.57735026918962576) " + options +
         " : tensor<1x1x?x3xf32>, tensor<1x1x?x3xf32>, tensor<1x1x?x3xf32> -> tensor<1x1x?x3xf32>" + results +
         (results.empty() ? "\nreturn %o : tensor<1x1x?x3xf32>}"
                          : "\nreturn %o#0, %o#1 : tensor<1x1x?x3xf32>" + results + "}");
}

/// A keep region whose body computes %keep.
std::string keep(const std::string &body, const std::string &reads = "") {
  return "keep {\n^bb0(%b: index, %h: index, %i: index, %j: index, %lq: index, %lk: index" + reads + "):\n" +
         body + "\nattn.yield %keep : i1\n}";
}

const std::vector<int64_t> shape = {1, 1, 3, 3};

TEST(InterpreterAttention, FigureFused) {
  EXPECT_TRUE(holds(interpret(fused(""), figure(shape))[0], shape, attended, close));
  EXPECT_TRUE(holds(interpret(fused(keep("%keep = attn.causal %i, %j")), figure(shape))[0], shape,
                    attendedCausally, close));
}

TEST(InterpreterAttention, LogSumExpIsNatural) {
  Outcome outcome = interpret(fused("", "", ", tensor<1x1x?xf32>"), figure(shape));
  EXPECT_TRUE(holds(outcome[1], {1, 1, 3}, {1.335089848, 1.443450553, 1.757855711}, close));
}

TEST(InterpreterAttention, EmptyRowsFollowThePolicy) {
  std::string none = keep("%zero = arith.constant 0 : index\n%keep = arith.cmpi ne, %i, %zero : index");
  std::vector<double> zeros = attended, nans = attended;
  std::fill_n(zeros.begin(), 3, 0);
  std::fill_n(nans.begin(), 3, NaN);
  Outcome outcome = interpret(fused(none, "", ", tensor<1x1x?xf32>"), figure(shape));
  EXPECT_TRUE(holds(outcome[0], shape, zeros, close));
  EXPECT_EQ(outcome[1].values[0], -inf);
  EXPECT_TRUE(holds(interpret(fused("empty_rows(nan) " + none), figure(shape))[0], shape, nans, close));
}

TEST(InterpreterAttention, NoKeysAtAllLeaveEmptyRows) {
  Outcome outcome = interpret(
      fused(""), {f32({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}), f32({1, 1, 0, 3}, {}), f32({1, 1, 0, 3}, {})});
  EXPECT_TRUE(holds(outcome[0], {1, 1, 2, 3}, {0, 0, 0, 0, 0, 0}));
}

TEST(InterpreterAttention, DroppedPairsNeverLeak) {
  // NaN in key and value row 2: a causal query before it must not notice, the last one must.
  std::vector<double> badKey = key, badValue = value;
  std::fill_n(badKey.begin() + 6, 3, NaN);
  std::fill_n(badValue.begin() + 6, 3, inf);
  std::vector<double> expected = attendedCausally;
  std::fill_n(expected.begin() + 6, 3, NaN);
  Outcome outcome = interpret(fused(keep("%keep = attn.causal %i, %j")),
                              {f32(shape, query), f32(shape, badKey), f32(shape, badValue)});
  EXPECT_TRUE(holds(outcome[0], shape, expected, close));
}

TEST(InterpreterAttention, DroppedPairsNeverLeakInSteps) {
  std::vector<double> bad = {1, 2, 3, NaN, inf, NaN, NaN, NaN, NaN};
  Outcome outcome = interpret(R"(
    func.func @f(%s: tensor<3x3xf32>, %v: tensor<3x3xf32>) -> tensor<3x3xf32> {
      %masked = attn.mask %s keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index, %lq: index, %lk: index):
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      } : tensor<3x3xf32>
      %w = attn.softmax %masked : tensor<3x3xf32>
      %o = attn.matmul %w, %v : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
      return %o : tensor<3x3xf32>
    })",
                              {f32({3, 3}, std::vector<double>(9, 0)), f32({3, 3}, bad)});
  EXPECT_TRUE(holds(outcome[0], {3, 3}, {1, 2, 3, NaN, inf, NaN, NaN, NaN, NaN}));
}

TEST(InterpreterAttention, NaNInAQueryRowStaysThere) {
  std::vector<double> bad = query, expected = attended;
  bad[4] = NaN;
  std::fill_n(expected.begin() + 3, 3, NaN);
  EXPECT_TRUE(holds(interpret(fused(""), {f32(shape, bad), f32(shape, key), f32(shape, value)})[0], shape,
                    expected, close));
}

TEST(InterpreterAttention, KeyLengthsMaskTheTail) {
  std::string source = fused("key_lengths(%n : tensor<1xi64>)", ", %n: tensor<1xi64>");
  auto with = [&](int64_t length) {
    std::vector<Tensor> inputs = figure(shape);
    inputs.push_back(i64({1}, {length}));
    return interpret(source, inputs);
  };
  EXPECT_TRUE(holds(with(3)[0], shape, attended, close));
  EXPECT_TRUE(holds(with(1)[0], shape, {.3, .7, .5, .3, .7, .5, .3, .7, .5}, close));
  EXPECT_TRUE(holds(with(0)[0], shape, std::vector<double>(9, 0)));
  EXPECT_EQ(with(4).errors, "'attn.attention' op expected key lengths in [0, 3], but got 4\n");
  EXPECT_EQ(with(-1).errors, "'attn.attention' op expected key lengths in [0, 3], but got -1\n");
}

TEST(InterpreterAttention, OffsetsMakePositionsAbsolute) {
  // The last query of the causal figure alone, at position 2; then the keys moved out of its sight.
  std::string source =
      fused("query_offset(%p : index) key_offset(%o0 : index) " + keep("%keep = attn.causal %i, %j"),
            ", %p: index, %o0: index");
  auto at = [&](int64_t query0, int64_t key0) {
    return interpret(source, {f32({1, 1, 1, 3}, {.7, .8, .9}), f32(shape, key), f32(shape, value),
                              index(query0), index(key0)});
  };
  EXPECT_TRUE(holds(at(2, 0)[0], {1, 1, 1, 3}, {.655046704, .509864594, .483996283}, close));
  EXPECT_TRUE(holds(at(2, 2)[0], {1, 1, 1, 3}, {.3, .7, .5}, close));
  EXPECT_TRUE(holds(at(2, 3)[0], {1, 1, 1, 3}, {0, 0, 0}));
}

TEST(InterpreterAttention, BottomRightCountsFromTheEnd) {
  // Two queries, three keys: row 0 keeps two keys. Equal scores give means of the values kept.
  std::string source = fused(keep("%keep = attn.causal %i, %j bottom_right(%lq, %lk)"));
  Outcome wide = interpret(source, {f32({1, 1, 2, 3}, std::vector<double>(6, 0)), f32(shape, key),
                                    f32(shape, {1, 0, 0, 0, 1, 0, 0, 0, 1})});
  EXPECT_TRUE(holds(wide[0], {1, 1, 2, 3}, {.5, .5, 0, 1 / 3., 1 / 3., 1 / 3.}, close));
  // Three queries, one key: the first two rows are empty.
  Outcome tall =
      interpret(source, {f32(shape, query), f32({1, 1, 1, 3}, {1, 1, 1}), f32({1, 1, 1, 3}, {7, 8, 9})});
  EXPECT_TRUE(holds(tall[0], shape, {0, 0, 0, 0, 0, 0, 7, 8, 9}, close));
}

TEST(InterpreterAttention, SinksTakeWeightAndGiveNothing) {
  // Scores 1, 2, 3 and a sink of 0.5.
  std::string source = fused("sinks(%s : tensor<1xf32>)", ", %s: tensor<1xf32>", ", tensor<1x1x?xf32>");
  double root = std::sqrt(3.);
  Outcome outcome =
      interpret(source, {f32({1, 1, 1, 3}, {root, 0, 0}), f32(shape, {1, 0, 0, 2, 0, 0, 3, 0, 0}),
                         f32(shape, {1, 0, 0, 0, 1, 0, 0, 0, 1}), f32({1}, {.5})});
  EXPECT_TRUE(holds(outcome[0], {1, 1, 1, 3}, {.085368894, .232056712, .630795543}, close));
  EXPECT_TRUE(holds(outcome[1], {1, 1, 1}, {3.460773489}, close));
}

TEST(InterpreterAttention, ScoreRegionChangesScoresBeforeKeep) {
  // Scores 1, 2, 3 with 2 − key added become equal.
  std::string source = fused(R"(score {
    ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %lq: index, %lk: index):
      %n = arith.index_cast %j : index to i32
      %x = arith.sitofp %n : i32 to f32
      %y = arith.subf %s, %x : f32
      attn.yield %y : f32
    } )" + keep("%two = arith.constant 2 : index\n%keep = arith.cmpi ult, %j, %two : index"));
  Outcome outcome =
      interpret(source, {f32({1, 1, 1, 3}, {std::sqrt(3.), 0, 0}), f32(shape, {1, 0, 0, 2, 0, 0, 3, 0, 0}),
                         f32(shape, {1, 0, 0, 0, 1, 0, 0, 0, 1})});
  EXPECT_TRUE(holds(outcome[0], {1, 1, 1, 3}, {.5, .5, 0}, close));
}

TEST(InterpreterAttention, ReadsAreTakenAtTheirMaps) {
  // A padding mask by batch and key, whole documents ids as a tensor.
  std::string source = R"(
    func.func @f(%q: tensor<2x1x1x1xf32>, %k: tensor<2x1x3x1xf32>, %v: tensor<2x1x3x1xf32>, %mask: tensor<2x3xi64>)
        -> tensor<2x1x1x1xf32> {
      %o = attn.attention %q, %k, %v reads(%mask, %mask : tensor<2x3xi64>, tensor<2x3xi64>)
        maps [affine_map<(b, h, q, k) -> (b, k)>, affine_map<(b, h, q, k) -> ()>] keep {
        ^bb0(%b: index, %h: index, %i: index, %j: index, %lq: index, %lk: index, %m: i64, %all: tensor<2x3xi64>):
          %same = tensor.extract %all[%b, %j] : tensor<2x3xi64>
          %sum = arith.addi %m, %same : i64
          %two = arith.constant 2 : i64
          %keep = arith.cmpi eq, %sum, %two : i64
          attn.yield %keep : i1
        } : tensor<2x1x1x1xf32>, tensor<2x1x3x1xf32>, tensor<2x1x3x1xf32> -> tensor<2x1x1x1xf32>
      return %o : tensor<2x1x1x1xf32>
    })";
  Outcome outcome =
      interpret(source, {f32({2, 1, 1, 1}, {0, 0}), f32({2, 1, 3, 1}, {1, 2, 3, 1, 2, 3}),
                         f32({2, 1, 3, 1}, {1, 2, 4, 1, 2, 4}), i64({2, 3}, {1, 1, 0, 0, 0, 1})});
  EXPECT_TRUE(holds(outcome[0], {2, 1, 1, 1}, {1.5, 4}, close));
}

TEST(InterpreterAttention, LayoutsAndGroupsNeedNoCopies) {
  // Four query heads share two key/value heads; value of head h is h: query head h reads h ÷ 2.
  std::string source = R"(
    func.func @f(%q: tensor<1x2x4x1xf32>, %k: tensor<1x3x2x1xf32>, %v: tensor<1x2x3x2xf32>) -> tensor<1x4x2x2xf32> {
      %o = attn.attention %q, %k, %v layout("bqhd,bkhd,bhke->bheq")
        : tensor<1x2x4x1xf32>, tensor<1x3x2x1xf32>, tensor<1x2x3x2xf32> -> tensor<1x4x2x2xf32>
      return %o : tensor<1x4x2x2xf32>
    })";
  Outcome outcome =
      interpret(source, {f32({1, 2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8}), f32({1, 3, 2, 1}, {0, 0, 0, 0, 0, 0}),
                         f32({1, 2, 3, 2}, {0, .5, 0, .5, 0, .5, 1, 1.5, 1, 1.5, 1, 1.5})});
  EXPECT_TRUE(
      holds(outcome[0], {1, 4, 2, 2}, {0, 0, .5, .5, 0, 0, .5, .5, 1, 1, 1.5, 1.5, 1, 1, 1.5, 1.5}, close));
}

TEST(InterpreterAttention, HalfPrecisionScoresDoNotOverflow) {
  // All queries and keys 30 with 128 features: the score is 115200, past f16.
  std::string source = R"(
    func.func @f(%q: tensor<1x1x1x128xf16>, %k: tensor<1x1x2x128xf16>, %v: tensor<1x1x2x1xf16>) -> tensor<1x1x1x1xf16> {
      %o = attn.attention %q, %k, %v
        : tensor<1x1x1x128xf16>, tensor<1x1x2x128xf16>, tensor<1x1x2x1xf16> -> tensor<1x1x1x1xf16>
      return %o : tensor<1x1x1x1xf16>
    })";
  Outcome outcome =
      interpret(source, {f16({1, 1, 1, 128}, std::vector<double>(128, 30)),
                         f16({1, 1, 2, 128}, std::vector<double>(256, 30)), f16({1, 1, 2, 1}, {1, 3})});
  EXPECT_TRUE(holds(outcome[0], {1, 1, 1, 1}, {2}, 1e-12));
}

TEST(InterpreterAttention, ScoresPastF32AreInfinite) {
  // 1e20 · 1e20 overflows f32: infinity − infinity is NaN there, and so here.
  Outcome outcome = interpret(fused(""), {f32({1, 1, 1, 3}, {1e20, 0, 0}), f32({1, 1, 1, 3}, {1e20, 0, 0}),
                                          f32({1, 1, 1, 3}, {1, 2, 3})});
  EXPECT_TRUE(holds(outcome[0], {1, 1, 1, 3}, {NaN, NaN, NaN}));
}

TEST(InterpreterAttention, MismatchedLengthsAreErrors) {
  std::vector<Tensor> inputs = figure(shape);
  inputs[2] = f32({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(interpret(fused(""), inputs).errors, "'attn.attention' op expected value length 3, but got 2\n");
}

// online_attention

std::string online(const std::string &options, const std::string &scale = "0.57735026918962576") {
  return R"(
    func.func @f(%q: tensor<?x3xf32>, %k: tensor<?x3xf32>, %v: tensor<?x3xf32>, %first: index, %acc: tensor<?x3xf32>,
                 %max: tensor<?xf32>, %sum: tensor<?x2xf32>) -> (tensor<?x3xf32>, tensor<?xf32>, tensor<?x2xf32>) {
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %r:3 = attn.online_attention ins(%q, %k, %v : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
        origin(%c0, %c0, %c0, %first, %c3, %c3)
        outs(%acc, %max, %sum : tensor<?x3xf32>, tensor<?xf32>, tensor<?x2xf32>) scale()" +
         scale + ") " + options + R"( : tensor<?x3xf32>, tensor<?xf32>, tensor<?x2xf32>
      return %r#0, %r#1, %r#2 : tensor<?x3xf32>, tensor<?xf32>, tensor<?x2xf32>
    })";
}

/// The figure in two steps, of two keys and of one, divided at the end.
Tensor inTwoSteps(const std::string &source) {
  std::vector<double> none(3, -inf), zeros(6, 0);
  Outcome first =
      interpret(source, {f32({3, 3}, query), f32({2, 3}, {key.begin(), key.begin() + 6}),
                         f32({2, 3}, {value.begin(), value.begin() + 6}), index(0),
                         f32({3, 3}, std::vector<double>(9, 0)), f32({3}, none), f32({3, 2}, zeros)});
  Outcome second = interpret(source, {f32({3, 3}, query), f32({1, 3}, {key.begin() + 6, key.end()}),
                                      f32({1, 3}, {value.begin() + 6, value.end()}), index(2), first[0],
                                      first[1], first[2]});
  Tensor result = second[0];
  for (int64_t at = 0; at < result.size(); ++at)
    result.values[at] /= second[2].values[at / 3 * 2] + second[2].values[at / 3 * 2 + 1];
  return result;
}

TEST(InterpreterAttention, OnlineStepsAddUp) {
  EXPECT_TRUE(holds(inTwoSteps(online("")), {3, 3}, attended, close));
  EXPECT_TRUE(holds(inTwoSteps(online(keep("%keep = attn.causal %i, %j"))), {3, 3}, attendedCausally, close));
}

TEST(InterpreterAttention, OnlineStepThatDoesNotAskKeepsAll) {
  std::string causal = keep("%keep = attn.causal %i, %j");
  std::string asked = online("asks(%asks) " + causal);
  auto with = [&](const char *value) {
    std::string source = asked;
    size_t body = source.find("%c0 =");
    return source.insert(body, "%asks = arith.constant " + std::string(value) + "\n      ");
  };
  EXPECT_TRUE(holds(inTwoSteps(with("true")), {3, 3}, attendedCausally, close));
  EXPECT_TRUE(holds(inTwoSteps(with("false")), {3, 3}, attended, close));
}

TEST(InterpreterAttention, OnlineStepsInPowersOfTwoAddUp) {
  const std::string overRootThreeAndLn2 = "0.8329403702157813";
  EXPECT_TRUE(holds(inTwoSteps(online("base2", overRootThreeAndLn2)), {3, 3}, attended, close));
}

TEST(InterpreterAttention, OnlineStepWithoutKeysChangesNothing) {
  Outcome outcome = interpret(online(keep("%keep = arith.constant false")),
                              {f32({1, 3}, {1, 2, 3}), f32({1, 3}, {NaN, 1, 1}), f32({1, 3}, {NaN, inf, 1}),
                               index(0), f32({1, 3}, {4, 5, 6}), f32({1}, {-inf}), f32({1, 2}, {0, 0})});
  EXPECT_TRUE(holds(outcome[0], {1, 3}, {4, 5, 6}));
  EXPECT_TRUE(holds(outcome[1], {1}, {-inf}));
  EXPECT_TRUE(holds(outcome[2], {1, 2}, {0, 0}));
}

// tile_softmax

Outcome tileSoftmax(const char *options, std::vector<double> scores, double max) {
  std::string source = std::string(R"(
    func.func @f(%s: tensor<1x2xf32>, %a: tensor<1x1xf32>, %m: tensor<1xf32>, %l: tensor<1x2xf32>)
        -> (tensor<1x2xf32>, tensor<1x1xf32>, tensor<1xf32>, tensor<1x2xf32>) {
      %r:4 = attn.tile_softmax outs(%s, %a, %m, %l : tensor<1x2xf32>, tensor<1x1xf32>, tensor<1xf32>, tensor<1x2xf32>) )") +
                       options + R"( -> tensor<1x2xf32>, tensor<1x1xf32>, tensor<1xf32>, tensor<1x2xf32>
      return %r#0, %r#1, %r#2, %r#3 : tensor<1x2xf32>, tensor<1x1xf32>, tensor<1xf32>, tensor<1x2xf32>
    })";
  return interpret(source, {f32({1, 2}, scores), f32({1, 1}, {4}), f32({1}, {max}), f32({1, 2}, {.25, .75})});
}

TEST(InterpreterAttention, TileSoftmaxMovesTheMaximum) {
  Outcome natural = tileSoftmax("", {1, 3}, 2), binary = tileSoftmax("base2", {1, 3}, 2);
  EXPECT_TRUE(holds(natural[0], {1, 2}, {.135335283, 1}, close));
  EXPECT_TRUE(holds(natural[1], {1, 1}, {1.471517765}, close));
  EXPECT_TRUE(holds(natural[2], {1}, {3}));
  EXPECT_TRUE(holds(natural[3], {1, 2}, {.091969860 + 1.135335283, .275909581}, close));
  EXPECT_TRUE(holds(binary[0], {1, 2}, {.25, 1}));
  EXPECT_TRUE(holds(binary[1], {1, 1}, {2}));
  EXPECT_TRUE(holds(binary[3], {1, 2}, {1.375, .375}));
}

TEST(InterpreterAttention, TileSoftmaxMarksWhatIsNotKept) {
  Outcome outcome = tileSoftmax("masked", {-inf, 2}, 2);
  EXPECT_TRUE(holds(outcome[0], {1, 2}, {-0.0, 1}));
  EXPECT_TRUE(holds(tileSoftmax("", {-inf, 2}, 2)[0], {1, 2}, {0, 1}));
  Outcome nothing = tileSoftmax("masked", {-inf, -inf}, -inf);
  EXPECT_TRUE(holds(nothing[0], {1, 2}, {-0.0, -0.0}));
  EXPECT_TRUE(holds(nothing[1], {1, 1}, {4}));
  EXPECT_TRUE(holds(nothing[2], {1}, {-inf}));
  EXPECT_TRUE(holds(nothing[3], {1, 2}, {.25, .75}));
}

TEST(InterpreterAttention, OnlineKeyPanels) {
  // Three keys of width 2 in panels of two; the last panel's padding is never read.
  std::string source = R"(
    func.func @f(%q: tensor<1x2xf32>, %k: tensor<2x2x2xf32>, %v: tensor<3x1xf32>, %acc: tensor<1x1xf32>,
                 %max: tensor<1xf32>, %sum: tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<1xf32>, tensor<1x1xf32>) {
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %r:3 = attn.online_attention ins(%q, %k, %v : tensor<1x2xf32>, tensor<2x2x2xf32>, tensor<3x1xf32>)
        origin(%c0, %c0, %c0, %c0, %c3, %c3)
        outs(%acc, %max, %sum : tensor<1x1xf32>, tensor<1xf32>, tensor<1x1xf32>)
        : tensor<1x1xf32>, tensor<1xf32>, tensor<1x1xf32>
      return %r#0, %r#1, %r#2 : tensor<1x1xf32>, tensor<1xf32>, tensor<1x1xf32>
    })";
  // Keys (1, 0), (0, 1), (1, 1) and query (1, 1): scores 1, 1, 2.
  Outcome outcome =
      interpret(source, {f32({1, 2}, {1, 1}), f32({2, 2, 2}, {1, 0, 0, 1, 1, NaN, 1, NaN}),
                         f32({3, 1}, {1, 2, 4}), f32({1, 1}, {0}), f32({1}, {-inf}), f32({1, 1}, {0})});
  double small = std::exp(-1.);
  EXPECT_TRUE(holds(outcome[0], {1, 1}, {3 * small + 4}, close));
  EXPECT_TRUE(holds(outcome[1], {1}, {2}));
  EXPECT_TRUE(holds(outcome[2], {1, 1}, {2 * small + 1}, close));
}

} // namespace
