// Tiles what is left on whole tensors over rows, with what feeds it; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_TILEROWS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Rank-one operations are cut into pieces of this many elements.
constexpr int64_t pieceLength = 1024;

/// linalg.pack as an operation that can be tiled and fused: padding is chosen by a select on a clamped read.
struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::PackOp pack, PatternRewriter &rewriter) const override {
    if (pack.getInnerDimsPos().size() != 1)
      return rewriter.notifyMatchFailure(pack, "expected one packed dimension");
    ImplicitLocOpBuilder b(pack.getLoc(), rewriter);
    auto type = cast<RankedTensorType>(pack.getDest().getType());
    int64_t rank = type.getRank(), packed = pack.getInnerDimsPos()[0];
    SmallVector<int64_t> order(pack.getOuterDimsPerm());
    if (order.empty())
      order = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
    Value width = asValue(b, pack.getMixedTiles()[0]);
    Value size = asValue(b, tensor::getMixedSize(b, pack.getLoc(), pack.getSource(), packed));
    auto generic = buildGeneric(
        b, {}, {{pack.getDest(), b.getMultiDimIdentityMap(rank)}}, rank, {},
        [&](ImplicitLocOpBuilder &b, ValueRange, ValueRange) {
          SmallVector<Value> at(rank - 1);
          Value inside;
          for (auto [i, dim] : llvm::enumerate(order)) {
            at[dim] = linalg::IndexOp::create(b, i);
            if (dim != packed)
              continue;
            Value lane = linalg::IndexOp::create(b, rank - 1);
            Value position = arith::AddIOp::create(b, arith::MulIOp::create(b, at[dim], width), lane);
            inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position, size);
            Value last = arith::SubIOp::create(b, size, indexConstant(b, 1));
            at[dim] = arith::MinUIOp::create(b, position, last);
          }
          Value element = tensor::ExtractOp::create(b, pack.getSource(), at);
          Value padding = pack.getPaddingValue();
          return SmallVector<Value>{padding ? arith::SelectOp::create(b, inside, element, padding).getResult()
                                            : element};
        });
    rewriter.replaceOp(pack, generic);
    return success();
  }
};

/// Whether `op` stands outside of every parallel loop, and has anything to do: MLIR has no slices of tensors
/// whose type says that they are empty.
bool isToBeTiled(Operation *op) {
  auto isEmpty = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && llvm::is_contained(tensor.getShape(), 0);
  };
  return !op->getParentOfType<scf::ForallOp>() && llvm::none_of(op->getOperandTypes(), isEmpty) &&
         llvm::none_of(op->getResultTypes(), isEmpty);
}

struct TileRows : impl::TileRowsBase<TileRows> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerPack>(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();

    // From the last to the first: what feeds a tiled operation alone has joined its loop when its turn would
    // come.
    SmallVector<linalg::LinalgOp> roots;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isToBeTiled(op))
        roots.push_back(op);
    });
    DenseSet<Operation *> gone;
    for (linalg::LinalgOp op : llvm::reverse(roots))
      if (!gone.contains(op) && !isa<linalg::FillOp>(op.getOperation()))
        if (failed(tile(op, gone)))
          return signalPassFailure();
  }

  /// One row at a time along every parallel loop but the innermost; reductions stay whole.
  static SmallVector<OpFoldResult> tileSizes(linalg::LinalgOp op, OpBuilder &builder) {
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    SmallVector<OpFoldResult> sizes(iterators.size(), builder.getIndexAttr(0));
    SmallVector<unsigned> parallel;
    op.getParallelDims(parallel);
    bool reduces = parallel.size() < iterators.size();
    ArrayRef<unsigned> outer(parallel);
    if (!reduces && outer.size() > 1)
      outer = outer.drop_back();
    for (unsigned dim : outer)
      sizes[dim] =
          builder.getIndexAttr(outer.size() == 1 && parallel.size() == 1 && !reduces ? pieceLength : 1);
    return sizes;
  }

  LogicalResult tile(linalg::LinalgOp op, DenseSet<Operation *> &gone) {
    IRRewriter rewriter(&getContext());
    rewriter.setInsertionPoint(op);
    SmallVector<OpFoldResult> sizes = tileSizes(op, rewriter);
    if (llvm::all_of(sizes, isZeroInteger))
      return success();
    scf::SCFTileAndFuseOptions options;
    options.tilingOptions.setTileSizes(sizes).setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
    int64_t tiled = llvm::count_if(sizes, [](OpFoldResult size) { return !isZeroInteger(size); });

    // A producer joins if nothing outside of the loop wants it and no row of it is computed twice.
    DenseSet<Operation *> group{op};
    for (bool grown = true; grown;) {
      grown = false;
      for (Operation *member : SmallVector<Operation *>(group.begin(), group.end()))
        for (Value operand : member->getOperands()) {
          Operation *producer = operand.getDefiningOp();
          if (producer && isa<linalg::LinalgOp>(producer) && isToBeTiled(producer) &&
              !group.contains(producer) &&
              llvm::all_of(producer->getUsers(), [&](Operation *user) { return group.contains(user); }) &&
              hasRowsOf(op, cast<linalg::LinalgOp>(producer), tiled)) {
            group.insert(producer);
            grown = true;
          }
        }
    }
    options.setFusionControlFn([&](tensor::ExtractSliceOp, OpResult producer,
                                   bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
      if (!group.contains(producer.getOwner()))
        return std::nullopt;
      return scf::SCFTileAndFuseOptions::ControlFnResult{};
    });
    auto result = scf::tileConsumerAndFuseProducersUsingSCF(
        rewriter, cast<TilingInterface>(op.getOperation()), options);
    if (failed(result))
      return op->emitError("expected an operation that can be tiled over rows");
    for (auto [value, replacement] : result->replacements)
      rewriter.replaceAllUsesWith(value, replacement);
    gone.insert(group.begin(), group.end());
    rewriter.eraseOp(op);
    return success();
  }

  /// Whether every tiled row of `root` needs its own row of `producer`: as many leading parallel dimensions.
  static bool hasRowsOf(linalg::LinalgOp root, linalg::LinalgOp producer, int64_t tiled) {
    if (isa<linalg::FillOp>(producer.getOperation()))
      return true;
    SmallVector<unsigned> parallel;
    producer.getParallelDims(parallel);
    if (static_cast<int64_t>(parallel.size()) < tiled)
      return false;
    auto extents = [](linalg::LinalgOp op) {
      return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
    };
    return llvm::equal(extents(root).take_front(tiled), extents(producer).take_front(tiled)) &&
           llvm::all_of(llvm::seq<int64_t>(0, tiled), [&](int64_t dim) {
             return producer.getIteratorTypesArray()[dim] == utils::IteratorType::parallel;
           });
  }
};

} // namespace
} // namespace heed
