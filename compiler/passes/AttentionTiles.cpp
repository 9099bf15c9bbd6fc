#include "compiler/passes/AttentionTiles.h"

#include "compiler/passes/TileBounds.h"
#include "compiler/target/Target.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heed;

AttentionTiles::AttentionTiles(attn::AttentionOp op, int64_t mostRows, int64_t askedRows)
    : op(op), b(op.getLoc(), op), mostRows(mostRows), askedRows(askedRows), letters(op.getLetters()),
      zero(b.getIndexAttr(0)), one(b.getIndexAttr(1)), batches(extent(op.getQuery(), letters.query, 'b')),
      heads(extent(op.getQuery(), letters.query, 'h')), keyHeads(extent(op.getKey(), letters.key, 'h')),
      queries(extent(op.getQuery(), letters.query, 'q')), keys(extent(op.getKey(), letters.key, 'k')),
      depth(extent(op.getQuery(), letters.query, 'd')), width(extent(op.getValue(), letters.value, 'e')),
      sumParts(b.getIndexAttr(panelWidth)) {
  group = b.createOrFold<arith::DivUIOp>(
      asValue(b, heads), b.createOrFold<arith::MaxUIOp>(asValue(b, keyHeads), indexConstant(b, 1)));
  if (op.hasKeep())
    mask = MaskAnalysis::of(MaskContext::of(op, mostRows));
  double scale = op.getScale().convertToDouble();
  base2 = !op.hasScore() && std::abs(scale * llvm::numbers::log2e) <= 1;
  (std::abs(scale) <= 1 ? queryFactor : scoreFactor) = base2 ? scale * llvm::numbers::log2e : scale;
}

OpFoldResult AttentionTiles::extent(Value tensor, StringRef in, char letter) {
  int64_t dim = attn::AttentionLayout::find(in, letter);
  return dim < 0 ? one : tensor::getMixedSize(b, op.getLoc(), tensor, dim);
}

SmallVector<Value> AttentionTiles::emptyResults() {
  SmallVector<OpFoldResult> sizes, rowSizes;
  for (char letter : letters.result) {
    sizes.push_back(letter == 'b' ? batches : letter == 'h' ? heads : letter == 'q' ? queries : width);
    if (letter != 'e')
      rowSizes.push_back(sizes.back());
  }
  SmallVector<Value> results{tensor::EmptyOp::create(b, sizes, op.getResult().getType().getElementType())};
  if (op.getLogSumExp())
    results.push_back(tensor::EmptyOp::create(b, rowSizes, b.getF32Type()));
  return results;
}

void AttentionTiles::replaceWith(ValueRange results) {
  for (auto [before, after] : llvm::zip(op.getResults(), results))
    before.replaceAllUsesWith(after.getType() == before.getType()
                                  ? after
                                  : tensor::CastOp::create(b, before.getType(), after).getResult());
  op.erase();
}

TilePlace AttentionTiles::placeOf(Value batch, Value head, OpFoldResult query, OpFoldResult rows) {
  Value length = asValue(b, keys);
  if (op.getKeyLengths()) {
    Value valid = positionOf(b, op.getKeyLengths(), batch);
    length = arith::MinSIOp::create(b, length, arith::MaxSIOp::create(b, valid, indexConstant(b, 0)));
  }
  return {asValue(b, query),
          asValue(b, rows),
          asValue(b, queries),
          length,
          positionOf(b, op.getQueryOffset(), batch),
          positionOf(b, op.getKeyOffset(), batch),
          batch,
          head};
}

Ranges AttentionTiles::rangesOf(const TilePlace &place, Value head) {
  return {{'b', {place.batch, one}},
          {'h', {head, one}},
          {'q', {place.tileBegin, getAsOpFoldResult(place.rows)}},
          {'d', {zero, depth}},
          {'e', {zero, width}}};
}

Value AttentionTiles::scaleQueries(const TilePlace &place) {
  Value tile = sliceMatrix(b, op.getQuery(), letters.query, rangesOf(place, place.head), 'q', 'd');
  AffineMap identity = b.getMultiDimIdentityMap(2);
  Value scaled = scratch(getAsOpFoldResult(place.rows), depth);
  return buildGeneric(b, {{tile, identity}}, {{scaled, identity}}, 2, {},
                      [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange) {
                        return SmallVector<Value>{
                            arith::MulFOp::create(b, in[0], f32Constant(b, queryFactor))};
                      })[0];
}

Value AttentionTiles::scratch(OpFoldResult rows, OpFoldResult columns) {
  SmallVector<OpFoldResult> bound{b.getIndexAttr(mostRows)}, sizes{rows};
  if (columns) {
    bound.push_back(columns);
    sizes.push_back(columns);
  }
  Value empty = tensor::EmptyOp::create(b, bound, b.getF32Type());
  SmallVector<OpFoldResult> origin(bound.size(), zero);
  return sliceWithout(b, empty, origin, sizes, SmallVector<bool>(bound.size(), false));
}

std::pair<Value, Value> AttentionTiles::buildFirstState(Value head) {
  Value firstMax = f32Constant(b, -INFINITY), firstSum = f32Constant(b, 0);
  if (op.getSinks()) {
    firstMax = extendToF32(b, tensor::ExtractOp::create(b, op.getSinks(), head));
    if (base2)
      firstMax = arith::MulFOp::create(b, firstMax, f32Constant(b, llvm::numbers::log2e));
    // e^(sink − sink), NaN where a softmax would be, and nothing for a sink of −inf.
    Value distance = arith::SubFOp::create(b, firstMax, firstMax);
    Value absent = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, firstMax, f32Constant(b, -INFINITY));
    firstSum = arith::SelectOp::create(b, absent, f32Constant(b, 0),
                                       arith::AddFOp::create(b, f32Constant(b, 1.0 / panelWidth), distance));
  }
  return {firstMax, firstSum};
}

Value AttentionTiles::buildExponential(ImplicitLocOpBuilder &b, Value x) {
  return base2 ? math::Exp2Op::create(b, x).getResult() : math::ExpOp::create(b, x).getResult();
}

/// The panels of a tile that may keep a pair, from the first to the last: where they begin and end.
static SmallVector<Value> trim(ImplicitLocOpBuilder &b, TileBounder &bounder, Value at,
                               OpFoldResult columns) {
  Value none = indexConstant(b, 0), count = asValue(b, columns);
  auto loop = scf::ForOp::create(b, none, count, indexConstant(b, panelWidth), ValueRange{count, none});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value panel = loop.getInductionVar(), first = loop.getRegionIterArg(0), last = loop.getRegionIterArg(1);
    OpFoldResult width = minOfRest(b, panelWidth, columns, panel);
    Value kept = bounder.bound(b.createOrFold<arith::AddIOp>(at, panel), width).maybeKept;
    Value end = b.createOrFold<arith::AddIOp>(panel, asValue(b, width));
    first = arith::SelectOp::create(b, kept, arith::MinSIOp::create(b, first, panel), first);
    scf::YieldOp::create(b, {first, arith::SelectOp::create(b, kept, end, last)});
  }
  Value begin = loop.getResult(0);
  Value end = arith::MaxSIOp::create(b, begin, loop.getResult(1));
  return {arith::AddIOp::create(b, at, begin), arith::AddIOp::create(b, at, end)};
}

SmallVector<Value> AttentionTiles::buildSteps(Value query, const TilePlace &place, const KeyRange &keys,
                                              int64_t tileKeys, SliceKeys slice, ValueRange state) {
  std::optional<TileBounder> bounder;
  if (keys.asks && !mask->gaps.empty())
    bounder.emplace(b, op, place);
  auto loop = scf::ForOp::create(b, keys.begin, keys.end, indexConstant(b, tileKeys), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  state = loop.getRegionIterArgs();
  Value at = loop.getInductionVar();
  OpFoldResult columns =
      keys.isWhole ? OpFoldResult(b.getIndexAttr(tileKeys)) : minOfRest(b, tileKeys, keys.end, at);
  std::optional<TileBounds> bounds;
  if (bounder)
    bounds = bounder->bound(at, columns);
  if (!bounds || !bounds->areKnown()) {
    scf::YieldOp::create(b, buildStep(query, place, at, columns, keys.asks, slice, state));
    return loop.getResults();
  }
  auto visit = [&] {
    Type index = b.getIndexType();
    Value all = b.createOrFold<arith::AddIOp>(at, asValue(b, columns));
    SmallVector<Value> range = buildIf(
        b, bounds->maybeDropped, {index, index}, [&] { return trim(b, *bounder, at, columns); },
        [&] { return SmallVector<Value>{at, all}; });
    Value asks = b.createOrFold<arith::AndIOp>(keys.asks, bounds->maybeDropped);
    return buildStep(query, place, range[0], minOfRest(b, tileKeys, range[1], range[0]), asks, slice, state);
  };
  scf::YieldOp::create(
      b, buildIf(b, bounds->maybeKept, state.getTypes(), visit, [&] { return SmallVector<Value>(state); }));
  return loop.getResults();
}

SmallVector<Value> AttentionTiles::buildStep(Value query, const TilePlace &place, Value at,
                                             OpFoldResult columns, Value asks, SliceKeys slice,
                                             ValueRange state) {
  StepTiles tiles = slice(at, columns);
  Value firstQuery = b.createOrFold<arith::AddIOp>(place.tileBegin, place.queryOffset);
  Value firstKey = b.createOrFold<arith::AddIOp>(at, place.keyOffset);
  Value origin[] = {place.batch, place.head, firstQuery, firstKey, place.queryLength, place.keyLength};
  bool hasRegion = op.hasScore() || asks;
  Value unlessAlways = asks && !matchPattern(asks, m_One()) ? asks : Value();
  auto online = attn::OnlineAttentionOp::create(
      b, state.getTypes(), query, tiles.key, tiles.value, origin, hasRegion ? op.getReads() : ValueRange(),
      unlessAlways, tiles.ahead, state[0], state[1], state[2], b.getF64FloatAttr(scoreFactor),
      base2 ? b.getUnitAttr() : UnitAttr(), hasRegion ? op.getReadMapsAttr() : b.getAffineMapArrayAttr({}));
  IRMapping mapping;
  if (op.hasScore())
    op.getScore().cloneInto(&online.getScore(), mapping);
  if (asks)
    op.getKeep().cloneInto(&online.getKeep(), mapping);
  return online.getResults();
}

SmallVector<Value> AttentionTiles::walkRanges(Value query, const TilePlace &place, KeySteps steps,
                                              ValueRange state, WalkRows walk) {
  KeyLoops loops(b, op, mask, place, steps);
  auto walkTile = [&](const KeyRange &keys, ValueRange state) { return walk(query, place, keys, state); };
  if (!asks())
    return loops.walkFull(state, walkTile);
  if (askedRows < mostRows)
    return walkParts(query, place, loops, loops.walkFull(state, walkTile), walk);
  if (!loops.hasFull())
    return loops.walkAsked(place, state, walkTile);
  // Both have all rows, so that one copy of the code serves them in turn.
  auto loop = scf::ForOp::create(b, indexConstant(b, 0), indexConstant(b, 2), indexConstant(b, 1), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value asks =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
  scf::YieldOp::create(b, loops.walkEither(asks, place, loop.getRegionIterArgs(), walkTile));
  return loop.getResults();
}

SmallVector<Value> AttentionTiles::walkParts(Value query, const TilePlace &place, KeyLoops &loops,
                                             ValueRange state, WalkRows walk) {
  auto loop = scf::ForOp::create(b, indexConstant(b, 0), place.rows, indexConstant(b, askedRows), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  OpFoldResult rows = minOfRest(b, askedRows, getAsOpFoldResult(place.rows), first);
  TilePlace part = place;
  part.tileBegin = b.createOrFold<arith::AddIOp>(place.tileBegin, first);
  part.rows = asValue(b, rows);
  auto placeIn = [&](Value all) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), all), offsets(sizes.size(), zero);
    offsets[0] = first, sizes[0] = rows;
    return std::pair(offsets, sizes);
  };
  auto slice = [&](Value all) {
    auto [offsets, sizes] = placeIn(all);
    return sliceWithout(b, all, offsets, sizes, SmallVector<bool>(sizes.size(), false));
  };
  Value partQuery = slice(query);
  SmallVector<Value> all(loop.getRegionIterArgs()), own = llvm::map_to_vector(all, slice);
  own = loops.walkAsked(
      part, own, [&](const KeyRange &keys, ValueRange state) { return walk(partQuery, part, keys, state); });
  for (auto [result, into] : llvm::zip_equal(own, all)) {
    auto [offsets, sizes] = placeIn(into);
    into = insertSlice(b, result, into, offsets, sizes);
  }
  scf::YieldOp::create(b, all);
  return loop.getResults();
}

SmallVector<TileResult> AttentionTiles::finish(ValueRange state, const Ranges &ranges, ValueRange results) {
  AffineMap identity = b.getMultiDimIdentityMap(2), rows = identity.getSubMap({0});
  Value none =
      linalg::FillOp::create(b, f32Constant(b, 0), scratch(ranges.lookup('q').second, {})).getResult(0);
  Value sum = buildGeneric(b, {{state[2], identity}}, {{none, rows}}, 2, {1},
                           [](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                             return SmallVector<Value>{arith::AddFOp::create(b, out[0], in[0])};
                           })[0];
  double empty = op.getEmptyRows() == attn::EmptyRows::Zeros ? 0 : NAN;
  TileResult place; // of which only the place is filled in
  auto sliceResult = [&](Value result, StringRef letters) {
    place = {};
    SmallVector<bool> dropped;
    for (char letter : letters) {
      place.offsets.push_back(ranges.lookup(letter).first);
      place.sizes.push_back(ranges.lookup(letter).second);
      dropped.push_back(letter != 'q' && letter != 'e');
    }
    return sliceWithout(b, result, place.offsets, place.sizes, dropped);
  };
  Value destination = sliceResult(results[0], letters.result);
  bool transposed = letters.result.find('q') > letters.result.find('e');
  AffineMap result = transposed ? identity.getSubMap({1, 0}) : identity;
  SmallVector<TileResult> tiles;
  Value tile =
      buildGeneric(b, {{state[0], identity}, {sum, rows}}, {{destination, result}}, 2, {},
                   [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange) {
                     Value none =
                         arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, in[1], f32Constant(b, 0));
                     Value mean = arith::DivFOp::create(b, in[0], in[1]);
                     return SmallVector<Value>{arith::SelectOp::create(b, none, f32Constant(b, empty), mean)};
                   })[0];
  tiles.push_back({tile, place.offsets, place.sizes});
  if (results.size() == 1)
    return tiles;

  AffineMap row = b.getMultiDimIdentityMap(1);
  auto [before, after] = letters.result.split('e');
  Value rowDestination = sliceResult(results[1], (before + after).str());
  Value logSumExp = buildGeneric(
      b, {{state[1], row}, {sum, row}}, {{rowDestination, row}}, 1, {},
      [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange) {
        Value none = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, in[1], f32Constant(b, 0));
        Value sum =
            base2 ? arith::MulFOp::create(b, arith::AddFOp::create(b, in[0], math::Log2Op::create(b, in[1])),
                                          f32Constant(b, llvm::numbers::ln2))
                  : arith::AddFOp::create(b, in[0], math::LogOp::create(b, in[1])).getResult();
        return SmallVector<Value>{arith::SelectOp::create(b, none, f32Constant(b, -INFINITY), sum)};
      })[0];
  tiles.push_back({logSumExp, place.offsets, place.sizes});
  return tiles;
}
