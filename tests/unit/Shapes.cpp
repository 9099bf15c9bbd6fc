// Shapes that operations infer: with static operands and a dynamic result type, each size folds to a known
// number.
#include "dialect/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace mlir;
using namespace heed;

namespace {

struct Case {
  std::string name, arguments, op;
  std::vector<std::vector<int64_t>> shapes; ///< of each result
};

struct Shapes : ::testing::TestWithParam<Case> {};

TEST_P(Shapes, AreThoseOfTheOperands) {
  MLIRContext context;
  context.loadDialect<attn::AttnDialect, func::FuncDialect>();
  std::string source = "func.func @f(" + GetParam().arguments +
                       ") {\n %0:" + std::to_string(GetParam().shapes.size()) + " = " + GetParam().op +
                       "\n return }";
  auto module = parseSourceString<ModuleOp>(source, &context);
  ASSERT_TRUE(module) << source;
  ReifyRankedShapedTypeOpInterface op;
  module->walk([&](Operation *found) {
    if (found->getDialect() == context.getLoadedDialect("attn"))
      op = cast<ReifyRankedShapedTypeOpInterface>(found);
  });

  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  ReifiedRankedShapedTypeDims reified;
  ASSERT_TRUE(succeeded(op.reifyResultShapes(builder, reified)));
  ASSERT_EQ(reified.size(), GetParam().shapes.size());
  SmallVector<Value> sizes;
  std::vector<int64_t> expected;
  for (auto [result, shape, known] : llvm::zip_equal(op->getResults(), reified, GetParam().shapes)) {
    auto type = cast<RankedTensorType>(result.getType());
    ASSERT_EQ(static_cast<size_t>(type.getRank()), shape.size());
    ASSERT_EQ(known.size(), shape.size());
    for (auto [dim, size] : llvm::enumerate(shape)) {
      EXPECT_EQ(type.isDynamicDim(dim), isa<Value>(size))
          << "a value for a dynamic size, an attribute for a static one";
      if (auto attribute = dyn_cast<Attribute>(size)) {
        EXPECT_EQ(cast<IntegerAttr>(attribute).getInt(), known[dim]);
        continue;
      }
      sizes.push_back(cast<Value>(size));
      expected.push_back(known[dim]);
    }
  }

  auto function = *module->getOps<func::FuncOp>().begin();
  function.setFunctionType(
      builder.getFunctionType(function.getArgumentTypes(), ValueRange(sizes).getTypes()));
  function.front().getTerminator()->setOperands(sizes);
  PassManager passes(&context);
  passes.addPass(createCanonicalizerPass());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  for (auto [size, known] : llvm::zip_equal(function.front().getTerminator()->getOperands(), expected)) {
    IntegerAttr value;
    ASSERT_TRUE(matchPattern(size, m_Constant(&value)));
    EXPECT_EQ(value.getInt(), known);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, Shapes,
    ::testing::Values(
        Case{"Matmul",
             "%a: tensor<2x8x3x4xf32>, %b: tensor<2x2x4x5xf32>",
             "attn.matmul %a, %b : (tensor<2x8x3x4xf32>, tensor<2x2x4x5xf32>) -> tensor<?x?x?x?xf32>",
             {{2, 8, 3, 5}}},
        Case{"MatmulTransposed",
             "%a: tensor<3x4xf32>, %b: tensor<5x4xf32>",
             "attn.matmul %a, %b transpose_rhs : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<?x5xf32>",
             {{3, 5}}},
        Case{"Softmax", "%a: tensor<3x4xf32>", "attn.softmax %a : tensor<3x4xf32>", {{3, 4}}},
        Case{"AdditiveScores",
             "%q: tensor<2x3x6xf32>, %k: tensor<2x5x6xf32>, %v: tensor<6xf32>",
             "attn.additive_scores %q, %k, %v : (tensor<2x3x6xf32>, tensor<2x5x6xf32>, tensor<6xf32>) -> "
             "tensor<?x?x?xf32>",
             {{2, 3, 5}}},
        Case{"Attention",
             "%q: tensor<2x3x8x4xf32>, %k: tensor<7x2x2x4xf32>, %v: tensor<2x6x2x7xf32>",
             "attn.attention %q, %k, %v layout(\"bqhd,kbhd,behk->qebh\") : tensor<2x3x8x4xf32>, "
             "tensor<7x2x2x4xf32>, tensor<2x6x2x7xf32> -> tensor<?x?x?x?xf32>, tensor<?x?x?xf32>",
             {{3, 6, 2, 8}, {3, 2, 8}}},
        Case{"Linear",
             "%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>",
             "attn.linear %x, %w : tensor<2x3x4xf32>, tensor<5x4xf32> -> tensor<?x?x?xf32>",
             {{2, 3, 5}}},
        Case{"LayerNorm",
             "%x: tensor<3x4xf32>",
             "attn.layer_norm %x epsilon(1.0) : tensor<3x4xf32>",
             {{3, 4}}},
        Case{"Embedding",
             "%t: tensor<9x4xf32>, %i: tensor<2x3xi64>",
             "attn.embedding %t, %i : (tensor<9x4xf32>, tensor<2x3xi64>) -> tensor<?x?x?xf32>",
             {{2, 3, 4}}},
        Case{"SplitHeads",
             "%x: tensor<2x5x12xf32>",
             "attn.split_heads %x heads(3) : tensor<2x5x12xf32> -> tensor<?x?x?x?xf32>",
             {{2, 3, 5, 4}}},
        Case{"MergeHeads",
             "%x: tensor<2x3x5x4xf32>",
             "attn.merge_heads %x : tensor<2x3x5x4xf32> -> tensor<?x?x?xf32>",
             {{2, 5, 12}}},
        Case{"Argmax", "%x: tensor<2x3xf32>", "attn.argmax %x : tensor<2x3xf32> -> tensor<?xi64>", {{2}}},
        Case{"TopK",
             "%x: tensor<2x9xf32>",
             "attn.top_k %x k(3) : tensor<2x9xf32> -> tensor<?x?xf32>, tensor<?x3xi64>",
             {{2, 3}, {2, 3}}}),
    [](const auto &info) { return info.param.name; });

/// A size that only run time knows is that of the operand.
TEST(ShapesDynamic, AreDimensionsOfTheOperand) {
  MLIRContext context;
  context.loadDialect<attn::AttnDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(
      "func.func @f(%x: tensor<3x?xf32>) { %0 = attn.relu %x : tensor<3x?xf32>\n return }", &context);
  ASSERT_TRUE(module);
  attn::ReluOp relu;
  module->walk([&](attn::ReluOp found) { relu = found; });
  OpBuilder builder(relu);
  ReifiedRankedShapedTypeDims shapes;
  ASSERT_TRUE(succeeded(relu.reifyResultShapes(builder, shapes)));
  auto size = cast<Value>(shapes[0][1]).getDefiningOp<tensor::DimOp>();
  ASSERT_TRUE(size);
  EXPECT_EQ(size.getSource(), relu.getInput());
  EXPECT_EQ(size.getConstantIndex(), 1);
}

} // namespace
