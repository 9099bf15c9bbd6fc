// arith, math and affine on numbers and, one by one, on tensors.
#include "tests/unit/Interpret.h"

using namespace heed;

namespace {

constexpr double close = 1e-12;

/// The result of unary `op` on f32 tensors.
std::vector<double> unary(const std::string &op, std::vector<double> x) {
  int64_t count = x.size();
  Outcome outcome = interpret("func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n%r = " + op +
                                  " %x : tensor<?xf32>\nreturn %r : tensor<?xf32>\n}",
                              {f32({count}, std::move(x))});
  return outcome[0].values;
}

double binary(const std::string &op, double a, double b) {
  Outcome outcome =
      interpret("func.func @f(%a: f32, %b: f32) -> f32 {\n%r = " + op + " %a, %b : f32\nreturn %r : f32\n}",
                {f32({}, {a}), f32({}, {b})});
  return outcome[0].values.at(0);
}

TEST(InterpreterScalars, FloatArithmetic) {
  EXPECT_EQ(binary("arith.addf", 1.5, 2), 3.5);
  EXPECT_EQ(binary("arith.subf", 1.5, 2), -.5);
  EXPECT_EQ(binary("arith.mulf", 1.5, 2), 3);
  EXPECT_EQ(binary("arith.divf", 1, 4), .25);
  EXPECT_EQ(binary("arith.divf", 1, 0), inf);
  EXPECT_EQ(binary("arith.remf", -7, 4), -3);
  EXPECT_EQ(binary("math.powf", 2, -3), .125);
  EXPECT_EQ(binary("math.copysign", 2, -0.0), -2);
  EXPECT_EQ(unary("arith.negf", {0, 2}), (std::vector<double>{-0.0, -2}));
}

TEST(InterpreterScalars, FloatsOverflowAsF32) {
  EXPECT_EQ(binary("arith.mulf", 1e30, -1e30), -inf);
  EXPECT_EQ(binary("arith.addf", 3e38, 3e38), inf);
  EXPECT_EQ(unary("math.exp", {89})[0], inf);
}

TEST(InterpreterScalars, MaximumKeepsNaNAndMaxnumDoesNot) {
  EXPECT_TRUE(std::isnan(binary("arith.maximumf", NaN, 1)));
  EXPECT_TRUE(std::isnan(binary("arith.minimumf", 1, NaN)));
  EXPECT_EQ(binary("arith.maxnumf", NaN, 1), 1);
  EXPECT_EQ(binary("arith.minnumf", 1, NaN), 1);
  EXPECT_EQ(binary("arith.maximumf", -2, 1), 1);
  EXPECT_EQ(binary("arith.minimumf", -2, 1), -2);
}

TEST(InterpreterScalars, Functions) {
  struct {
    const char *op;
    double x, y;
  } cases[] = {{"math.exp", 1, 2.718281828459045},
               {"math.exp2", 3, 8},
               {"math.expm1", 1, 1.718281828459045},
               {"math.log", 2, .6931471805599453},
               {"math.log2", 8, 3},
               {"math.log10", 1000, 3},
               {"math.log1p", 1, .6931471805599453},
               {"math.sin", 1, .8414709848078965},
               {"math.cos", 1, .5403023058681398},
               {"math.tanh", 1, .7615941559557649},
               {"math.erf", 1, .8427007929497149},
               {"math.erfc", 1, .15729920705028513},
               {"math.sqrt", 9, 3},
               {"math.rsqrt", 4, .5},
               {"math.absf", -3, 3},
               {"math.floor", -1.5, -2},
               {"math.ceil", -1.5, -1},
               {"math.round", 2.5, 3},
               {"math.roundeven", 2.5, 2},
               {"math.trunc", -1.5, -1}};
  for (auto &[op, x, y] : cases)
    EXPECT_NEAR(unary(op, {x})[0], y, close) << op;
  EXPECT_TRUE(std::isnan(unary("math.sqrt", {-1})[0]));
  EXPECT_EQ(unary("math.log", {0})[0], -inf);
}

TEST(InterpreterScalars, FusedMultiplyAdd) {
  Outcome outcome = interpret(R"(func.func @f(%a: f32, %b: f32, %c: f32) -> f32 {
    %r = math.fma %a, %b, %c : f32
    return %r : f32
  })",
                              {f32({}, {2}), f32({}, {3}), f32({}, {4})});
  EXPECT_EQ(outcome[0].values.at(0), 10);
}

/// The result of a binary integer op of `type`.
Outcome integers(const std::string &op, const std::string &type, int64_t a, int64_t b,
                 const char *result = nullptr) {
  std::string to = result ? result : type;
  return interpret("func.func @f(%a: " + type + ", %b: " + type + ") -> " + to + " {\n%r = " + op +
                       " %a, %b : " + type + "\nreturn %r : " + to + "\n}",
                   {Tensor::ofIntegers(typeOf(type), {}, {a}), Tensor::ofIntegers(typeOf(type), {}, {b})});
}

TEST(InterpreterScalars, IntegerArithmeticWrapsAround) {
  struct {
    const char *op, *type;
    int64_t a, b, y;
  } cases[] = {{"arith.addi", "i32", INT32_MAX, 1, INT32_MIN},
               {"arith.subi", "i8", -128, 1, 127},
               {"arith.muli", "i16", 300, 300, 24464},
               {"arith.divsi", "i32", -7, 2, -3},
               {"arith.remsi", "i32", -7, 2, -1},
               {"arith.floordivsi", "index", -7, 2, -4},
               {"arith.ceildivsi", "index", -7, 2, -3},
               {"arith.divui", "i8", -1, 2, 127},
               {"arith.remui", "i8", -1, 7, 3},
               {"arith.ceildivui", "index", 7, 2, 4},
               {"arith.andi", "i32", 12, 10, 8},
               {"arith.ori", "i32", 12, 10, 14},
               {"arith.xori", "i1", 1, 1, 0},
               {"arith.maxsi", "i32", -1, 1, 1},
               {"arith.maxui", "i32", -1, 1, -1},
               {"arith.minsi", "i32", -1, 1, -1},
               {"arith.minui", "i32", -1, 1, 1},
               {"arith.shli", "i8", 1, 7, -128},
               {"arith.shrsi", "i8", -128, 7, -1},
               {"arith.shrui", "i8", -128, 7, 1},
               {"arith.addi", "i1", 1, 1, 0}};
  for (auto &[op, type, a, b, y] : cases)
    EXPECT_TRUE(holds(integers(op, type, a, b)[0], {}, std::vector<int64_t>{y})) << op << " " << type;
}

TEST(InterpreterScalars, UndefinedIntegerResultsAreErrors) {
  for (const char *op : {"arith.divsi", "arith.remsi", "arith.floordivsi", "arith.ceildivsi", "arith.divui",
                         "arith.remui", "arith.ceildivui"})
    EXPECT_EQ(integers(op, "i32", 1, 0).errors,
              "'" + std::string(op) + "' op expected operands for which it is defined\n");
  for (const char *op : {"arith.divsi", "arith.remsi"})
    EXPECT_NE(integers(op, "i64", INT64_MIN, -1).errors, "") << op;
  for (const char *op : {"arith.shli", "arith.shrsi", "arith.shrui"})
    EXPECT_NE(integers(op, "i32", 1, 32).errors, "") << op;
}

TEST(InterpreterScalars, IntegerComparisons) {
  struct {
    const char *predicate, *type;
    int64_t a, b, y;
  } cases[] = {{"eq", "i32", 1, 1, 1},   {"ne", "i32", 1, 1, 0},   {"slt", "i32", -1, 1, 1},
               {"sle", "i32", 2, 1, 0},  {"sgt", "i32", -1, 1, 0}, {"sge", "i32", 1, 1, 1},
               {"ult", "i32", -1, 1, 0}, {"ule", "i32", 1, 1, 1},  {"ugt", "i32", -1, 1, 1},
               {"uge", "i32", -1, 1, 1}, {"slt", "i1", 1, 0, 1},   {"ult", "i1", 1, 0, 0}};
  for (auto &[predicate, type, a, b, y] : cases)
    EXPECT_TRUE(holds(integers("arith.cmpi " + std::string(predicate) + ",", type, a, b, "i1")[0], {},
                      std::vector<int64_t>{y}))
        << predicate << " " << type;
}

TEST(InterpreterScalars, FloatComparisons) {
  auto compare = [](const std::string &predicate, double a, double b) {
    Outcome outcome = interpret("func.func @f(%a: f32, %b: f32) -> i1 {\n%r = arith.cmpf " + predicate +
                                    ", %a, %b : f32\nreturn %r : i1\n}",
                                {f32({}, {a}), f32({}, {b})});
    return outcome[0].integers.at(0);
  };
  EXPECT_TRUE(compare("oeq", 1, 1) && !compare("oeq", 1, NaN) && compare("ueq", 1, NaN));
  EXPECT_TRUE(compare("olt", 1, 2) && !compare("olt", NaN, 2) && compare("ult", NaN, 2));
  EXPECT_TRUE(compare("oge", 2, 2) && !compare("ogt", 2, 2) && compare("une", NaN, NaN) &&
              !compare("one", NaN, 1));
  EXPECT_TRUE(compare("uno", NaN, 1) && compare("ord", 1, 2) && !compare("ord", NaN, 2));
  EXPECT_TRUE(compare("true", NaN, 1) && !compare("false", 1, 1));
}

/// A cast op from one type to another.
Outcome cast(const std::string &op, const std::string &from, const std::string &to, Tensor x) {
  return interpret("func.func @f(%x: " + from + ") -> " + to + " {\n%r = " + op + " %x : " + from + " to " +
                       to + "\nreturn %r : " + to + "\n}",
                   {std::move(x)});
}

TEST(InterpreterScalars, Casts) {
  auto integer = [](const char *type, int64_t x) { return Tensor::ofIntegers(typeOf(type), {}, {x}); };
  struct {
    const char *op, *from, *to;
    int64_t x, y;
  } integers[] = {
      {"arith.extsi", "i1", "i32", 1, -1},          {"arith.extui", "i1", "i32", 1, 1},
      {"arith.extui", "i8", "i32", -1, 255},        {"arith.trunci", "i32", "i8", 200, -56},
      {"arith.index_cast", "i32", "index", -5, -5}, {"arith.index_castui", "i32", "index", -1, 4294967295}};
  for (auto &[op, from, to, x, y] : integers)
    EXPECT_TRUE(holds(cast(op, from, to, integer(from, x))[0], {}, std::vector<int64_t>{y})) << op;
  EXPECT_EQ(cast("arith.sitofp", "i1", "f32", integer("i1", 1))[0].values.at(0), -1);
  EXPECT_EQ(cast("arith.uitofp", "i8", "f32", integer("i8", -1))[0].values.at(0), 255);
  EXPECT_EQ(cast("arith.sitofp", "i32", "f16", integer("i32", 2049))[0].values.at(0), 2048);
  EXPECT_EQ(cast("arith.fptosi", "f32", "i8", f32({}, {-128.9}))[0].integers.at(0), -128);
  EXPECT_NE(cast("arith.fptosi", "f32", "i8", f32({}, {128})).errors, "");
  EXPECT_NE(cast("arith.fptosi", "f32", "i64", f32({}, {NaN})).errors, "");
  EXPECT_EQ(cast("arith.fptoui", "f32", "i8", f32({}, {255.5}))[0].integers.at(0), -1);
  EXPECT_EQ(cast("arith.bitcast", "f32", "i32", f32({}, {-2}))[0].integers.at(0), int32_t(0xC0000000));
  EXPECT_EQ(cast("arith.bitcast", "i16", "bf16", integer("i16", 0x3FC0))[0].values.at(0), 1.5);
}

TEST(InterpreterScalars, TruncationRoundsToNearestEven) {
  auto to = [](const char *type, double x) {
    return cast("arith.truncf", "f32", type, f32({}, {x}))[0].values.at(0);
  };
  EXPECT_EQ(to("f16", 2049), 2048);
  EXPECT_EQ(to("f16", 2051), 2052);
  EXPECT_EQ(to("f16", 65520), inf);
  EXPECT_EQ(to("f16", 65519), 65504);
  EXPECT_EQ(to("f16", 0x1p-25), 0);
  EXPECT_EQ(to("bf16", 1.00390625), 1);
  EXPECT_EQ(to("bf16", 1.01171875), 1.015625);
  EXPECT_EQ(to("f16", -inf), -inf);
  EXPECT_TRUE(std::isnan(to("bf16", NaN)));
}

TEST(InterpreterScalars, ElementwiseOnTensors) {
  Outcome outcome = interpret(R"(func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
    %less = arith.cmpf olt, %x, %y : tensor<2xf32>
    %r = arith.select %less, %x, %y : tensor<2xi1>, tensor<2xf32>
    return %r : tensor<2xf32>
  })",
                              {f32({2}, {1, 5}), f32({2}, {3, 4})});
  EXPECT_TRUE(holds(outcome[0], {2}, {1, 4}));
}

TEST(InterpreterScalars, ElementwiseOnUnequalShapesIsAnError) {
  Outcome outcome = interpret(R"(func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = arith.addf %x, %y : tensor<?xf32>
    return %r : tensor<?xf32>
  })",
                              {f32({2}, {1, 5}), f32({1}, {3})});
  EXPECT_EQ(outcome.errors, "'arith.addf' op expected operands of one shape, but got [2] and [1]\n");
}

TEST(InterpreterScalars, ConstantsOfEveryKind) {
  Outcome outcome = interpret(R"(func.func @f() -> (f32, i8, i1, tensor<2xbf16>, tensor<2x2xi32>, f16) {
    %a = arith.constant 1.5 : f32
    %b = arith.constant -3 : i8
    %c = arith.constant true
    %d = arith.constant dense<[1.0, 0xFF80]> : tensor<2xbf16>
    %e = arith.constant dense<7> : tensor<2x2xi32>
    %g = arith.constant 0xFC00 : f16
    return %a, %b, %c, %d, %e, %g : f32, i8, i1, tensor<2xbf16>, tensor<2x2xi32>, f16
  })",
                              {});
  EXPECT_TRUE(holds(outcome[0], {}, {1.5}));
  EXPECT_TRUE(holds(outcome[1], {}, std::vector<int64_t>{-3}));
  EXPECT_TRUE(holds(outcome[2], {}, std::vector<int64_t>{1}));
  EXPECT_TRUE(holds(outcome[3], {2}, {1, -inf}));
  EXPECT_TRUE(holds(outcome[4], {2, 2}, std::vector<int64_t>{7, 7, 7, 7}));
  EXPECT_TRUE(holds(outcome[5], {}, {-inf}));
}

TEST(InterpreterScalars, AffineMapsFloor) {
  auto apply = [](int64_t x) {
    Outcome outcome = interpret(R"(func.func @f(%x: index) -> (index, index, index, index, index) {
      %a = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%x)
      %b = affine.apply affine_map<(d0)[s0] -> (d0 mod 4 + s0 * 10)>(%x)[%x]
      %c = affine.apply affine_map<(d0) -> (d0 ceildiv 4)>(%x)
      %d = affine.min affine_map<(d0) -> (8, d0 + 2)>(%x)
      %e = affine.max affine_map<(d0) -> (8, d0 + 2)>(%x)
      return %a, %b, %c, %d, %e : index, index, index, index, index
    })",
                                {index(x)});
    std::vector<int64_t> values;
    for (const Tensor &result : outcome.results)
      values.push_back(result.integers[0]);
    return values;
  };
  EXPECT_EQ(apply(7), (std::vector<int64_t>{1, 73, 2, 8, 9}));
  EXPECT_EQ(apply(-5), (std::vector<int64_t>{-2, -47, -1, -3, 8}));
}

TEST(InterpreterScalars, LinearIndicesComeApartAndTogether) {
  Outcome outcome = interpret(R"(func.func @f(%x: index) -> (index, index, index, index) {
    %c:3 = affine.delinearize_index %x into (2, 3, 4) : index, index, index
    %y = affine.linearize_index [%c#0, %c#1, %c#2] by (2, 3, 4) : index
    return %c#0, %c#1, %c#2, %y : index, index, index, index
  })",
                              {index(23)});
  std::vector<int64_t> values;
  for (const Tensor &result : outcome.results)
    values.push_back(result.integers[0]);
  EXPECT_EQ(values, (std::vector<int64_t>{1, 2, 3, 23}));
}

} // namespace
