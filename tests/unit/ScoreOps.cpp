// Score operations and activations at single points, against constants computed by hand.
#include "dialect/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace mlir;
using namespace heed;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct ScoreOps : ::testing::Test {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  attn::ScoreOpInterface op;
  std::vector<std::vector<double>> tensors; ///< elements of each read, row-major

  ScoreOps() { context.loadDialect<attn::AttnDialect, func::FuncDialect>(); }

  /// Makes `op` the only score operation of a function with these arguments.
  void parse(StringRef arguments, StringRef text) {
    std::string source = ("func.func @f(" + arguments + ") {\n %0 = " + text + "\n return }").str();
    module = parseSourceString<ModuleOp>(source, &context);
    ASSERT_TRUE(module) << source;
    module->walk([&](attn::ScoreOpInterface found) { op = found; });
  }

  double evaluate(double score, std::vector<int64_t> coordinate, std::vector<int64_t> shape) {
    auto reads = op.getScoreReads();
    return op.evaluateScore(score, coordinate, shape, [&](unsigned index, ArrayRef<int64_t> own) {
      auto type = cast<RankedTensorType>(reads[index].tensor.getType());
      int64_t offset = 0;
      for (auto [position, size] : llvm::zip_equal(own, type.getShape()))
        offset = offset * size + position;
      return tensors.at(index).at(offset);
    });
  }
};

TEST_F(ScoreOps, ScaleMultiplies) {
  parse("%x: tensor<2x3xf32>", "attn.scale %x by 0.125 : tensor<2x3xf32>");
  EXPECT_EQ(evaluate(3, {0, 0}, {2, 3}), 0.375);
  EXPECT_EQ(evaluate(-infinity, {0, 0}, {2, 3}), -infinity);
}

TEST_F(ScoreOps, SoftcapBounds) {
  parse("%x: tensor<2x3xf32>", "attn.softcap %x by 2.0 : tensor<2x3xf32>");
  EXPECT_DOUBLE_EQ(evaluate(1, {0, 0}, {2, 3}), 0.9242343145200195);
  EXPECT_EQ(evaluate(-infinity, {0, 0}, {2, 3}), -2);
}

TEST_F(ScoreOps, BiasBroadcasts) {
  parse("%x: tensor<2x2x3xf32>, %b: tensor<1x3xf32>",
        "attn.bias %x, %b : tensor<2x2x3xf32>, tensor<1x3xf32>");
  tensors = {{10, 20, 30}};
  EXPECT_EQ(evaluate(1, {1, 1, 2}, {2, 2, 3}), 31);
  EXPECT_EQ(evaluate(1, {0, 0, 0}, {2, 2, 3}), 11);
  EXPECT_EQ(op.getScoreReads()[0].map.compose({1, 1, 2}), (SmallVector<int64_t>{0, 2}));
}

TEST_F(ScoreOps, AlibiPenalizesBothDirections) {
  parse("%x: tensor<1x2x9x9xf32>, %m: tensor<2xf32>",
        "attn.alibi %x, %m : tensor<1x2x9x9xf32>, tensor<2xf32>");
  tensors = {{0.5, 0.25}};
  EXPECT_EQ(evaluate(1, {0, 1, 5, 2}, {1, 2, 9, 9}), 0.25);
  EXPECT_EQ(evaluate(1, {0, 1, 5, 8}, {1, 2, 9, 9}), 0.25);
  EXPECT_EQ(evaluate(1, {0, 0, 5, 2}, {1, 2, 9, 9}), -0.5);
}

/// Distances have a bucket each before the first of `edges`, and the next bucket starts at each of them.
void expectBuckets(llvm::function_ref<double(int64_t)> bucketOf, std::vector<int64_t> edges) {
  for (int64_t distance = 0; distance <= 140; ++distance) {
    auto passed = std::upper_bound(edges.begin(), edges.end(), distance) - edges.begin();
    EXPECT_EQ(bucketOf(distance), passed ? edges[0] + passed - 1 : distance) << "at distance " << distance;
  }
}

TEST_F(ScoreOps, RelativeBiasOfADecoderHasTheBucketsOfT5) {
  parse("%x: tensor<1x1x9x9xf32>, %t: tensor<32x1xf32>",
        "attn.relative_bias %x, %t max_distance(128) : tensor<1x1x9x9xf32>, tensor<32x1xf32>");
  tensors.emplace_back();
  for (int bucket = 0; bucket < 32; ++bucket)
    tensors[0].push_back(bucket);
  expectBuckets([&](int64_t distance) { return evaluate(0, {0, 0, distance, 0}, {1, 1, 200, 200}); },
                {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113});
  EXPECT_EQ(evaluate(0, {0, 0, 3, 9}, {1, 1, 200, 200}), 0) << "later keys count as distance 0";
}

TEST_F(ScoreOps, RelativeBiasOfAnEncoderGivesHalfTheBucketsToLaterKeys) {
  parse("%x: tensor<1x1x9x9xf32>, %t: tensor<32x1xf32>",
        "attn.relative_bias %x, %t bidirectional max_distance(128) : tensor<1x1x9x9xf32>, tensor<32x1xf32>");
  tensors.emplace_back();
  for (int bucket = 0; bucket < 32; ++bucket)
    tensors[0].push_back(bucket);
  expectBuckets([&](int64_t distance) { return evaluate(0, {0, 0, distance, 0}, {1, 1, 200, 200}); },
                {8, 12, 16, 23, 32, 46, 64, 91});
  for (int64_t distance = 1; distance <= 140; ++distance)
    EXPECT_EQ(evaluate(0, {0, 0, 0, distance}, {1, 1, 200, 200}),
              evaluate(0, {0, 0, distance, 0}, {1, 1, 200, 200}) + 16);
}

/// The integer compares that are emitted choose as the formula does: folded at constants, they give the same.
TEST_F(ScoreOps, RelativeBiasIsEmittedAsEvaluated) {
  for (StringRef form : {"max_distance(128)", "bidirectional max_distance(128)", "max_distance(20)",
                         "bidirectional max_distance(9)"}) {
    parse("%x: tensor<1x1x9x9xf32>, %t: tensor<32x1xf32>",
          ("attn.relative_bias %x, %t " + form + " : tensor<1x1x9x9xf32>, tensor<32x1xf32>").str());
    tensors.assign(1, {});
    std::vector<float> table;
    for (int bucket = 0; bucket < 32; ++bucket) {
      tensors[0].push_back(bucket);
      table.push_back(static_cast<float>(bucket));
    }
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto type = RankedTensorType::get({32, 1}, builder.getF32Type());
    Value constant = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef(table)));
    Value zero = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
    auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
    SmallVector<Value> scores;
    std::vector<double> expected;
    for (int64_t relative = -140; relative <= 140; ++relative) {
      int64_t query = std::max<int64_t>(-relative, 0), key = query + relative;
      attn::ScorePoint point{index(0), index(0), index(query), index(key), index(200), index(200)};
      scores.push_back(op.buildScore(builder, loc, zero, point, constant));
      expected.push_back(evaluate(0, {0, 0, query, key}, {1, 1, 200, 200}));
    }
    auto function = *module->getOps<func::FuncOp>().begin();
    function.setFunctionType(
        builder.getFunctionType(function.getArgumentTypes(), ValueRange(scores).getTypes()));
    function.front().getTerminator()->setOperands(scores);
    PassManager passes(&context);
    passes.addPass(createCanonicalizerPass());
    ASSERT_TRUE(succeeded(passes.run(*module)));
    Operation *terminator = function.front().getTerminator();
    ASSERT_EQ(terminator->getNumOperands(), expected.size());
    for (auto [at, score] : llvm::enumerate(terminator->getOperands())) {
      FloatAttr value;
      ASSERT_TRUE(matchPattern(score, m_Constant(&value)));
      EXPECT_EQ(value.getValueAsDouble(), expected[at])
          << form.str() << " at " << static_cast<int64_t>(at) - 140;
    }
  }
}

TEST_F(ScoreOps, ReluKeepsNaN) {
  parse("%x: tensor<2xf32>", "attn.relu %x : tensor<2xf32>");
  EXPECT_EQ(evaluate(-1, {0}, {2}), 0);
  EXPECT_EQ(evaluate(2, {0}, {2}), 2);
  EXPECT_TRUE(std::isnan(evaluate(std::nan(""), {0}, {2})));
}

TEST_F(ScoreOps, Silu) {
  parse("%x: tensor<2xf32>", "attn.silu %x : tensor<2xf32>");
  EXPECT_DOUBLE_EQ(evaluate(1, {0}, {2}), 0.7310585786300049);
  EXPECT_DOUBLE_EQ(evaluate(-2, {0}, {2}), -0.2384058440442351);
}

TEST_F(ScoreOps, GeluExact) {
  parse("%x: tensor<2xf32>", "attn.gelu %x : tensor<2xf32>");
  EXPECT_DOUBLE_EQ(evaluate(1, {0}, {2}), 0.8413447460685429);
  EXPECT_DOUBLE_EQ(evaluate(-2, {0}, {2}), -0.04550026389635844);
}

TEST_F(ScoreOps, GeluTanh) {
  parse("%x: tensor<2xf32>", "attn.gelu %x form(tanh) : tensor<2xf32>");
  EXPECT_DOUBLE_EQ(evaluate(1, {0}, {2}), 0.8411919906082768);
  EXPECT_NEAR(evaluate(-2, {0}, {2}), -0.04540230591222494, 1e-16);
}

TEST_F(ScoreOps, GatedMultipliesByUp) {
  parse("%x: tensor<2xf32>, %y: tensor<2xf32>", "attn.gated %x, %y activation(silu) : tensor<2xf32>");
  tensors = {{5, 3}};
  EXPECT_DOUBLE_EQ(evaluate(1, {1}, {2}), 2.193175735890015);
}

TEST_F(ScoreOps, MaskComposesKeepsAndReads) {
  parse("%x: tensor<2x1x3x4xf32>, %valid: tensor<2x4xi1>, %ids: tensor<2x4xi32>",
        R"(attn.mask %x reads(%valid, %ids : tensor<2x4xi1>, tensor<2x4xi32>)
          maps [affine_map<(b, h, q, k) -> (b, k)>, affine_map<(b, h, q, k) -> ()>]
          keep(%b, %h, %q, %k, %query_len, %key_len, %flag, %all) {
            %causal = attn.causal %q, %k bottom_right(%query_len, %key_len)
            %query_id = tensor.extract %all[%b, %q] : tensor<2x4xi32>
            %key_id = tensor.extract %all[%b, %k] : tensor<2x4xi32>
            %same = attn.same_document %query_id, %key_id : i32
            %both = arith.andi %causal, %flag : i1
            %every = arith.andi %both, %same : i1
            attn.yield %every : i1
          } : tensor<2x1x3x4xf32>)");
  tensors = {{1, 1, 1, 1, 1, 0, 1, 1}, {7, 7, 8, 8, 7, 7, 7, 7}};
  EXPECT_EQ(evaluate(5, {0, 0, 0, 0}, {2, 1, 3, 4}), 5);
  EXPECT_EQ(evaluate(5, {0, 0, 0, 1}, {2, 1, 3, 4}), 5) << "bottom right: query 0 of 3 sees key 1 of 4";
  EXPECT_EQ(evaluate(5, {0, 0, 0, 2}, {2, 1, 3, 4}), -infinity) << "after the query";
  EXPECT_EQ(evaluate(5, {0, 0, 1, 2}, {2, 1, 3, 4}), -infinity) << "another document";
  EXPECT_EQ(evaluate(5, {1, 0, 1, 2}, {2, 1, 3, 4}), 5);
  EXPECT_EQ(evaluate(5, {1, 0, 2, 1}, {2, 1, 3, 4}), -infinity) << "not valid";
}

TEST_F(ScoreOps, MaskThatCannotBeEvaluatedIsNaN) {
  parse("%x: tensor<3x4xf32>, %all: tensor<?xi1>",
        R"(attn.mask %x reads(%all : tensor<?xi1>) maps [affine_map<(b, h, q, k) -> ()>]
          keep(%b, %h, %q, %k, %query_len, %key_len, %whole) {
            %zero = arith.constant 0 : index
            %size = tensor.dim %whole, %zero : tensor<?xi1>
            %keep = attn.prefix %k, %size
            attn.yield %keep : i1
          } : tensor<3x4xf32>)");
  tensors = {{1}};
  EXPECT_TRUE(std::isnan(evaluate(5, {0, 0}, {3, 4})));
}

} // namespace
