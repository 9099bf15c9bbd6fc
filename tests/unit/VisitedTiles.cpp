// The tiles that emitted loops over keys visit, counted by the interpreter, against what the mask lets them
// skip.
#include "compiler/Pipeline.h"
#include "compiler/passes/MaskReport.h"
#include "tests/unit/Interpret.h"

#include "mlir/Pass/PassManager.h"

using namespace heed;
using namespace mlir;

namespace {

constexpr int64_t tileRows = 24, tileKeys = 64, panel = 16; // x86-64-v3, which is the default

/// The pairs that the map of a mask without reads shows as visited.
int64_t countMapped(ModuleOp module, int64_t length) {
  int64_t pairs = -1;
  module.walk([&](attn::AttentionOp op) {
    std::vector<int64_t> values(maskVariable::firstFree);
    values[maskVariable::queryLength] = values[maskVariable::keyLength] = length;
    TileMap map = TileMap::of(MaskAnalysis::of(MaskContext::of(op, 4 * tileRows)), values,
                              {4 * tileRows, tileRows, panel, tileKeys});
    pairs = map.fullPairs + map.askedPairs;
  });
  return pairs;
}

/// The pairs that the tiled form of one head of attention visits. `body` yields %keep; `reads` are tensors
/// that queries and keys share. `mapped`: what the map says.
int64_t countVisited(const std::string &body, int64_t length, std::vector<Tensor> reads = {},
                     const std::string &readTypes = "", const std::string &maps = "",
                     int64_t *mapped = nullptr) {
  std::string arguments, names, parameters;
  for (size_t i = 0; i < reads.size(); ++i) {
    std::string type = readTypes.substr(0, readTypes.find(',')), number = std::to_string(i);
    arguments += ", %t" + number + ": " + type;
    names += (i ? ", %t" : "%t") + number;
    parameters += ", %x" + number;
  }
  std::string with = reads.empty() ? "" : "reads(" + names + " : " + readTypes + ") maps [" + maps + "]";
  std::string text =
      "func.func @f(%q: tensor<1x1x?x1xf32>, %k: tensor<1x1x?x1xf32>, %v: tensor<1x1x?x1xf32>" + arguments +
      ") -> tensor<1x1x?x1xf32> { %0 = attn.attention %q, %k, %v " + with + " keep(%b, %h, %i, %j, %lq, %lk" +
      parameters + ") {\n" + body +
      R"(
        attn.yield %keep : i1
      } : tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32> -> tensor<1x1x?x1xf32>
      return %0 : tensor<1x1x?x1xf32>
    })";
  auto module = parseSourceString<ModuleOp>(text, &testContext());
  PassManager pm(&testContext());
  buildPipeline(pm, Phase::Graph, Phase::Tiled, {});
  if (module && mapped)
    *mapped = countMapped(*module, length);
  if (!module || failed(pm.run(*module)))
    return -1;
  Tensor ones = f32({1, 1, length, 1}, std::vector<double>(length, 1));
  std::vector<Tensor> inputs{ones, ones, ones};
  llvm::append_range(inputs, reads);
  Interpreter interpreter(*module);
  return succeeded(interpreter.run("f", inputs)) ? interpreter.getVisitedPairs() : -1;
}

TEST(VisitedTiles, EmittedLoopsVisitTheClosedForm) {
  constexpr int64_t length = 300;
  int64_t expected = 0;
  for (int64_t begin = 0; begin < length; begin += tileRows) {
    int64_t end = std::min(begin + tileRows, length);
    expected += (end - begin) * std::min<int64_t>(llvm::alignTo(end, panel), length);
  }
  EXPECT_EQ(countVisited("%keep = attn.causal %i, %j", length), expected);
}

TEST(VisitedTiles, EmittedLoopsVisitWhatTheMapShows) {
  const char *sink = R"(%four = arith.constant 4 : index
        %sink = attn.prefix %j, %four
        %causal = attn.causal %i, %j
        %window = attn.window %i, %j before(40) after(0)
        %near = arith.ori %sink, %window : i1
        %keep = arith.andi %near, %causal : i1)";
  for (const char *body :
       {"%keep = attn.causal %i, %j", "%keep = attn.window %i, %j before(150) after(20)",
        "%keep = attn.chunk %i, %j width(77)", "%keep = attn.dilated %i, %j step(3)", sink})
    for (int64_t length : {1, 95, 97, 300}) {
      int64_t mapped = 0;
      EXPECT_EQ(countVisited(body, length, {}, "", "", &mapped), mapped) << body << " at " << length;
    }
}

/// What the data of a tile, queries and keys [begin, end), say of its pairs.
using Says = llvm::function_ref<bool(int64_t, int64_t, int64_t, int64_t)>;

/// The pairs of the tiles that may keep one: all of them, or those from the first panel that may to the last
/// where a pair may be dropped.
int64_t sumTiles(int64_t length, Says mayKeep, Says mayDrop) {
  int64_t sum = 0;
  for (int64_t query = 0; query < length; query += tileRows)
    for (int64_t key = 0; key < length; key += tileKeys) {
      int64_t queryEnd = std::min(query + tileRows, length), keyEnd = std::min(key + tileKeys, length);
      int64_t first = keyEnd, last = key;
      for (int64_t at = key; at < keyEnd; at += panel)
        if (int64_t end = std::min(at + panel, keyEnd); mayKeep(query, queryEnd, at, end))
          first = std::min(first, at), last = end;
      if (first < last && !mayDrop(query, queryEnd, key, keyEnd))
        first = key, last = keyEnd;
      sum += (queryEnd - query) * std::max<int64_t>(last - first, 0);
    }
  return sum;
}

TEST(VisitedTiles, TilesOfOtherDocumentsAreSkipped) {
  constexpr int64_t length = 300;
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < length; ++i)
    ids.push_back(i / 100 - 1);
  auto mayKeep = [&](int64_t query, int64_t queryEnd, int64_t key, int64_t keyEnd) {
    return ids[query] <= ids[keyEnd - 1] && ids[key] <= ids[queryEnd - 1];
  };
  auto mayDrop = [&](int64_t query, int64_t queryEnd, int64_t key, int64_t keyEnd) {
    return ids[query] != ids[keyEnd - 1] || ids[key] != ids[queryEnd - 1];
  };
  int64_t expected = sumTiles(length, mayKeep, mayDrop);
  Tensor document = i64({length}, ids);
  const std::string maps = "affine_map<(b, h, q, k) -> (q)>, affine_map<(b, h, q, k) -> (k)>";
  const std::string types = "tensor<300xi64>, tensor<300xi64>";
  EXPECT_LT(expected, 0.45 * length * length);
  EXPECT_EQ(
      countVisited("%keep = attn.same_document %x0, %x1 : i64", length, {document, document}, types, maps),
      expected);
  // Written out on indices, and complemented twice.
  EXPECT_EQ(countVisited(R"(%w0 = arith.index_cast %x0 : i64 to index
        %w1 = arith.index_cast %x1 : i64 to index
        %other = arith.cmpi ne, %w0, %w1 : index
        %true = arith.constant true
        %keep = arith.xori %other, %true : i1)",
                         length, {document, document}, types, maps),
            expected);
}

TEST(VisitedTiles, TilesOfPaddingAreSkipped) {
  constexpr int64_t length = 300, valid = 130;
  std::vector<int64_t> mask(length, 0);
  std::fill_n(mask.begin(), valid, 1);
  EXPECT_EQ(countVisited("%none = arith.constant 0 : i64\n%keep = arith.cmpi ne, %x0, %none : i64", length,
                         {i64({length}, mask)}, "tensor<300xi64>", "affine_map<(b, h, q, k) -> (k)>"),
            sumTiles(
                length, [](int64_t, int64_t, int64_t key, int64_t) { return key < valid; },
                [](int64_t, int64_t, int64_t, int64_t keyEnd) { return keyEnd > valid; }));
}

} // namespace
