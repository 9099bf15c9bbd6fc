// Tiles attention over batch, heads, queries and keys; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/EmitKeyWalk.h"
#include "compiler/passes/LetteredSlices.h"
#include "compiler/passes/Structured.h"
#include "compiler/target/Target.h"

namespace heed {
#define GEN_PASS_DEF_TILEATTENTION
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr int64_t panelWidth = 16;

struct AttentionTiler {
  attn::AttentionOp op;
  ImplicitLocOpBuilder b;
  Tuning tuning;
  attn::AttentionLayout letters;
  OpFoldResult zero, one;
  /// Scores are counted in units of ln 2: not where a score region sees them.
  bool base2;
  /// What each query is multiplied by, and each score: a factor past 1 could make a query overflow.
  double queryFactor = 1, scoreFactor = 1;
  std::optional<MaskAnalysis> mask;

  AttentionTiler(attn::AttentionOp op, const Tuning &tuning)
      : op(op), b(op.getLoc(), op), tuning(tuning), letters(op.getLetters()), zero(b.getIndexAttr(0)),
        one(b.getIndexAttr(1)) {
    if (op.hasKeep())
      mask = MaskAnalysis::of(MaskContext::of(op, tuning.queries));
    double scale = op.getScale().convertToDouble();
    base2 = !op.hasScore() && std::abs(scale * llvm::numbers::log2e) <= 1;
    (std::abs(scale) <= 1 ? queryFactor : scoreFactor) = base2 ? scale * llvm::numbers::log2e : scale;
  }

  /// The extent of `letter` in `tensor`; 1 where it has none.
  OpFoldResult extent(Value tensor, StringRef in, char letter) {
    int64_t dim = attn::AttentionLayout::find(in, letter);
    return dim < 0 ? one : tensor::getMixedSize(b, op.getLoc(), tensor, dim);
  }

  /// Copies made once per head, for all tiles of queries: the keys transposed in panels, [batch, head,
  /// keys/w, d, w], of which the last is padded with whatever is there; and the values, unless they lie row
  /// after row as they are, [batch, head, keys, e].
  struct Packed {
    Value keys, values;
  };

  Packed pack(OpFoldResult batches, OpFoldResult keyHeads, OpFoldResult keys, OpFoldResult depth,
              OpFoldResult width) {
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

  void run() {
    OpFoldResult batches = extent(op.getQuery(), letters.query, 'b'),
                 heads = extent(op.getQuery(), letters.query, 'h');
    OpFoldResult queries = extent(op.getQuery(), letters.query, 'q'),
                 keys = extent(op.getKey(), letters.key, 'k');
    OpFoldResult depth = extent(op.getQuery(), letters.query, 'd'),
                 width = extent(op.getValue(), letters.value, 'e');
    OpFoldResult keyHeads = extent(op.getKey(), letters.key, 'h');
    Value group = b.createOrFold<arith::DivUIOp>(
        asValue(b, heads), b.createOrFold<arith::MaxUIOp>(asValue(b, keyHeads), indexConstant(b, 1)));
    Packed packed = pack(batches, keyHeads, keys, depth, width);

    SmallVector<Value> results;
    auto type = cast<RankedTensorType>(op.getResult().getType());
    SmallVector<OpFoldResult> sizes;
    for (char letter : letters.result)
      sizes.push_back(letter == 'b' ? batches : letter == 'h' ? heads : letter == 'q' ? queries : width);
    results.push_back(tensor::EmptyOp::create(b, sizes, type.getElementType()));
    SmallVector<OpFoldResult> rowSizes;
    if (op.getLogSumExp()) {
      for (char letter : letters.result)
        if (letter != 'e')
          rowSizes.push_back(letter == 'b' ? batches : letter == 'h' ? heads : queries);
      results.push_back(tensor::EmptyOp::create(b, rowSizes, b.getF32Type()));
    }

    int64_t tileRows = tuning.queries;
    SmallVector<Value> tiled = buildForall(
        b, {batches, heads, ceilDiv(b, queries, tileRows)}, results, [&](ValueRange at, ValueRange results) {
          Value batch = at[0], head = at[1], keyHead = b.createOrFold<arith::DivUIOp>(at[1], group);
          OpFoldResult query = times(b, at[2], tileRows), rows = minOfRest(b, tileRows, queries, query);
          Ranges ranges{{'b', {batch, one}},
                        {'h', {head, one}},
                        {'q', {query, rows}},
                        {'d', {zero, depth}},
                        {'e', {zero, width}}};
          Value queryTile = scaleQueries(ranges);
          ranges['h'] = {keyHead, one};
          SmallVector<Value> state = walkKeys(packed, queryTile, ranges, batch, head, keys);
          ranges['h'] = {head, one};
          return finish(state, ranges, results);
        });
    if (tiled[0].getType() != type)
      tiled[0] = tensor::CastOp::create(b, type, tiled[0]);
    op.getResult().replaceAllUsesWith(tiled[0]);
    if (op.getLogSumExp()) {
      if (tiled[1].getType() != op.getLogSumExp().getType())
        tiled[1] = tensor::CastOp::create(b, op.getLogSumExp().getType(), tiled[1]);
      op.getLogSumExp().replaceAllUsesWith(tiled[1]);
    }
    op.erase();
  }

  /// A tile of queries in f32, times their factor.
  Value scaleQueries(const Ranges &ranges) {
    Value tile = sliceMatrix(b, op.getQuery(), letters.query, ranges, 'q', 'd');
    AffineMap identity = b.getMultiDimIdentityMap(2);
    Value scaled = scratch(ranges.lookup('q').second, ranges.lookup('d').second);
    return buildGeneric(b, {{tile, identity}}, {{scaled, identity}}, 2, {},
                        [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange) {
                          return SmallVector<Value>{
                              arith::MulFOp::create(b, in[0], f32Constant(b, queryFactor))};
                        })[0];
  }

  /// A tile of f32 rows with a static bound, so that its scratch memory has a size known before the loop.
  Value scratch(OpFoldResult rows, OpFoldResult columns) {
    SmallVector<OpFoldResult> bound{b.getIndexAttr(tuning.queries)}, sizes{rows};
    if (columns) {
      bound.push_back(columns);
      sizes.push_back(columns);
    }
    Value empty = tensor::EmptyOp::create(b, bound, b.getF32Type());
    SmallVector<OpFoldResult> origin(bound.size(), zero);
    return sliceWithout(b, empty, origin, sizes, SmallVector<bool>(bound.size(), false));
  }

  /// The online softmax over all tiles of valid keys. Returns (accumulator, row max, row sum).
  SmallVector<Value> walkKeys(const Packed &packed, Value queryTile, Ranges ranges, Value batch, Value head,
                              OpFoldResult keys) {
    OpFoldResult rows = ranges['q'].second, width = ranges['e'].second;
    // A sink is a key of that score whose value is zero.
    auto filled = [&](OpFoldResult columns, Value value) {
      return linalg::FillOp::create(b, value, scratch(rows, columns)).getResult(0);
    };
    Value firstMax = f32Constant(b, -INFINITY), firstSum = f32Constant(b, 0);
    if (op.getSinks()) {
      firstMax = extendToF32(b, tensor::ExtractOp::create(b, op.getSinks(), head));
      if (base2)
        firstMax = arith::MulFOp::create(b, firstMax, f32Constant(b, llvm::numbers::log2e));
      // e^(sink − sink), NaN where a softmax would be, and nothing for a sink of −inf.
      Value distance = arith::SubFOp::create(b, firstMax, firstMax);
      Value absent = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, firstMax, f32Constant(b, -INFINITY));
      firstSum = arith::SelectOp::create(b, absent, f32Constant(b, 0),
                                         arith::AddFOp::create(b, f32Constant(b, 1), distance));
    }
    SmallVector<Value> state{filled(width, f32Constant(b, 0)), filled({}, firstMax), filled({}, firstSum)};

    Value length = asValue(b, keys);
    if (op.getKeyLengths()) {
      Value valid = positionOf(b, op.getKeyLengths(), batch);
      length = arith::MinSIOp::create(b, length, arith::MaxSIOp::create(b, valid, indexConstant(b, 0)));
    }
    TilePlace place{asValue(b, ranges['q'].first),
                    asValue(b, rows),
                    asValue(b, extent(op.getQuery(), letters.query, 'q')),
                    length,
                    positionOf(b, op.getQueryOffset(), batch),
                    positionOf(b, op.getKeyOffset(), batch),
                    batch,
                    head};
    return emitKeyWalk(b, op, mask, place, {panelWidth, tuning.keys}, state,
                       [&](const KeyRange &keys, ValueRange state) {
                         return walkTiles(packed, queryTile, ranges, place, keys, state);
                       });
  }

  /// The online softmax over tiles of some keys.
  SmallVector<Value> walkTiles(const Packed &packed, Value queryTile, Ranges ranges, const TilePlace &place,
                               const KeyRange &keys, ValueRange state) {
    auto loop = scf::ForOp::create(b, keys.begin, keys.end, indexConstant(b, tuning.keys), state);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    OpFoldResult tile = b.getIndexAttr(tuning.keys);
    OpFoldResult columns = keys.isWhole ? tile : minOfRest(b, tuning.keys, keys.end, at);
    ranges['k'] = {at, columns};
    StringRef valueLetters = packed.values == op.getValue() ? letters.value : "bhke";
    Value valueTile = sliceMatrix(b, packed.values, valueLetters, ranges, 'k', 'e');
    OpFoldResult panel = ceilDiv(b, at, panelWidth); // on which it begins
    Value keyTile = sliceWithout(
        b, packed.keys, {ranges['b'].first, ranges['h'].first, panel, zero, zero},
        {one, one, ceilDiv(b, columns, panelWidth), ranges['d'].second, b.getIndexAttr(panelWidth)},
        {true, true, false, false, false});

    Value firstQuery = b.createOrFold<arith::AddIOp>(place.tileBegin, place.queryOffset);
    Value firstKey = b.createOrFold<arith::AddIOp>(at, place.keyOffset);
    Value origin[] = {place.batch, place.head, firstQuery, firstKey, place.queryLength, place.keyLength};
    bool hasRegion = op.hasScore() || keys.asks;
    auto online = attn::OnlineAttentionOp::create(
        b, loop.getResultTypes(), queryTile, keyTile, valueTile, origin,
        hasRegion ? op.getReads() : ValueRange(), loop.getRegionIterArg(0), loop.getRegionIterArg(1),
        loop.getRegionIterArg(2), b.getF64FloatAttr(scoreFactor), base2 ? b.getUnitAttr() : UnitAttr(),
        hasRegion ? op.getReadMapsAttr() : b.getAffineMapArrayAttr({}));
    IRMapping mapping;
    if (op.hasScore())
      op.getScore().cloneInto(&online.getScore(), mapping);
    if (keys.asks)
      op.getKeep().cloneInto(&online.getKeep(), mapping);
    scf::YieldOp::create(b, online.getResults());
    return loop.getResults();
  }

  /// Divides by the row sums and says where the tiles go.
  SmallVector<TileResult> finish(ValueRange state, const Ranges &ranges, ValueRange results) {
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
    AffineMap identity = b.getMultiDimIdentityMap(2), rows = identity.getSubMap({0});
    bool transposed = letters.result.find('q') > letters.result.find('e');
    AffineMap result = transposed ? identity.getSubMap({1, 0}) : identity;
    SmallVector<TileResult> tiles;
    Value tile = buildGeneric(
        b, {{state[0], identity}, {state[2], rows}}, {{destination, result}}, 2, {},
        [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange) {
          Value none = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, in[1], f32Constant(b, 0));
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
        b, {{state[1], row}, {state[2], row}}, {{rowDestination, row}}, 1, {},
        [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange) {
          Value none = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, in[1], f32Constant(b, 0));
          Value sum =
              base2
                  ? arith::MulFOp::create(b, arith::AddFOp::create(b, in[0], math::Log2Op::create(b, in[1])),
                                          f32Constant(b, llvm::numbers::ln2))
                  : arith::AddFOp::create(b, in[0], math::LogOp::create(b, in[1])).getResult();
          return SmallVector<Value>{arith::SelectOp::create(b, none, f32Constant(b, -INFINITY), sum)};
        })[0];
    tiles.push_back({logSumExp, place.offsets, place.sizes});
    return tiles;
  }
};

struct TileAttention : impl::TileAttentionBase<TileAttention> {
  void runOnOperation() override {
    FailureOr<Target> target = Target::of(getOperation());
    if (failed(target))
      return signalPassFailure();
    getOperation()->walk([&](attn::AttentionOp op) { AttentionTiler(op, target->tuning).run(); });
  }
};

} // namespace
} // namespace heed
