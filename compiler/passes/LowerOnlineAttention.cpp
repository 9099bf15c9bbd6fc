// Lowers a step of online attention to two tile matmuls and the softmax between them; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "compiler/target/Target.h"
#include "mlir/IR/IRMapping.h"

namespace heed {
#define GEN_PASS_DEF_LOWERONLINEATTENTION
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct StepLowering {
  attn::OnlineAttentionOp op;
  ImplicitLocOpBuilder b;
  const Tuning &tuning;
  OpFoldResult rows, columns;
  AffineMap both, row, line; // over (query, key): both, and the query alone; over the query

  StepLowering(attn::OnlineAttentionOp op, const Tuning &tuning)
      : op(op), b(op.getLoc(), op), tuning(tuning),
        rows(tensor::getMixedSize(b, op.getLoc(), op.getQuery(), 0)),
        columns(tensor::getMixedSize(b, op.getLoc(), op.getValue(), 0)), both(b.getMultiDimIdentityMap(2)),
        row(both.getSubMap({0})), line(b.getMultiDimIdentityMap(1)) {}

  bool hasRegions() { return !op.getScore().empty() || !op.getKeep().empty(); }

  /// A tile of scores, its size bounded statically.
  Value scoresTile() {
    Value empty = tensor::EmptyOp::create(b, ArrayRef<int64_t>{tuning.queries, tuning.keys}, b.getF32Type());
    SmallVector<OpFoldResult> origin(2, b.getIndexAttr(0));
    return sliceWithout(b, empty, origin, {rows, columns}, {false, false});
  }
  Value rowTile() {
    Value empty = tensor::EmptyOp::create(b, ArrayRef<int64_t>{tuning.queries}, b.getF32Type());
    return sliceWithout(b, empty, {b.getIndexAttr(0)}, {rows}, {false});
  }

  /// scale · query · keyᵀ.
  Value buildProducts() {
    Value panels = op.getKey();
    if (cast<RankedTensorType>(panels.getType()).getRank() == 2) {
      SmallVector<OpFoldResult> tiles{b.getIndexAttr(16)};
      Value destination = linalg::PackOp::createDestinationTensor(b, op.getLoc(), panels, tiles, {0}, {});
      Value pad = arith::ConstantOp::create(b, b.getZeroAttr(getElementTypeOrSelf(panels)));
      panels = linalg::PackOp::create(b, panels, destination, {0}, tiles, pad)->getResult(0);
    }
    Value scores = scoresTile();
    auto products = attn::TileMatmulOp::create(b, scores.getType(), op.getQuery(), panels, ValueRange(),
                                               scores, false, false, b.getAffineMapArrayAttr({}));
    if (double scale = op.getScale().convertToDouble(); scale != 1) {
      OpBuilder::InsertionGuard guard(b);
      Block *block = b.createBlock(&products.getEpilogue(), {}, {b.getF32Type()}, {op.getLoc()});
      attn::YieldOp::create(
          b, arith::MulFOp::create(b, block->getArgument(0), f32Constant(b, scale)).getResult());
    }
    return products.getResult();
  }

  void scaleEpilogue(attn::TileMatmulOp product, double scale) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&product.getEpilogue(), {}, {b.getF32Type()}, {op.getLoc()});
    Value sum = block->getArgument(0);
    attn::YieldOp::create(b, scale == 1 ? sum
                                        : arith::MulFOp::create(b, sum, f32Constant(b, scale)).getResult());
  }

  /// Inlines `region` for the pair of the current iteration.
  Value inlineRegion(ImplicitLocOpBuilder &b, Region &region, Value score, ValueRange elements) {
    SmallVector<Value> arguments;
    if (score)
      arguments.push_back(score);
    auto origin = op.getOrigin();
    Value query = arith::AddIOp::create(b, origin[2], linalg::IndexOp::create(b, 0));
    Value key = arith::AddIOp::create(b, origin[3], linalg::IndexOp::create(b, 1));
    arguments.append({origin[0], origin[1], query, key, origin[4], origin[5]});
    llvm::append_range(arguments, elements);
    IRMapping mapping;
    mapping.map(region.front().getArguments(), arguments);
    for (Operation &inner : region.front().without_terminator())
      b.clone(inner, mapping);
    return mapping.lookup(region.front().getTerminator()->getOperand(0));
  }

  /// The score and keep regions, element by element: −inf marks a pair that is not kept.
  Value changeScores(Value scores) {
    // Elements reach the regions in their own type, sliced to the tile; a tensor read whole is used as it is.
    SmallVector<Value> ins{scores};
    SmallVector<AffineMap> maps{both};
    SmallVector<std::pair<int64_t, Value>> sources; // position among the inputs, or a value from outside
    for (auto [read, map] :
         llvm::zip_equal(op.getReads(), op.getReadMaps().getAsValueRange<AffineMapAttr>())) {
      if (isa<RankedTensorType>(regionArgumentType(sources.size()))) {
        sources.push_back({-1, read});
        continue;
      }
      sources.push_back({static_cast<int64_t>(ins.size()), {}});
      auto [tile, tileMap] = sliceRead(read, map);
      ins.push_back(tile);
      maps.push_back(tileMap);
    }
    maps.push_back(both);
    SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
    return linalg::GenericOp::create(b, scores.getType(), ins, scores, maps, iterators,
                                     [&](OpBuilder &builder, Location loc, ValueRange arguments) {
                                       ImplicitLocOpBuilder b(loc, builder);
                                       SmallVector<Value> elements;
                                       for (auto [position, outside] : sources)
                                         elements.push_back(outside ? outside : arguments[position]);
                                       Value score = arguments[0];
                                       if (!op.getScore().empty())
                                         score = inlineRegion(b, op.getScore(), score, elements);
                                       if (!op.getKeep().empty()) {
                                         Value keep = inlineRegion(b, op.getKeep(), {}, elements);
                                         score = arith::SelectOp::create(b, keep, score,
                                                                         f32Constant(b, -INFINITY));
                                       }
                                       linalg::YieldOp::create(b, score);
                                     })
        .getResult(0);
  }

  /// What the tile reads of a tensor whose map is over (batch, head, query, key), with a map over (query,
  /// key).
  std::pair<Value, AffineMap> sliceRead(Value read, AffineMap map) {
    auto origin = op.getOrigin();
    OpFoldResult one = b.getIndexAttr(1);
    std::pair<OpFoldResult, OpFoldResult> ranges[] = {
        {origin[0], one}, {origin[1], one}, {origin[2], rows}, {origin[3], columns}};
    SmallVector<OpFoldResult> offsets, sizes;
    SmallVector<bool> dropped;
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      auto [offset, size] =
          dim ? ranges[dim.getPosition()] : std::pair<OpFoldResult, OpFoldResult>(b.getIndexAttr(0), one);
      offsets.push_back(offset);
      sizes.push_back(size);
      dropped.push_back(!dim || dim.getPosition() < 2);
      if (!dropped.back())
        exprs.push_back(b.getAffineDimExpr(dim.getPosition() - 2));
    }
    Value tile = offsets.empty() ? read : sliceWithout(b, read, offsets, sizes, dropped);
    return {tile, AffineMap::get(2, 0, exprs, b.getContext())};
  }

  Type regionArgumentType(size_t read) {
    if (!op.getScore().empty())
      return op.getScore().getArgument(7 + read).getType();
    return op.getKeep().getArgument(6 + read).getType();
  }

  void run() {
    auto one = [](Value value) { return SmallVector<Value>{value}; };
    Value scores = buildProducts();
    if (hasRegions())
      scores = changeScores(scores);
    // The tile's maximum goes to a buffer of its own: the correction needs the old one beside the new one.
    Value none = linalg::FillOp::create(b, f32Constant(b, -INFINITY), rowTile()).getResult(0);
    Value tileMax = buildGeneric(b, {{scores, both}}, {{none, row}}, 2, {1},
                                 [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                                   return one(arith::MaximumFOp::create(b, out[0], in[0]));
                                 })[0];
    // A row without kept keys so far has no maximum: it is shifted by zero.
    auto shift = [&](ImplicitLocOpBuilder &b, Value max) -> Value {
      Value none = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, max, f32Constant(b, -INFINITY));
      return arith::SelectOp::create(b, none, f32Constant(b, 0), max);
    };
    Value rescale = buildGeneric(b, {{op.getRowMax(), line}, {tileMax, line}}, {{rowTile(), line}}, 1, {},
                                 [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange) {
                                   Value max = shift(b, arith::MaximumFOp::create(b, in[0], in[1]));
                                   return one(math::ExpOp::create(b, arith::SubFOp::create(b, in[0], max)));
                                 })[0];
    Value max = buildGeneric(b, {{tileMax, line}}, {{op.getRowMax(), line}}, 1, {},
                             [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                               return one(arith::MaximumFOp::create(b, out[0], in[0]));
                             })[0];
    // −0 marks the weight of a pair that is not kept, which no exponential gives.
    Value weights = buildGeneric(
        b, {{max, row}}, {{scores, both}}, 2, {},
        [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
          Value score = out[0];
          Value weight = math::ExpOp::create(b, arith::SubFOp::create(b, score, shift(b, in[0])));
          if (!hasRegions())
            return one(weight);
          Value dropped =
              arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, score, f32Constant(b, -INFINITY));
          return one(arith::SelectOp::create(b, dropped, f32Constant(b, -0.0), weight));
        })[0];
    Value sum = buildGeneric(b, {{rescale, line}}, {{op.getRowSum(), line}}, 1, {},
                             [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                               return one(arith::MulFOp::create(b, out[0], in[0]));
                             })[0];
    sum = buildGeneric(b, {{weights, both}}, {{sum, row}}, 2, {1},
                       [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                         return one(arith::AddFOp::create(b, out[0], in[0]));
                       })[0];
    Value accumulator = buildGeneric(b, {{rescale, row}}, {{op.getAccumulator(), both}}, 2, {},
                                     [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                                       return one(arith::MulFOp::create(b, out[0], in[0]));
                                     })[0];
    auto product = attn::TileMatmulOp::create(b, accumulator.getType(), weights, op.getValue(), ValueRange(),
                                              accumulator, true, hasRegions(), b.getAffineMapArrayAttr({}));
    op.replaceAllUsesWith(ValueRange{product.getResult(), max, sum});
    op.erase();
  }
};

struct LowerOnlineAttention : impl::LowerOnlineAttentionBase<LowerOnlineAttention> {
  void runOnOperation() override {
    FailureOr<Target> target = Target::of(getOperation());
    if (failed(target))
      return signalPassFailure();
    getOperation()->walk([&](attn::OnlineAttentionOp op) { StepLowering(op, target->tuning).run(); });
  }
};

} // namespace
} // namespace heed
