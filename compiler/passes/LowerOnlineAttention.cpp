// Lowers a step of online attention to two tile matmuls and the softmax between them; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/LetteredSlices.h"
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
  const Target &target;
  const Tuning &tuning;
  OpFoldResult rows, columns;

  StepLowering(attn::OnlineAttentionOp op, const Target &target)
      : op(op), b(op.getLoc(), op), target(target), tuning(target.tuning),
        rows(tensor::getMixedSize(b, op.getLoc(), op.getQuery(), 0)),
        columns(tensor::getMixedSize(b, op.getLoc(), op.getValue(), 0)) {}

  bool hasRegions() { return !op.getScore().empty() || !op.getKeep().empty(); }

  Value firstColumns(Value scores, OpFoldResult columns) {
    SmallVector<OpFoldResult> origin(2, b.getIndexAttr(0));
    return sliceWithout(b, scores, origin, {rows, columns}, {false, false});
  }

  /// A tile of scores, its size bounded statically.
  Value scoresTile(OpFoldResult columns) {
    SmallVector<int64_t> most{getUpperBound(rows).value_or(tuning.queries),
                              getUpperBound(columns).value_or(tuning.keys)};
    most[1] = llvm::alignTo(most[1], panelWidth);
    Value empty = tensor::EmptyOp::create(b, most, b.getF32Type());
    return firstColumns(empty, columns);
  }

  /// scale · query · keyᵀ.
  Value buildProducts() {
    double scale = op.getScale().convertToDouble();
    auto scaled = [&](ImplicitLocOpBuilder &b, Value product) -> Value {
      return scale == 1 ? product : arith::MulFOp::create(b, product, f32Constant(b, scale)).getResult();
    };
    if (cast<RankedTensorType>(op.getKey().getType()).getRank() == 2) {
      Value products = buildDotProducts();
      AffineMap both = b.getMultiDimIdentityMap(2);
      return scale == 1 ? products
                        : buildGeneric(b, {}, {{products, both}}, 2, {},
                                       [&](ImplicitLocOpBuilder &b, ValueRange, ValueRange out) {
                                         return SmallVector<Value>{scaled(b, out[0])};
                                       })[0];
    }
    // The last panel is multiplied whole, whatever pads it: its columns need no code of their own.
    OpFoldResult padded = times(b, tensor::getMixedSize(b, op.getLoc(), op.getKey(), 0), panelWidth);
    auto products = attn::TileMatmulOp::create(b, op.getQuery(), op.getKey(), scoresTile(padded),
                                               /*accumulate=*/false, /*masked=*/false, /*asks=*/{},
                                               /*ahead=*/op.getValue());
    if (scale != 1) {
      OpBuilder::InsertionGuard guard(b);
      Operation *yield = products.getEpilogue().front().getTerminator();
      b.setInsertionPoint(yield);
      yield->setOperand(0, scaled(b, yield->getOperand(0)));
    }
    return padded == columns ? products.getResult() : firstColumns(products.getResult(), columns);
  }

  /// query · keyᵀ of keys that lie row after row, each read once: for a few queries.
  Value buildDotProducts() {
    Value zeros = linalg::FillOp::create(b, f32Constant(b, 0), scoresTile(columns)).getResult(0);
    AffineMap all = b.getMultiDimIdentityMap(3);
    return buildGeneric(b, {{op.getQuery(), all.getSubMap({1, 2})}, {op.getKey(), all.getSubMap({0, 2})}},
                        {{zeros, all.getSubMap({1, 0})}}, 3, {2},
                        [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                          auto fused = arith::FastMathFlags::contract;
                          Value product = arith::MulFOp::create(b, in[0], in[1], fused);
                          return SmallVector<Value>{arith::AddFOp::create(b, out[0], product, fused)};
                        })[0];
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

  /// The score and keep regions.
  Value changeScores(Value scores) {
    if (!op.getAsks())
      return applyRegions(scores, /*keep=*/true);
    auto unasked = [&] { return op.getScore().empty() ? scores : applyRegions(scores, /*keep=*/false); };
    return buildIf(
        b, op.getAsks(), scores.getType(), [&] { return SmallVector{applyRegions(scores, /*keep=*/true)}; },
        [&] { return SmallVector{unasked()}; })[0];
  }

  /// The regions, element by element: −inf marks a pair that is not kept.
  Value applyRegions(Value scores, bool keep) {
    // Elements reach the regions in their own type, sliced to the tile; a tensor read whole is used as it is.
    SmallVector<Value> ins{scores};
    AffineMap both = b.getMultiDimIdentityMap(2);
    SmallVector<AffineMap> maps{both};
    auto origin = op.getOrigin();
    OpFoldResult one = b.getIndexAttr(1);
    std::pair<OpFoldResult, OpFoldResult> ranges[] = {
        {origin[0], one}, {origin[1], one}, {origin[2], rows}, {origin[3], columns}};
    SmallVector<std::pair<int64_t, Value>> sources; // position among the inputs, or a value from outside
    for (auto [read, map] :
         llvm::zip_equal(op.getReads(), op.getReadMaps().getAsValueRange<AffineMapAttr>())) {
      if (isa<RankedTensorType>(regionArgumentType(sources.size()))) {
        sources.push_back({-1, read});
        continue;
      }
      sources.push_back({static_cast<int64_t>(ins.size()), {}});
      auto [tile, tileMap] = sliceRead(b, read, map, ranges);
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
                                       if (keep && !op.getKeep().empty()) {
                                         Value keep = inlineRegion(b, op.getKeep(), {}, elements);
                                         score = arith::SelectOp::create(b, keep, score,
                                                                         f32Constant(b, -INFINITY));
                                       }
                                       linalg::YieldOp::create(b, score);
                                     })
        .getResult(0);
  }

  Type regionArgumentType(size_t read) {
    if (!op.getScore().empty())
      return op.getScore().getArgument(7 + read).getType();
    return op.getKeep().getArgument(6 + read).getType();
  }

  void run() {
    Value scores = buildProducts();
    if (hasRegions())
      scores = changeScores(scores);
    auto softmax = attn::TileSoftmaxOp::create(b,
                                               TypeRange{scores.getType(), op.getAccumulator().getType(),
                                                         op.getRowMax().getType(), op.getRowSum().getType()},
                                               scores, op.getAccumulator(), op.getRowMax(), op.getRowSum(),
                                               op.getBase2(), hasRegions());
    auto [weights, accumulator, rowMax, rowSum] =
        std::tuple(softmax.getResult(0), softmax.getResult(1), softmax.getResult(2), softmax.getResult(3));
    auto product = attn::TileMatmulOp::create(b, weights, op.getValue(), accumulator, /*accumulate=*/true,
                                              /*masked=*/hasRegions(), op.getAsks(), op.getAhead());
    op.replaceAllUsesWith(ValueRange{product.getResult(), rowMax, rowSum});
    op.erase();
  }
};

struct LowerOnlineAttention : impl::LowerOnlineAttentionBase<LowerOnlineAttention> {
  void runOnOperation() override {
    FailureOr<Target> target = Target::of(getOperation());
    if (failed(target))
      return signalPassFailure();
    getOperation()->walk([&](attn::OnlineAttentionOp op) { StepLowering(op, *target).run(); });
  }
};

} // namespace
} // namespace heed
