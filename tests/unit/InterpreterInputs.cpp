// Inputs for verifying: sizes, ranges, masks and awkward data, the same for the same seed.
#include "compiler/interpreter/Inputs.h"
#include "tests/unit/Interpret.h"

using namespace heed;

namespace {

/// @f(ids: [batch, seq] in [0, seq + 4], mask: [batch, seq] 0/1 and optional, x: [batch, seq, 8]) → [batch,
/// past + seq].
EntryInterface makeEntry() {
  EntryInterface entry;
  entry.name = entry.symbol = "f";
  entry.sizes = {"batch", "seq", "past"};
  auto size = [](unsigned number) { return SizeExpr::ofSize(number); };
  auto add = [&](const char *name, Role role, const char *type,
                 std::vector<SizeExpr> shape) -> ArgumentInterface & {
    ArgumentInterface &argument = entry.arguments.emplace_back();
    argument.name = name;
    argument.role = role;
    argument.elementType = typeOf(type);
    argument.shape = std::move(shape);
    return argument;
  };
  add("ids", Role::Input, "i64", {size(0), size(1)}).range = {SizeExpr::ofConstant(0),
                                                              size(1) + SizeExpr::ofConstant(4)};
  ArgumentInterface &mask = add("mask", Role::Input, "i64", {size(0), size(1)});
  mask.range = {SizeExpr::ofConstant(0), SizeExpr::ofConstant(1)};
  mask.defaultValue = "ones";
  add("x", Role::State, "f32", {size(0), size(1), SizeExpr::ofConstant(8)});
  add("y", Role::Output, "f32", {size(0), size(2) + size(1)});
  return entry;
}

TEST(InterpreterInputs, ShapesAndRangesFollowTheEntry) {
  std::vector<InputCase> cases = makeInputCases(makeEntry(), {});
  EXPECT_GE(cases.size(), 20u);
  int64_t largestMiss = 0;
  for (const InputCase &one : cases) {
    ASSERT_EQ(one.inputs.size(), 3u) << one.name;
    std::vector<int64_t> shape = {one.sizes[0], one.sizes[1]};
    EXPECT_EQ(llvm::ArrayRef<int64_t>(one.inputs[0].shape), llvm::ArrayRef<int64_t>(shape)) << one.name;
    EXPECT_EQ(one.inputs[2].dim(-1), 8);
    EXPECT_EQ(one.inputs[2].size(), one.sizes[0] * one.sizes[1] * 8);
    int64_t largest = 0;
    for (int64_t id : one.inputs[0].integers) {
      EXPECT_TRUE(id >= 0 && id <= one.sizes[1] + 4) << one.name;
      largest = std::max(largest, id);
    }
    largestMiss += !one.inputs[0].integers.empty() && largest != one.sizes[1] + 4;
    for (int64_t keep : one.inputs[1].integers)
      EXPECT_TRUE(keep == 0 || keep == 1) << one.name;
  }
  EXPECT_LE(largestMiss,
            5); // the lower end may have been written over the upper one, where there is little room
}

TEST(InterpreterInputs, EverySizeIsOnceZeroAndOnceAroundATile) {
  std::vector<InputCase> cases = makeInputCases(makeEntry(), {});
  for (unsigned size = 0; size < 3; ++size) {
    auto has = [&](int64_t value) {
      return llvm::any_of(cases, [&](const InputCase &one) { return one.sizes[size] == value; });
    };
    EXPECT_TRUE(has(0)) << size;
    EXPECT_TRUE(has(1)) << size;
  }
  for (int64_t length : {7, 15, 16, 17, 64, 65})
    EXPECT_TRUE(llvm::any_of(cases, [&](const InputCase &one) { return one.sizes[1] == length; })) << length;
}

TEST(InterpreterInputs, AwkwardDataOccurs) {
  bool hasNaN = false, hasInfinity = false, hasNegativeZero = false, hasTiny = false, hasLarge = false,
       hasEmptyMask = false, hasAbsent = false;
  for (const InputCase &one : makeInputCases(makeEntry(), {})) {
    for (double value : one.inputs[2].values) {
      hasNaN |= std::isnan(value);
      hasInfinity |= std::isinf(value);
      hasNegativeZero |= value == 0 && std::signbit(value);
      hasTiny |= value != 0 && std::fabs(value) < FLT_MIN;
      hasLarge |= std::fabs(value) > 1e4;
    }
    int64_t length = one.sizes[1];
    for (int64_t row = 0; row < one.sizes[0] && length > 0; ++row) {
      auto begin = one.inputs[1].integers.begin() + row * length;
      hasEmptyMask |= std::all_of(begin, begin + length, [](int64_t keep) { return keep == 0; });
    }
    hasAbsent |= one.absent[1];
    EXPECT_FALSE(one.absent[0] || one.absent[2]);
    if (one.absent[1])
      EXPECT_TRUE(llvm::all_of(one.inputs[1].integers, [](int64_t keep) { return keep == 1; }));
  }
  EXPECT_TRUE(hasNaN && hasInfinity && hasNegativeZero && hasTiny && hasLarge && hasEmptyMask && hasAbsent);
}

TEST(InterpreterInputs, RelationsAreObeyed) {
  EntryInterface entry = makeEntry();
  auto sizeOf = [&](llvm::StringRef name) { return entry.findSize(name); };
  entry.relations = {*parseRelation("past == 2 * batch", sizeOf), *parseRelation("seq <= 16", sizeOf)};
  std::vector<InputCase> cases = makeInputCases(entry, {});
  EXPECT_GE(cases.size(), 10u);
  for (const InputCase &one : cases) {
    EXPECT_EQ(one.sizes[2], 2 * one.sizes[0]) << one.name;
    EXPECT_LE(one.sizes[1], 16) << one.name;
  }
}

TEST(InterpreterInputs, TheSeedDecides) {
  InputOptions options;
  options.count = 3;
  std::vector<InputCase> first = makeInputCases(makeEntry(), options),
                         again = makeInputCases(makeEntry(), options);
  options.seed = 1;
  std::vector<InputCase> other = makeInputCases(makeEntry(), options);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first[0].inputs[2].values, again[0].inputs[2].values);
  EXPECT_NE(first[0].inputs[2].values, other[0].inputs[2].values);
  // Pinned, so that a seed that was printed can be run again anywhere.
  EXPECT_EQ(first[0].name, "ordinary values, batch 2, seq 7, past 5");
}

} // namespace
