// Comparisons with the oracle under given bounds; InterpreterBounds tests the bounds themselves.
#include "compiler/interpreter/Compare.h"
#include "tests/unit/Interpret.h"

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

TEST(InterpreterCompare, EitherReadingPasses) {
  Tensor expected = f32({1}, {NaN});
  expected.leftOut = std::make_shared<Tensor>(f32({1}, {2}));
  EXPECT_TRUE(compare(expected, f32({1}, {NaN})).ok);
  EXPECT_TRUE(compare(expected, f32({1}, {2})).ok);
  EXPECT_FALSE(compare(expected, f32({1}, {3})).ok);
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

} // namespace
