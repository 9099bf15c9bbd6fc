// The analysis of masks against brute force: every pair of every tile of small sizes.
#include "compiler/passes/MaskReport.h"
#include "tests/unit/Interpret.h"

#include <random>

using namespace heed;
using namespace mlir;

namespace {

/// What a mask may ask of a pair; positions are absolute.
struct Pair {
  int64_t batch, head, query, key, queryLength, keyLength, read;
};

/// A keep region as text, and the same as a function, from the definitions and not from the text.
struct Mask {
  std::string text; ///< defines its answer as %mN, N its number
  unsigned number;
  std::function<bool(const Pair &)> keeps;

  std::string name() const { return "%m" + std::to_string(number); }
};

class MaskMaker {
public:
  explicit MaskMaker(uint64_t seed) : random(seed) {}

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  Mask leaf(const std::string &op, std::function<bool(const Pair &)> keeps) {
    unsigned number = next++;
    return {"%m" + std::to_string(number) + " = " + op + "\n", number, std::move(keeps)};
  }
  Mask join(const std::string &op, const Mask &a, const Mask &b,
            const std::function<bool(bool, bool)> &combine) {
    Mask both = leaf("arith." + op + " " + a.name() + ", " + b.name() + " : i1",
                     [=](const Pair &p) { return combine(a.keeps(p), b.keeps(p)); });
    both.text = a.text + b.text + both.text;
    return both;
  }
  std::string constant(int64_t value, std::string &text) {
    std::string name = "%c" + std::to_string(next++);
    text += name + " = arith.constant " + std::to_string(value) + " : index\n";
    return name;
  }

  Mask causal() {
    return leaf("attn.causal %i, %j", [](const Pair &p) { return p.key <= p.query; });
  }
  Mask bottomRight() {
    return leaf("attn.causal %i, %j bottom_right(%lq, %lk)",
                [](const Pair &p) { return p.key <= p.query + p.keyLength - p.queryLength; });
  }
  Mask window(int64_t before, int64_t after) {
    return leaf("attn.window %i, %j before(" + std::to_string(before) + ") after(" + std::to_string(after) +
                    ")",
                [=](const Pair &p) { return p.query - p.key <= before && p.key - p.query <= after; });
  }
  Mask chunk(int64_t width) {
    return leaf("attn.chunk %i, %j width(" + std::to_string(width) + ")", [=](const Pair &p) {
      return llvm::divideFloorSigned(p.query, width) == llvm::divideFloorSigned(p.key, width);
    });
  }
  Mask dilated(int64_t step) {
    return leaf("attn.dilated %i, %j step(" + std::to_string(step) + ")",
                [=](const Pair &p) { return (p.query - p.key) % step == 0; });
  }
  Mask prefixOf(int64_t length) {
    std::string text;
    std::string name = constant(length, text);
    Mask mask = leaf("attn.prefix %j, " + name, [=](const Pair &p) { return p.key < length; });
    mask.text = text + mask.text;
    return mask;
  }
  Mask prefixRead() {
    return leaf("attn.prefix %j, %r", [](const Pair &p) { return p.key < p.read; });
  }
  Mask anything() { // not known to the analysis
    return leaf("tensor.extract %t[%i, %j] : tensor<?x?xi1>",
                [](const Pair &p) { return (p.query * 7 + p.key * 3 + p.query * p.key) % 5 < 2; });
  }
  Mask evenHead() {
    std::string text;
    std::string two = constant(2, text), zero = constant(0, text), rest = "%c" + std::to_string(next++);
    text += rest + " = arith.remui %h, " + two + " : index\n";
    Mask mask = leaf("arith.cmpi eq, " + rest + ", " + zero + " : index",
                     [](const Pair &p) { return p.head % 2 == 0; });
    mask.text = text + mask.text;
    return mask;
  }
  /// a·query + b·key + c, or a quotient or rest of it, compared with a constant or with what is read.
  Mask compared() {
    int64_t a = pick(-2, 2), b = pick(-2, 2), c = pick(-9, 9), divisor = pick(2, 6), limit = pick(-3, 12);
    std::string text, mid = std::to_string(next++);
    std::string scaledQuery = "%x" + mid, scaledKey = "%y" + mid, sum = "%z" + mid, value = "%w" + mid;
    text += scaledQuery + " = arith.muli %i, " + constant(a, text) + " : index\n";
    text += scaledKey + " = arith.muli %j, " + constant(b, text) + " : index\n";
    text += sum + "a = arith.addi " + scaledQuery + ", " + scaledKey + " : index\n";
    text += sum + " = arith.addi " + sum + "a, " + constant(c, text) + " : index\n";
    static constexpr const char *ops[] = {"floordivsi", "divsi", "remsi", "minsi", "maxsi", "addi"};
    int64_t op = pick(0, 5);
    text += value + " = arith." + ops[op] + " " + sum + ", " + constant(divisor, text) + " : index\n";
    static constexpr const char *predicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "uge"};
    int64_t predicate = pick(0, 7);
    bool byRead = pick(0, 3) == 0;
    std::string other = byRead ? "%r" : constant(limit, text);
    Mask mask =
        leaf(std::string("arith.cmpi ") + predicates[predicate] + ", " + value + ", " + other + " : index",
             [=](const Pair &p) {
               int64_t x = a * p.query + b * p.key + c;
               int64_t values[] = {llvm::divideFloorSigned(x, divisor),
                                   x / divisor,
                                   x % divisor,
                                   std::min(x, divisor),
                                   std::max(x, divisor),
                                   x + divisor};
               int64_t l = values[op], r = byRead ? p.read : limit;
               auto ul = static_cast<uint64_t>(l), ur = static_cast<uint64_t>(r);
               bool answers[] = {l == r, l != r, l<r, l <= r, l> r, l >= r, ul < ur, ul >= ur};
               return answers[predicate];
             });
    mask.text = text + mask.text;
    return mask;
  }

  Mask any(int depth) {
    if (depth > 0 && pick(0, 3) > 0) {
      switch (pick(0, 3)) {
      case 0:
        return join("andi", any(depth - 1), any(depth - 1), [](bool a, bool b) { return a && b; });
      case 1:
        return join("ori", any(depth - 1), any(depth - 1), [](bool a, bool b) { return a || b; });
      case 2:
        return join("xori", any(depth - 1), any(depth - 1), [](bool a, bool b) { return a != b; });
      default:
        Mask inner = any(depth - 1), yes = leaf("arith.constant true", [](const Pair &) { return true; });
        return join("xori", inner, yes, [](bool a, bool b) { return a != b; });
      }
    }
    switch (pick(0, 10)) {
    case 0:
      return causal();
    case 1:
      return bottomRight();
    case 2:
      return window(pick(0, 8), pick(0, 8));
    case 3:
      return chunk(pick(1, 9));
    case 4:
      return dilated(pick(1, 4));
    case 5:
      return prefixOf(pick(0, 12));
    case 6:
      return prefixRead();
    case 7:
      return pick(0, 3) ? causal() : anything();
    case 8:
      return evenHead();
    default:
      return compared();
    }
  }

private:
  std::mt19937_64 random;
  unsigned next = 0;
};

/// The attention whose keep region is `mask`; `isSquare`: queries are keys too.
OwningOpRef<ModuleOp> parse(const Mask &mask, bool hasQueryOffset, bool hasKeyOffset, bool isSquare) {
  std::string text =
      R"(func.func @f(%q: tensor<1x4x?x8xf32>, %k: tensor<1x4x?x8xf32>, %v: tensor<1x4x?x8xf32>, %read: tensor<index>,
                %table: tensor<?x?xi1>, %qo: index, %ko: index) {
    %0 = attn.attention %q, )" +
      std::string(isSquare ? "%q, %v " : "%k, %v ") + (hasQueryOffset ? "query_offset(%qo : index) " : "") +
      (hasKeyOffset ? "key_offset(%ko : index) " : "") +
      R"(reads(%read, %table : tensor<index>, tensor<?x?xi1>) maps [affine_map<(b, h, q, k) -> ()>, affine_map<(b, h, q, k) -> ()>] keep {
    ^bb0(%b: index, %h: index, %i: index, %j: index, %lq: index, %lk: index, %r: index, %t: tensor<?x?xi1>):
)" + mask.text +
      "      attn.yield " + mask.name() + R"( : i1
    } : tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32> -> tensor<1x4x?x8xf32>
    return
  })";
  auto module = parseSourceString<ModuleOp>(text, &testContext());
  EXPECT_TRUE(module) << text;
  return module;
}

/// How much an analysis leaves on the table, in keys over all tiles.
struct Misses {
  int64_t tiles = 0, touched = 0, visited = 0, keptByAll = 0, full = 0;

  void operator+=(const Misses &other) {
    tiles += other.tiles, touched += other.touched, visited += other.visited;
    keptByAll += other.keptByAll, full += other.full;
  }
};

class Checker {
public:
  Checker(const Mask &mask, bool hasQueryOffset, bool hasKeyOffset, bool isSquare, int64_t tileRows)
      : mask(mask), tileRows(tileRows), module(parse(mask, hasQueryOffset, hasKeyOffset, isSquare)) {
    attn::AttentionOp op;
    module->walk([&](attn::AttentionOp found) { op = found; });
    context = MaskContext::of(op, tileRows);
    EXPECT_EQ(context.isSquare, isSquare);
    analysis = MaskAnalysis::of(context);
  }

  /// All tiles of these sizes, asked in parts of `partRows`. `panel` 1 counts what the analysis misses, a
  /// larger one only what alignment costs.
  Misses check(Pair symbols, int64_t queryOffset, int64_t keyOffset, int64_t panel, int64_t tile,
               int64_t partRows) {
    Misses misses;
    std::vector<int64_t> values(analysis.variables.size());
    values[maskVariable::queryLength] = symbols.queryLength;
    values[maskVariable::keyLength] = symbols.keyLength;
    values[maskVariable::queryOffset] = queryOffset;
    values[maskVariable::keyOffset] = keyOffset;
    values[maskVariable::batch] = symbols.batch;
    values[maskVariable::head] = symbols.head;
    for (unsigned variable = maskVariable::firstFree; variable < values.size(); ++variable)
      if (Value value = analysis.variables.getValue(variable))
        values[variable] = fold(value, symbols);
    KeyWalk walk(IntegerOps(analysis.variables, values), analysis, panel, tile);
    auto getSegments = [&](int64_t begin, int64_t rows) {
      values[maskVariable::tileBegin] = begin;
      values[maskVariable::tileEnd] = std::min(begin + rows, symbols.queryLength);
      auto segments = walk.getSegments(symbols.keyLength);
      for (const auto &[first, fullBegin, fullEnd, last] : segments) {
        EXPECT_TRUE(first >= 0 && first <= fullBegin && fullBegin <= fullEnd &&
                    fullEnd <= std::max(first, last));
        EXPECT_TRUE(first % panel == 0 || first >= last) << "a segment begins inside of a panel";
        EXPECT_TRUE((fullEnd - fullBegin) % tile == 0 && (fullBegin % panel == 0 || fullBegin == fullEnd));
      }
      return segments;
    };
    auto visit = [&](ArrayRef<KeySpan<int64_t>> spans, std::vector<int> &visits) {
      for (auto [first, last] : spans)
        for (int64_t key = first; key < last; ++key) {
          EXPECT_LT(key, symbols.keyLength);
          ++visits[key];
        }
    };
    for (int64_t begin = 0; begin < symbols.queryLength; begin += partRows) {
      int64_t end = std::min(begin + partRows, symbols.queryLength);
      auto fullSpans = walk.getFull(getSegments(begin / tileRows * tileRows, tileRows));
      std::vector<int> full(symbols.keyLength);
      visit(fullSpans, full);
      std::vector<int> visits = full;
      auto asked = walk.getAsked(getSegments(begin, partRows), fullSpans);
      visit(asked, visits);
      for (auto [first, last] : asked)
        EXPECT_TRUE(first % panel == 0 || first >= last) << "what is asked begins inside of a panel";
      ++misses.tiles;
      for (int64_t key = 0; key < symbols.keyLength; ++key) {
        bool some = false, all = true;
        for (int64_t query = begin; query < end; ++query) {
          Pair pair = symbols;
          pair.query = query + queryOffset, pair.key = key + keyOffset;
          bool keeps = mask.keeps(pair);
          some |= keeps, all &= keeps;
        }
        EXPECT_LE(visits[key], 1) << "a key is visited twice";
        EXPECT_TRUE(visits[key] || !some) << "key " << key << " of tile " << begin << " is skipped";
        EXPECT_TRUE(!full[key] || all) << "key " << key << " of tile " << begin << " is taken for full";
        misses.touched += some, misses.visited += visits[key];
        misses.keptByAll += all, misses.full += full[key];
      }
    }
    if (analysis.keepsSome && symbols.keyLength > 0)
      for (int64_t query = 0; query < symbols.queryLength; ++query) {
        bool some = false;
        for (int64_t key = 0; key < symbols.keyLength; ++key) {
          Pair pair = symbols;
          pair.query = query + queryOffset, pair.key = key + keyOffset;
          some |= mask.keeps(pair);
        }
        EXPECT_TRUE(some) << "query " << query << " keeps nothing";
      }
    if (analysis.isUpperBound() && panel == 1)
      EXPECT_EQ(misses.visited, misses.full);
    return misses;
  }

private:
  /// The number or truth of what no pair changes.
  static int64_t fold(Value value, const Pair &symbols) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      int64_t values[] = {symbols.batch,       symbols.head,      0,           0,
                          symbols.queryLength, symbols.keyLength, symbols.read};
      return values[argument.getArgNumber()];
    }
    SmallVector<Attribute> operands;
    for (Value operand : value.getDefiningOp()->getOperands())
      operands.push_back(IntegerAttr::get(operand.getType(), fold(operand, symbols)));
    SmallVector<OpFoldResult> results;
    EXPECT_TRUE(succeeded(value.getDefiningOp()->fold(operands, results)));
    if (auto same = dyn_cast<Value>(results[0]))
      return fold(same, symbols);
    APInt constant = cast<IntegerAttr>(cast<Attribute>(results[0])).getValue();
    return value.getType().isInteger(1) ? constant.getZExtValue() : constant.getSExtValue();
  }

  const Mask &mask;
  int64_t tileRows;
  OwningOpRef<ModuleOp> module;
  MaskContext context;
  MaskAnalysis analysis;
};

/// All lengths up to `most`, some symbols, some tiles, with and without offsets, and known to be equal.
Misses checkAll(const Mask &mask, MaskMaker &random, int64_t most, int64_t step = 1) {
  Misses misses;
  for (auto [offsets, isSquare] : {std::pair(false, false), {true, false}, {false, true}})
    for (int64_t tileRows : {1, 5, 20}) {
      bool hasQueryOffset = offsets && mask.text.find("bottom_right") == std::string::npos;
      Checker checker(mask, hasQueryOffset, offsets, isSquare, tileRows);
      for (int64_t queryLength = 1; queryLength <= most; queryLength += step)
        for (int64_t keyLength = isSquare ? queryLength : 0; keyLength <= (isSquare ? queryLength : most);
             keyLength += step) {
          Pair symbols{0, random.pick(0, 3), 0, 0, queryLength, keyLength, random.pick(-2, most + 2)};
          int64_t queryOffset = hasQueryOffset ? random.pick(-9, 9) : 0,
                  keyOffset = offsets ? random.pick(-9, 9) : 0;
          misses += checker.check(symbols, queryOffset, keyOffset, 1, 1, tileRows);
          checker.check(symbols, queryOffset, keyOffset, 2, 4, tileRows % 5 == 0 ? tileRows / 5 : tileRows);
          if (::testing::Test::HasFailure()) {
            ADD_FAILURE() << mask.text << "tile " << tileRows << ", lengths " << queryLength << " and "
                          << keyLength << ", offsets " << queryOffset << " and " << keyOffset << ", read "
                          << symbols.read;
            return misses;
          }
        }
    }
  return misses;
}

TEST(MaskAnalysis, NamedMasksAreExact) {
  MaskMaker make(1);
  Mask yes = make.leaf("arith.constant true", [](const Pair &) { return true; });
  auto both = [](bool a, bool b) { return a && b; };
  auto either = [](bool a, bool b) { return a || b; };
  auto differ = [](bool a, bool b) { return a != b; };
  Mask masks[] = {
      make.causal(),
      make.bottomRight(),
      make.window(6, 0),
      make.window(2, 3),
      make.prefixOf(7),
      make.prefixRead(),
      make.chunk(4),
      make.join("andi", make.causal(), make.window(5, 5), both),
      make.join("andi", make.causal(), make.chunk(6), both),
      make.join("andi", make.bottomRight(), make.prefixRead(), both),
      make.join("ori", make.causal(), make.prefixOf(5), either),
      make.join("ori", make.prefixOf(2), make.window(4, 0), either),
      make.join("xori", make.window(3, 2), yes, differ),
      make.join("xori", make.causal(), yes, differ),
  };
  for (const Mask &mask : masks) {
    Misses misses = checkAll(mask, make, 20, 3);
    EXPECT_EQ(misses.touched, misses.visited) << mask.text;
    EXPECT_EQ(misses.keptByAll, misses.full) << mask.text;
  }
}

TEST(MaskAnalysis, RandomCompositionsAreSound) {
  uint64_t count = getenv("HEED_MASKS") ? std::stoull(getenv("HEED_MASKS")) : 40;
  Misses misses;
  for (uint64_t seed = 0; seed < count && !HasFailure(); ++seed) {
    MaskMaker make(seed);
    Mask mask = make.any(3);
    misses += checkAll(mask, make, 20, 4);
  }
  std::cout << misses.tiles << " tiles: " << misses.visited << " keys visited of which " << misses.touched
            << " are kept by a query, " << misses.full << " taken for full of " << misses.keptByAll << "\n";
}

constexpr int64_t panel = 16;

/// The map of `mask` at a length of queries and of keys, for tiles of 96 queries and 64 keys, asked by 24.
TileMap draw(const Mask &mask, int64_t queryLength, int64_t keyLength) {
  auto module = parse(mask, false, false, false);
  TileMap map{};
  module->walk([&](attn::AttentionOp op) {
    std::vector<int64_t> values(maskVariable::firstFree);
    values[maskVariable::queryLength] = queryLength;
    values[maskVariable::keyLength] = keyLength;
    map = TileMap::of(MaskAnalysis::of(MaskContext::of(op, 96)), values, {96, 24, panel, 64});
  });
  return map;
}

TEST(MaskAnalysis, CausalVisitsLittleMoreThanItKeeps) {
  TileMap map = draw(MaskMaker(1).causal(), 4096, 4096);
  int64_t kept = 4096 * 4097 / 2;
  EXPECT_LE(map.fullPairs + map.askedPairs, 1.04 * kept);
  EXPECT_GE(map.fullPairs, 0.9 * kept);
}

TEST(MaskAnalysis, WindowVisitsItsWidth) {
  TileMap map = draw(MaskMaker(1).window(511, 0), 8192, 8192);
  EXPECT_LE(map.fullPairs + map.askedPairs, 8192 * (512 + 24 + 2 * panel));
}

TEST(MaskAnalysis, MapsAreDrawn) {
  std::string text;
  llvm::raw_string_ostream os(text);
  draw(MaskMaker(1).causal(), 144, 256).print(os);
  EXPECT_EQ(text, "  ▒▒··············\n"
                  "  ▒▒▒·············\n"
                  "  ▒▒▒▒▒···········\n"
                  "  ▒▒▒▒▒▒··········\n"
                  "  ████▒▒▒▒········\n"
                  "  ████▒▒▒▒▒·······\n"
                  "  144 queries down, 256 keys across, a character for 24 × 16\n"
                  "  █ full 8.3 %   ▒ asked 26.0 %   · skipped 65.6 %\n");
}

/// The picture says the same in the same words, and each word stands beside the colour of its tiles.
TEST(MaskAnalysis, PicturesHaveALegend) {
  std::string text;
  llvm::raw_string_ostream os(text);
  draw(MaskMaker(1).causal(), 288, 288).printSvg(os);
  auto says = [&](StringRef part) { return StringRef(text).contains(part); };
  EXPECT_TRUE(says("288 queries down, 288 keys across, in tiles of 24 × 16</text>")) << text;
  StringRef full = "fill=\"#1f4e79\"/>", asked = "fill=\"#e08e0b\"/>", skipped = "fill=\"#e6e6e6\"/>";
  EXPECT_TRUE(says((full + "<text x=\"24\" y=\"659\">full 29.6 %</text>").str())) << text;
  EXPECT_TRUE(says((asked + "<text x=\"184\" y=\"659\">asked 25.9 %</text>").str())) << text;
  EXPECT_TRUE(says((skipped + "<text x=\"344\" y=\"659\">skipped 44.4 %</text>").str())) << text;
  // The first tile of queries asks of 32 keys, the last has 192 keys full and asks of the rest.
  EXPECT_TRUE(says(("<rect x=\"0\" y=\"0\" width=\"32\" height=\"24\" " + asked).str())) << text;
  EXPECT_TRUE(says(("<rect x=\"0\" y=\"264\" width=\"192\" height=\"24\" " + full).str())) << text;
  EXPECT_TRUE(says(("<rect x=\"192\" y=\"264\" width=\"96\" height=\"24\" " + asked).str())) << text;
}

TEST(MaskAnalysis, BoundsAreReadable) {
  auto bounds = [](const Mask &mask) {
    auto module = parse(mask, false, false, false);
    std::string text;
    module->walk([&](attn::AttentionOp op) {
      MaskAnalysis analysis = MaskAnalysis::of(MaskContext::of(op, 24));
      text = printKeys(analysis.variables, analysis.touched) + "; " +
             printKeys(analysis.variables, analysis.dropped);
    });
    return text;
  };
  MaskMaker make(1);
  EXPECT_EQ(bounds(make.causal()), "[0, min(q1, key_len)); [q0 + 1, key_len)");
  EXPECT_EQ(bounds(make.window(3, 0)),
            "[max(q0 − 3, 0), min(q1, key_len)); [0, min(q1 − 4, key_len)) ∪ [q0 + 1, key_len)");
  EXPECT_EQ(bounds(make.chunk(64)), "[64·⌊q0/64⌋, min(64·⌊(q1 − 1)/64⌋ + 64, key_len)); "
                                    "[64·⌊q0/64⌋ + 64, key_len) ∪ [0, min(64·⌊(q1 − 1)/64⌋, key_len))");
  EXPECT_EQ(bounds(make.prefixRead()), "[0, min(s0, key_len)); [max(s0, 0), key_len)");
}

} // namespace
