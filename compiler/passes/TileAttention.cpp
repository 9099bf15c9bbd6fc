// Tiles attention over batch, heads, queries and keys; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/AttentionTiles.h"
#include "compiler/target/Target.h"

namespace heed {
#define GEN_PASS_DEF_TILEATTENTION
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// An attention of many queries.
struct AttentionTiler : AttentionTiles {
  int64_t tileKeys;

  AttentionTiler(attn::AttentionOp op, const Tuning &tuning)
      : AttentionTiles(op, tuning.queries, tuning.askedQueries), tileKeys(tuning.keys) {}

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
    auto walk = [&](Value query, const TilePlace &part, const KeyRange &keys, ValueRange state) {
      return walkTiles(packed, query, part, keys, state);
    };
    return walkRanges(queryTile, place, {panelWidth, tileKeys}, state, walk);
  }

  /// The online softmax over tiles of some keys.
  SmallVector<Value> walkTiles(const Packed &packed, Value queryTile, const TilePlace &place,
                               const KeyRange &keys, ValueRange state) {
    StringRef valueLetters = packed.values == op.getValue() ? letters.value : "bhke";
    auto slice = [&](Value at, OpFoldResult columns) -> StepTiles {
      Ranges ranges = rangesOf(place, b.createOrFold<arith::DivUIOp>(place.head, group));
      ranges['k'] = {at, columns};
      Value valueTile = sliceMatrix(b, packed.values, valueLetters, ranges, 'k', 'e');
      OpFoldResult panel = ceilDiv(b, at, panelWidth); // on which it begins
      Value keyTile =
          sliceWithout(b, packed.keys, {ranges['b'].first, ranges['h'].first, panel, zero, zero},
                       {one, one, ceilDiv(b, columns, panelWidth), depth, b.getIndexAttr(panelWidth)},
                       {true, true, false, false, false});
      return {keyTile, valueTile, /*ahead=*/{}};
    };
    return buildSteps(queryTile, place, keys, tileKeys, slice, state);
  }
};

/// All ways go to the same results; which one has anything to do is known when the sizes are.
void tile(attn::AttentionOp op, const Tuning &tuning) {
  AttentionTiler many(op, tuning);
  ImplicitLocOpBuilder &b = many.b;
  SmallVector<Value> results = many.emptyResults();
  std::optional<int64_t> most = getUpperBound(many.queries); // tiles of a schedule have one
  // In a loop of a schedule, memory can be planned for all ways where the batches of a tile are constant.
  bool isOpen = !most && (getConstantIntValue(many.batches) || !op->getParentOfType<LoopLikeOpInterface>());
  if (getConstantIntValue(many.keys) == 0) // MLIR has no slices of them
    return many.replaceWith(many.run(many.batches, results));
  // Up to three queries, keys are not worth transposing, and up to a tile, not worth keeping transposed.
  // Where all ways are open, a mask that asks, whose code `many` has twice, gets two of them: compile time.
  bool hasOneTile = !isOpen || !many.asks();
  int64_t few = hasOneTile ? 3 : 8, oneTile = hasOneTile ? tuning.queries : few;

  /// The batches of the way that takes more than `above` queries, up to `last`; null if it takes none.
  auto batchesOf = [&](int64_t above, int64_t last) -> OpFoldResult {
    int64_t without = many.mostRows + 1; // of which `many` takes any number
    if (above >= last)
      return {};
    if (!isOpen)
      return above < most.value_or(without) && most.value_or(without) <= last ? many.batches : OpFoldResult();
    Value queries = asValue(b, many.queries), isTaken;
    for (auto [predicate, bound] :
         {std::pair(arith::CmpIPredicate::ugt, above), {arith::CmpIPredicate::ule, last}}) {
      if (bound == 0 || bound == INT64_MAX)
        continue;
      Value holds = arith::CmpIOp::create(b, predicate, queries, indexConstant(b, bound));
      isTaken = isTaken ? arith::AndIOp::create(b, isTaken, holds).getResult() : holds;
    }
    return arith::SelectOp::create(b, isTaken, asValue(b, many.batches), indexConstant(b, 0)).getResult();
  };
  if (OpFoldResult batches = batchesOf(0, few)) {
    AttentionTiles tiles(op, few, few);
    results = tileFewQueries(tiles, {256, 256, /*packs=*/false}, batches, results);
  }
  if (OpFoldResult batches = batchesOf(few, oneTile)) {
    AttentionTiles tiles(op, tuning.queries, tuning.askedQueries);
    results = tileFewQueries(tiles, {1024, tuning.keys, /*packs=*/true}, batches, results);
  }
  if (OpFoldResult batches = batchesOf(oneTile, INT64_MAX))
    results = many.run(batches, results);
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
