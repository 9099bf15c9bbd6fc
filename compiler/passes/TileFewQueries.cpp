// Attention whose queries are one tile: a few tokens on many, bound by reading keys and values.
#include "compiler/passes/AttentionTiles.h"

#include "compiler/target/Target.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heed;

namespace {

struct FewQueries {
  AttentionTiles &tiles;
  ImplicitLocOpBuilder &b;
  KeySplit split;
  OpFoldResult zero, one, queries;
  Value group; ///< query heads of a task

  FewQueries(AttentionTiles &tiles, const KeySplit &split)
      : tiles(tiles), b(tiles.b), split(split), zero(tiles.zero), one(tiles.one),
        queries(minOfRest(b, tiles.mostRows, tiles.queries, tiles.zero)), // a bound for its memory
        group(split.packs ? indexConstant(b, 1) : tiles.group) {}

  /// Where the states of some heads and queries lie.
  struct StateSlice {
    SmallVector<OpFoldResult> offsets, sizes;
    SmallVector<bool> dropped;
  };
  /// The slice of state `number`: accumulators have the values' width as a last dimension, sums their parts.
  StateSlice extend(StateSlice rows, size_t number) {
    if (number != 1) {
      rows.offsets.push_back(zero);
      rows.sizes.push_back(number == 0 ? tiles.width : tiles.sumParts);
      rows.dropped.push_back(false);
    }
    return rows;
  }
  /// The states of all parts: accumulators [batch, head, part, q, e], row max [batch, head, part, q] and row
  /// sum [batch, head, part, q, p].
  SmallVector<Value> walkParts(OpFoldResult batches, OpFoldResult parts) {
    SmallVector<Value> states;
    for (size_t i = 0; i < 3; ++i)
      states.push_back(tensor::EmptyOp::create(
          b, extend({{}, {batches, tiles.heads, parts, queries}, {}}, i).sizes, b.getF32Type()));
    OpFoldResult groups = split.packs ? tiles.heads : tiles.keyHeads;
    return buildForall(b, {batches, groups, parts}, states, [&](ValueRange at, ValueRange states) {
      Value firstHead = b.createOrFold<arith::MulIOp>(at[1], group);
      Value keyHead = split.packs ? b.createOrFold<arith::DivUIOp>(firstHead, tiles.group) : at[1];
      SmallVector<TileResult> results;
      SmallVector<Value> groupStates;
      for (auto [i, state] : llvm::enumerate(states)) {
        auto [offsets, sizes, dropped] = extend({{at[0], firstHead, at[2], zero},
                                                 {one, getAsOpFoldResult(group), one, queries},
                                                 {true, false, true, false}},
                                                i);
        groupStates.push_back(sliceWithout(b, state, offsets, sizes, dropped));
        results.push_back({groupStates.back(), offsets, sizes});
      }
      auto loop = scf::ForOp::create(b, indexConstant(b, 0), group, indexConstant(b, 1), groupStates);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Value number = loop.getInductionVar();
        TilePlace place =
            tiles.placeOf(at[0], b.createOrFold<arith::AddIOp>(firstHead, number), zero, queries);
        scf::YieldOp::create(b, walkPart(place, keyHead, at[2], number, loop.getRegionIterArgs()));
      }
      for (auto [result, value] : llvm::zip_equal(results, loop.getResults()))
        result.tile = value;
      return results;
    });
  }

  /// The state of one head, of number `number` in its group, over one part. Returns the states of the group.
  SmallVector<Value> walkPart(const TilePlace &place, Value keyHead, Value part, Value number,
                              ValueRange groupStates) {
    Value query = tiles.scaleQueries(place);
    SmallVector<Value> state;
    SmallVector<StateSlice> slices;
    for (auto [i, states] : llvm::enumerate(groupStates)) {
      slices.push_back(extend({{number, zero}, {one, queries}, {true, false}}, i));
      auto &[offsets, sizes, dropped] = slices.back();
      Value slice = sliceWithout(b, states, offsets, sizes, dropped);
      Value first = f32Constant(b, i == 1 ? -INFINITY : 0);
      state.push_back(linalg::FillOp::create(b, first, slice).getResult(0));
    }
    Value begin = b.createOrFold<arith::MulIOp>(part, indexConstant(b, split.partKeys));
    Value end = b.createOrFold<arith::AddIOp>(begin, indexConstant(b, split.partKeys));
    auto walk = [&](Value query, const TilePlace &place, KeyRange keys, ValueRange state) {
      keys.begin = b.createOrFold<arith::MaxSIOp>(keys.begin, begin);
      keys.end = b.createOrFold<arith::MinSIOp>(keys.end, end);
      keys.isWhole = false; // a part may end within a tile
      return walkTiles(query, place, keyHead, keys, state);
    };
    state = tiles.walkRanges(query, place, {1, split.tileKeys}, state, walk);
    SmallVector<Value> results;
    for (auto [own, states, slice] : llvm::zip_equal(state, groupStates, slices))
      results.push_back(insertSlice(b, own, states, slice.offsets, slice.sizes));
    return results;
  }

  /// The keys of a step, [k, d], as panels.
  Value packKeys(const Ranges &ranges, OpFoldResult columns) {
    OpFoldResult lanes = b.getIndexAttr(panelWidth), most = b.getIndexAttr(split.tileKeys / panelWidth);
    OpFoldResult count = ceilDiv(b, columns, panelWidth);
    Value empty =
        tensor::EmptyOp::create(b, {most, tiles.depth, lanes}, getElementTypeOrSelf(tiles.op.getKey()));
    Value panels =
        sliceWithout(b, empty, {zero, zero, zero}, {count, tiles.depth, lanes}, {false, false, false});
    auto loop = scf::ForOp::create(b, indexConstant(b, 0), asValue(b, count), indexConstant(b, 1), panels);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar(), all = loop.getRegionIterArg(0);
    OpFoldResult first = times(b, number, panelWidth), rows = minOfRest(b, panelWidth, columns, first);
    Ranges own = ranges;
    own['k'] = {affine::makeComposedFoldedAffineApply(b, b.getLoc(),
                                                      b.getAffineSymbolExpr(0) + b.getAffineSymbolExpr(1),
                                                      {ranges.lookup('k').first, first}),
                rows};
    SmallVector<OpFoldResult> offsets{number, zero, zero}, sizes{one, tiles.depth, rows};
    Value panel = sliceWithout(b, all, offsets, sizes, {true, false, false});
    Value copied = copyMatrix(b, tiles.op.getKey(), tiles.letters.key, own, 'd', 'k', panel);
    scf::YieldOp::create(b, insertSlice(b, copied, all, offsets, sizes));
    return loop.getResult(0);
  }

  /// The online softmax over tiles of keys.
  SmallVector<Value> walkTiles(Value query, const TilePlace &place, Value keyHead, const KeyRange &keys,
                               ValueRange state) {
    StringRef letters = tiles.letters.key;
    bool fetchesAhead = split.packs && letters.find('k') < letters.find('d'); // else a slice would be a copy
    auto slice = [&](Value at, OpFoldResult columns) -> AttentionTiles::StepTiles {
      Ranges ranges = tiles.rangesOf(place, keyHead);
      auto sliceKeys = [&] { return sliceMatrix(b, tiles.op.getKey(), letters, ranges, 'k', 'd'); };
      ranges['k'] = {at, columns};
      Value key = split.packs ? packKeys(ranges, columns) : sliceKeys();
      Value value = sliceMatrix(b, tiles.op.getValue(), tiles.letters.value, ranges, 'k', 'e');
      if (!fetchesAhead)
        return {key, value, /*ahead=*/{}};
      Value next = arith::AddIOp::create(b, at, asValue(b, columns));
      ranges['k'] = {next, minOfRest(b, split.tileKeys, keys.end, next)};
      return {key, value, sliceKeys()};
    };
    return tiles.buildSteps(query, place, keys, split.tileKeys, slice, state);
  }

  /// Merges the states of the parts into the results.
  SmallVector<Value> mergeParts(OpFoldResult batches, OpFoldResult parts, ValueRange states,
                                ValueRange results) {
    return buildForall(b, {batches, tiles.heads}, results, [&](ValueRange at, ValueRange results) {
      TilePlace place = tiles.placeOf(at[0], at[1], zero, queries);
      StateSlice rows{{at[0], at[1], zero, zero}, {one, one, parts, queries}, {true, true, false, false}};
      auto slice = [&](size_t number) {
        auto [offsets, sizes, dropped] = extend(rows, number);
        return sliceWithout(b, states[number], offsets, sizes, dropped);
      };
      Value accumulators = slice(0), maxima = slice(1), sums = slice(2);

      // Over (part, query, e), or a sum's part at last: the parts of the keys go outermost.
      AffineMap all = b.getMultiDimIdentityMap(3), both = b.getMultiDimIdentityMap(2);
      AffineMap query = both.getSubMap({1});
      auto one = [](Value value) { return SmallVector<Value>{value}; };
      Value firstMax, firstSum;
      std::tie(firstMax, firstSum) = tiles.buildFirstState(place.head);
      auto filled = [&](OpFoldResult columns, Value value) {
        return linalg::FillOp::create(b, value, tiles.scratch(queries, columns)).getResult(0);
      };
      Value max = buildGeneric(b, {{maxima, both}}, {{filled({}, firstMax), query}}, 2, {0},
                               [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                                 return one(arith::MaximumFOp::create(b, out[0], in[0]));
                               })[0];
      auto weigh = [&](ImplicitLocOpBuilder &b, Value x, Value own, Value max) -> Value {
        Value lowest = f32Constant(b, std::numeric_limits<float>::lowest()); // for states without a key
        Value distance = arith::SubFOp::create(b, arith::MaximumFOp::create(b, own, lowest),
                                               arith::MaximumFOp::create(b, max, lowest));
        return arith::MulFOp::create(b, x, tiles.buildExponential(b, distance));
      };
      Value sum = buildGeneric(b, {{max, both.getSubMap({0})}}, {{filled(tiles.sumParts, firstSum), both}}, 2,
                               {}, [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                                 return one(weigh(b, out[0], firstMax, in[0]));
                               })[0];
      auto addParts = [&](Value terms, Value first) {
        return buildGeneric(b, {{terms, all}, {maxima, all.getSubMap({0, 1})}, {max, all.getSubMap({1})}},
                            {{first, all.getSubMap({1, 2})}}, 3, {0},
                            [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                              return one(arith::AddFOp::create(b, out[0], weigh(b, in[0], in[1], in[2])));
                            })[0];
      };
      sum = addParts(sums, sum);
      Value accumulator = addParts(accumulators, filled(tiles.width, f32Constant(b, 0)));
      return tiles.finish({accumulator, max, sum}, tiles.rangesOf(place, place.head), results);
    });
  }
};

} // namespace

SmallVector<Value> heed::tileFewQueries(AttentionTiles &tiles, const KeySplit &split, OpFoldResult batches,
                                        ValueRange results) {
  FewQueries few(tiles, split);
  OpFoldResult parts = ceilDiv(tiles.b, tiles.keys, split.partKeys);
  return few.mergeParts(batches, parts, few.walkParts(batches, parts), results);
}
