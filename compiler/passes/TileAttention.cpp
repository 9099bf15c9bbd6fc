// Tiles attention over batch, heads, queries and keys; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/AttentionTiles.h"
#include "compiler/target/Target.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace heed {
#define GEN_PASS_DEF_TILEATTENTION
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// An attention of many queries.
struct AttentionTiler : AttentionTiles {
  int64_t tileKeys, askedRows;

  AttentionTiler(attn::AttentionOp op, const Tuning &tuning)
      : AttentionTiles(op, tuning.queries), tileKeys(tuning.keys), askedRows(tuning.askedQueries) {}

  /// Copies made once per head, for all tiles of queries: the keys transposed in panels, [batch, head,
  /// keys/w, d, w], of which the last is padded with whatever is there; and the values, unless they lie row
  /// after row as they are, [batch, head, keys, e].
  struct Packed {
    Value keys, values;
  };

  Packed pack(OpFoldResult batches) {
    OpFoldResult panels = ceilDiv(b, keys, panelWidth), lanes = b.getIndexAttr(panelWidth);
    Type element = getElementTypeOrSelf(op.getKey());
    SmallVector<Value> destinations{
        tensor::EmptyOp::create(b, {batches, keyHeads, panels, depth, lanes}, element)};
    bool packValues = !StringRef(letters.value).ends_with("ke");
    if (packValues)
      destinations.push_back(tensor::EmptyOp::create(b, {batches, keyHeads, keys, width}, element));
    SmallVector<Value> packed =
        buildForall(b, {batches, keyHeads, panels}, destinations, [&](ValueRange at, ValueRange results) {
          OpFoldResult key = times(b, at[2], panelWidth), rows = minOfRest(b, panelWidth, keys, key);
          Ranges ranges{{'b', {at[0], one}},
                        {'h', {at[1], one}},
                        {'k', {key, rows}},
                        {'d', {zero, depth}},
                        {'e', {zero, width}}};
          SmallVector<OpFoldResult> offsets{at[0], at[1], at[2], zero, zero},
              sizes{one, one, one, depth, rows};
          Value panel = sliceWithout(b, results[0], offsets, sizes, {true, true, true, false, false});
          SmallVector<TileResult> tiles{
              {copyMatrix(b, op.getKey(), letters.key, ranges, 'd', 'k', panel), offsets, sizes}};
          if (packValues) {
            offsets = {at[0], at[1], key, zero};
            sizes = {one, one, rows, width};
            Value tile = sliceWithout(b, results[1], offsets, sizes, {true, true, false, false});
            tiles.push_back(
                {copyMatrix(b, op.getValue(), letters.value, ranges, 'k', 'e', tile), offsets, sizes});
          }
          return tiles;
        });
    return {packed[0], packValues ? packed[1] : op.getValue()};
  }

  SmallVector<Value> run(OpFoldResult batches, ValueRange results) {
    Packed packed = pack(batches);
    return buildForall(
        b, {batches, heads, ceilDiv(b, queries, mostRows)}, results, [&](ValueRange at, ValueRange results) {
          OpFoldResult query = times(b, at[2], mostRows);
          TilePlace place = placeOf(at[0], at[1], query, minOfRest(b, mostRows, queries, query));
          SmallVector<Value> state = walkKeys(packed, place);
          return finish(state, rangesOf(place, place.head), results);
        });
  }

  /// The online softmax over all tiles of valid keys. Returns (accumulator, row max, row sum).
  SmallVector<Value> walkKeys(const Packed &packed, const TilePlace &place) {
    Value queryTile = scaleQueries(place);
    auto filled = [&](OpFoldResult columns, Value value) {
      return linalg::FillOp::create(b, value, scratch(getAsOpFoldResult(place.rows), columns)).getResult(0);
    };
    auto [firstMax, firstSum] = buildFirstState(place.head);
    SmallVector<Value> state{filled(width, f32Constant(b, 0)), filled({}, firstMax),
                             filled(sumParts, firstSum)};
    KeyLoops loops(b, op, mask, place, {panelWidth, tileKeys});
    state = loops.walkFull(state, [&](const KeyRange &keys, ValueRange state) {
      return walkTiles(packed, queryTile, place, keys, state);
    });
    return loops.mayAsk() ? walkAsked(packed, queryTile, place, loops, state) : state;
  }

  /// The keys that some queries of a tile keep: for few rows at a time, each of which keeps most of what it
  /// visits.
  SmallVector<Value> walkAsked(const Packed &packed, Value queryTile, const TilePlace &place, KeyLoops &loops,
                               ValueRange state) {
    auto loop = scf::ForOp::create(b, indexConstant(b, 0), place.rows, indexConstant(b, askedRows), state);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value first = loop.getInductionVar();
    OpFoldResult rows = minOfRest(b, askedRows, getAsOpFoldResult(place.rows), first);
    TilePlace part = place;
    part.tileBegin = b.createOrFold<arith::AddIOp>(place.tileBegin, first);
    part.rows = asValue(b, rows);
    auto placeIn = [&](Value all) {
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), all),
                                offsets(sizes.size(), zero);
      offsets[0] = first, sizes[0] = rows;
      return std::pair(offsets, sizes);
    };
    auto slice = [&](Value all) {
      auto [offsets, sizes] = placeIn(all);
      return sliceWithout(b, all, offsets, sizes, SmallVector<bool>(sizes.size(), false));
    };
    Value query = slice(queryTile);
    SmallVector<Value> all(loop.getRegionIterArgs()), own = llvm::map_to_vector(all, slice);
    own = loops.walkAsked(part, own, [&](const KeyRange &keys, ValueRange state) {
      return walkTiles(packed, query, part, keys, state);
    });
    for (auto [result, into] : llvm::zip_equal(own, all)) {
      auto [offsets, sizes] = placeIn(into);
      into = insertSlice(b, result, into, offsets, sizes);
    }
    scf::YieldOp::create(b, all);
    return loop.getResults();
  }

  /// The online softmax over tiles of some keys.
  SmallVector<Value> walkTiles(const Packed &packed, Value queryTile, const TilePlace &place,
                               const KeyRange &keys, ValueRange state) {
    StringRef valueLetters = packed.values == op.getValue() ? letters.value : "bhke";
    auto slice = [&](Value at, OpFoldResult columns) -> std::pair<Value, Value> {
      Ranges ranges = rangesOf(place, b.createOrFold<arith::DivUIOp>(place.head, group));
      ranges['k'] = {at, columns};
      Value valueTile = sliceMatrix(b, packed.values, valueLetters, ranges, 'k', 'e');
      OpFoldResult panel = ceilDiv(b, at, panelWidth); // on which it begins
      Value keyTile =
          sliceWithout(b, packed.keys, {ranges['b'].first, ranges['h'].first, panel, zero, zero},
                       {one, one, ceilDiv(b, columns, panelWidth), depth, b.getIndexAttr(panelWidth)},
                       {true, true, false, false, false});
      return {keyTile, valueTile};
    };
    return buildSteps(queryTile, place, keys, tileKeys, slice, state);
  }
};

/// The most queries that there can be, where that is known. Tiles of a schedule have a most.
std::optional<int64_t> mostQueries(const AttentionTiles &tiles) {
  if (std::optional<int64_t> constant = getConstantIntValue(tiles.queries))
    return constant;
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, {tiles.queries}, nullptr, /*closedUB=*/true);
  return succeeded(bound) ? std::optional(*bound) : std::nullopt;
}

/// Both ways go to the same results; which one has anything to do is known when the sizes are.
void tile(attn::AttentionOp op, const Tuning &tuning) {
  AttentionTiler many(op, tuning);
  ImplicitLocOpBuilder &b = many.b;
  SmallVector<Value> results = many.emptyResults();
  std::optional<int64_t> queries = mostQueries(many);
  OpFoldResult ofMany = many.batches, ofFew = many.batches;
  // In a loop of a schedule, memory can be planned for both ways where the batches of a tile are constant.
  bool isOpen =
      !queries && (getConstantIntValue(many.batches) || !op->getParentOfType<LoopLikeOpInterface>());
  if (isOpen) {
    Value few = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, asValue(b, many.queries),
                                      indexConstant(b, fewQueries));
    Value batches = asValue(b, many.batches), none = indexConstant(b, 0);
    ofFew = arith::SelectOp::create(b, few, batches, none).getResult();
    ofMany = arith::SelectOp::create(b, few, none, batches).getResult();
  }
  bool areFew = queries && *queries <= fewQueries;
  if (isOpen || areFew) {
    AttentionTiles few(op, fewQueries);
    results = tileFewQueries(few, tuning.keys, ofFew, results);
  }
  if (!areFew)
    results = many.run(ofMany, results);
  many.replaceWith(results);
}

struct TileAttention : impl::TileAttentionBase<TileAttention> {
  void runOnOperation() override {
    FailureOr<Target> target = Target::of(getOperation());
    if (failed(target))
      return signalPassFailure();
    getOperation()->walk([&](attn::AttentionOp op) { tile(op, target->tuning); });
  }
};

} // namespace
} // namespace heed
