// tensor ops and linalg's structured ops.
#include "tests/unit/Interpret.h"

using namespace heed;

namespace {

const std::vector<double> six = {1, 2, 3, 4, 5, 6};

/// `body` computes %r of type `result` from %x: tensor<2x3xf32>.
Outcome onMatrix(const std::string &body, const std::string &result) {
  return interpret("func.func @f(%x: tensor<2x3xf32>) -> " + result + " {\n" + body +
                       "\nreturn %r : " + result + "\n}",
                   {f32({2, 3}, six)});
}

TEST(InterpreterTensors, Slices) {
  EXPECT_TRUE(
      holds(onMatrix("%r = tensor.extract_slice %x[0, 1] [2, 2] [1, 1] : tensor<2x3xf32> to tensor<2x2xf32>",
                     "tensor<2x2xf32>")[0],
            {2, 2}, {2, 3, 5, 6}));
  EXPECT_TRUE(
      holds(onMatrix("%r = tensor.extract_slice %x[1, 0] [1, 2] [1, 2] : tensor<2x3xf32> to tensor<2xf32>",
                     "tensor<2xf32>")[0],
            {2}, {4, 6}));
  EXPECT_TRUE(holds(onMatrix(R"(%y = arith.constant dense<9.0> : tensor<2xf32>
      %r = tensor.insert_slice %y into %x[0, 1] [2, 1] [1, 1] : tensor<2xf32> into tensor<2x3xf32>)",
                             "tensor<2x3xf32>")[0],
                    {2, 3}, {1, 9, 3, 4, 9, 6}));
}

TEST(InterpreterTensors, SlicesOutsideAreErrors) {
  std::string source = R"(func.func @f(%x: tensor<?xf32>, %at: index, %n: index) -> tensor<?xf32> {
    %r = tensor.extract_slice %x[%at] [%n] [1] : tensor<?xf32> to tensor<?xf32>
    return %r : tensor<?xf32>
  })";
  EXPECT_TRUE(
      holds(interpret(source, {f32({3}, {1, 2, 3}), index(3), index(0)})[0], {0}, std::vector<double>{}));
  EXPECT_EQ(interpret(source, {f32({3}, {1, 2, 3}), index(2), index(2)}).errors,
            "'tensor.extract_slice' op expected slice inside dimension 0 of size 3, but got offset 2, size 2 "
            "and stride 1\n");
  EXPECT_NE(interpret(source, {f32({3}, {1, 2, 3}), index(-1), index(1)}).errors, "");
  EXPECT_NE(interpret(source, {f32({3}, {1, 2, 3}), index(0), index(-1)}).errors, "");
}

TEST(InterpreterTensors, Elements) {
  std::string source = R"(func.func @f(%x: tensor<2x3xf32>, %i: index) -> (f32, tensor<2x3xf32>, index) {
    %c1 = arith.constant 1 : index
    %e = tensor.extract %x[%c1, %i] : tensor<2x3xf32>
    %y = tensor.insert %e into %x[%i, %c1] : tensor<2x3xf32>
    %d = tensor.dim %x, %c1 : tensor<2x3xf32>
    return %e, %y, %d : f32, tensor<2x3xf32>, index
  })";
  Outcome outcome = interpret(source, {f32({2, 3}, six), index(0)});
  EXPECT_EQ(outcome[0].values.at(0), 4);
  EXPECT_TRUE(holds(outcome[1], {2, 3}, {1, 4, 3, 4, 5, 6}));
  EXPECT_EQ(outcome[2].integers.at(0), 3);
  EXPECT_EQ(interpret(source, {f32({2, 3}, six), index(3)}).errors,
            "'tensor.extract' op expected indices inside [2, 3], but got [1, 3]\n");
  EXPECT_EQ(interpret(source, {f32({2, 3}, six), index(2)}).errors,
            "'tensor.insert' op expected indices inside [2, 3], but got [2, 1]\n");
}

TEST(InterpreterTensors, InsertLeavesOtherReadersAlone) {
  Outcome outcome = interpret(R"(func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %c0 = arith.constant 0 : index
    %v = arith.constant 9.0 : f32
    %y = tensor.insert %v into %x[%c0] : tensor<2xf32>
    return %x, %y : tensor<2xf32>, tensor<2xf32>
  })",
                              {f32({2}, {1, 2})});
  EXPECT_TRUE(holds(outcome[0], {2}, {1, 2}));
  EXPECT_TRUE(holds(outcome[1], {2}, {9, 2}));
}

TEST(InterpreterTensors, Reshapes) {
  EXPECT_TRUE(holds(onMatrix("%r = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>",
                             "tensor<6xf32>")[0],
                    {6}, six));
  EXPECT_TRUE(holds(onMatrix("%r = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 1, 3] : "
                             "tensor<2x3xf32> into tensor<2x1x3xf32>",
                             "tensor<2x1x3xf32>")[0],
                    {2, 1, 3}, six));
  EXPECT_TRUE(
      holds(onMatrix("%r = tensor.cast %x : tensor<2x3xf32> to tensor<?x3xf32>", "tensor<?x3xf32>")[0],
            {2, 3}, six));
}

TEST(InterpreterTensors, CastToAnotherSizeIsAnError) {
  Outcome outcome = interpret(R"(func.func @f(%x: tensor<?xf32>) -> tensor<3xf32> {
    %r = tensor.cast %x : tensor<?xf32> to tensor<3xf32>
    return %r : tensor<3xf32>
  })",
                              {f32({2}, {1, 2})});
  EXPECT_EQ(outcome.errors, "'tensor.cast' op expected a tensor of shape [3], but got [2]\n");
}

TEST(InterpreterTensors, MakingTensors) {
  EXPECT_TRUE(holds(onMatrix("%r = tensor.empty() : tensor<2xf32>", "tensor<2xf32>")[0], {2}, {NaN, NaN}));
  EXPECT_TRUE(holds(
      onMatrix("%v = arith.constant 3.0 : f32\n%r = tensor.splat %v : tensor<2xf32>", "tensor<2xf32>")[0],
      {2}, {3, 3}));
  EXPECT_TRUE(holds(onMatrix("%v = arith.constant 3.0 : f32\n%w = arith.constant 4.0 : f32\n"
                             "%r = tensor.from_elements %v, %w : tensor<2xf32>",
                             "tensor<2xf32>")[0],
                    {2}, {3, 4}));
  EXPECT_TRUE(holds(onMatrix(R"(%r = tensor.generate {
      ^bb0(%i: index, %j: index):
        %e = tensor.extract %x[%j, %i] : tensor<2x3xf32>
        tensor.yield %e : f32
      } : tensor<3x2xf32>)",
                             "tensor<3x2xf32>")[0],
                    {3, 2}, {1, 4, 2, 5, 3, 6}));
  EXPECT_TRUE(holds(onMatrix("%r = ub.poison : tensor<1xf32>", "tensor<1xf32>")[0], {1}, {NaN}));
}

TEST(InterpreterTensors, AbsurdSizesAreErrors) {
  std::string source = R"(func.func @f(%n: index) -> tensor<?x?xf32> {
    %r = tensor.empty(%n, %n) : tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  })";
  EXPECT_EQ(interpret(source, {index(int64_t(1) << 40)}).errors,
            "'tensor.empty' op expected sizes of a tensor of at most 2^30 elements, but got [1099511627776, "
            "1099511627776]\n");
  EXPECT_NE(interpret(source, {index(-1)}).errors, "");
}

TEST(InterpreterTensors, PadAndConcat) {
  EXPECT_TRUE(holds(onMatrix(R"(%r = tensor.pad %x low[1, 0] high[0, 1] {
      ^bb0(%i: index, %j: index):
        %n = arith.index_cast %j : index to i32
        %e = arith.sitofp %n : i32 to f32
        tensor.yield %e : f32
      } : tensor<2x3xf32> to tensor<3x4xf32>)",
                             "tensor<3x4xf32>")[0],
                    {3, 4}, {0, 1, 2, 3, 1, 2, 3, 3, 4, 5, 6, 3}));
  EXPECT_TRUE(holds(
      onMatrix("%r = tensor.concat dim(1) %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>",
               "tensor<2x6xf32>")[0],
      {2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
}

TEST(InterpreterTensors, PackAndUnpack) {
  std::string pack = R"(%zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x2x2xf32>
    %p = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [1] inner_tiles = [2] into %e
      : tensor<2x3xf32> -> tensor<2x2x2xf32>
    )";
  EXPECT_TRUE(holds(
      onMatrix(pack + "%r = tensor.cast %p : tensor<2x2x2xf32> to tensor<?x2x2xf32>", "tensor<?x2x2xf32>")[0],
      {2, 2, 2}, {1, 2, 3, 0, 4, 5, 6, 0}));
  EXPECT_TRUE(holds(onMatrix(pack + R"(%u = tensor.empty() : tensor<2x3xf32>
    %r = linalg.unpack %p inner_dims_pos = [1] inner_tiles = [2] into %u : tensor<2x2x2xf32> -> tensor<2x3xf32>)",
                             "tensor<2x3xf32>")[0],
                    {2, 3}, six));
}

TEST(InterpreterTensors, PackedWeightsAreTransposedPanels) {
  // W[3, 2] by inner_dims_pos = [0]: panels [2, 2, 2] whose rows are inputs, columns outputs.
  Outcome outcome = interpret(R"(func.func @f(%w: tensor<3x2xf32>) -> tensor<2x2x2xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x2x2xf32>
    %p = linalg.pack %w padding_value(%zero : f32) inner_dims_pos = [0] inner_tiles = [2] into %e
      : tensor<3x2xf32> -> tensor<2x2x2xf32>
    return %p : tensor<2x2x2xf32>
  })",
                              {f32({3, 2}, six)});
  EXPECT_TRUE(holds(outcome[0], {2, 2, 2}, {1, 3, 2, 4, 5, 0, 6, 0}));
}

// linalg

TEST(InterpreterTensors, NamedOpsRunTheirRegions) {
  EXPECT_TRUE(holds(onMatrix(R"(%y = arith.constant dense<[[1.0], [10.0], [100.0]]> : tensor<3x1xf32>
    %init = arith.constant dense<0.5> : tensor<2x1xf32>
    %r = linalg.matmul ins(%x, %y : tensor<2x3xf32>, tensor<3x1xf32>) outs(%init : tensor<2x1xf32>) -> tensor<2x1xf32>)",
                             "tensor<2x1xf32>")[0],
                    {2, 1}, {321.5, 654.5}));
  EXPECT_TRUE(holds(onMatrix(R"(%e = tensor.empty() : tensor<3x2xf32>
    %r = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0])",
                             "tensor<3x2xf32>")[0],
                    {3, 2}, {1, 4, 2, 5, 3, 6}));
  EXPECT_TRUE(holds(onMatrix(R"(%v = arith.constant 2.0 : f32
    %e = tensor.empty() : tensor<2xf32>
    %r = linalg.fill ins(%v : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>)",
                             "tensor<2xf32>")[0],
                    {2}, {2, 2}));
  EXPECT_TRUE(
      holds(onMatrix(R"(%row = tensor.extract_slice %x[1, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
    %e = tensor.empty() : tensor<2x3xf32>
    %r = linalg.broadcast ins(%row : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0])",
                     "tensor<2x3xf32>")[0],
            {2, 3}, {4, 5, 6, 4, 5, 6}));
  EXPECT_TRUE(holds(onMatrix(R"(%init = arith.constant dense<0.0> : tensor<2xf32>
    %r = linalg.reduce ins(%x : tensor<2x3xf32>) outs(%init : tensor<2xf32>) dimensions = [1]
      (%in: f32, %out: f32) {
        %s = arith.addf %in, %out : f32
        linalg.yield %s : f32
      })",
                             "tensor<2xf32>")[0],
                    {2}, {6, 15}));
}

TEST(InterpreterTensors, GenericWithAnyMaps) {
  // A diagonal-like map with a sum of loops, two results, and the loops' own indices.
  Outcome outcome = interpret(R"(
    #sum = affine_map<(i, j) -> (i + j)>
    #row = affine_map<(i, j) -> (i)>
    #all = affine_map<(i, j) -> (i, j)>
    func.func @f(%x: tensor<4xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
      %zero = arith.constant dense<0.0> : tensor<2xf32>
      %e = tensor.empty() : tensor<2x3xf32>
      %r:2 = linalg.generic {indexing_maps = [#sum, #all, #all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%x, %y : tensor<4xf32>, tensor<2x3xf32>) outs(%e, %zero : tensor<2x3xf32>, tensor<2xf32>) {
        ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
          %j = linalg.index 1 : index
          %n = arith.index_cast %j : index to i32
          %g = arith.sitofp %n : i32 to f32
          %s = arith.addf %a, %g : f32
          %p = arith.mulf %s, %b : f32
          %t = arith.addf %p, %d : f32
          linalg.yield %s, %t : f32, f32
      } -> (tensor<2x3xf32>, tensor<2xf32>)
      return %r#0, %r#1 : tensor<2x3xf32>, tensor<2xf32>
    })",
                              {f32({4}, {10, 20, 30, 40}), f32({2, 3}, {1, 1, 1, 2, 0, 1})});
  EXPECT_TRUE(holds(outcome[0], {2, 3}, {10, 21, 32, 20, 31, 42}));
  EXPECT_TRUE(holds(outcome[1], {2}, {63, 82}));
}

TEST(InterpreterTensors, GenericOfUnequalSizesIsAnError) {
  Outcome outcome = interpret(R"(func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    return %r : tensor<?xf32>
  })",
                              {f32({2}, {1, 2}), f32({3}, {1, 2, 3})});
  EXPECT_EQ(outcome.errors, "'linalg.add' op expected operand 1 to fit loops [2], but got shape [3]\n");
}

} // namespace
