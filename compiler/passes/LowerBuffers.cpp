// Turns copies and reshapes of buffers into loops and casts; see Passes.td.
#include "compiler/passes/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_LOWERBUFFERS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct LowerCopy : OpRewritePattern<memref::CopyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::CopyOp copy, PatternRewriter &rewriter) const override {
    int64_t rank = cast<MemRefType>(copy.getTarget().getType()).getRank();
    AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        copy, copy.getSource(), copy.getTarget(), ArrayRef<AffineMap>{identity, identity},
        SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [](OpBuilder &b, Location loc, ValueRange elements) {
          linalg::YieldOp::create(b, loc, elements[0]);
        });
    return success();
  }
};

/// A group of several dynamic dimensions, which upstream's expansion of strided metadata cannot take apart.
struct LowerExpandShape : OpRewritePattern<memref::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::ExpandShapeOp expand, PatternRewriter &rewriter) const override {
    auto type = cast<MemRefType>(expand.getType());
    if (!type.getLayout().isIdentity())
      return rewriter.notifyMatchFailure(expand, "expected a dense buffer");
    SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape(), strides(sizes.size());
    OpFoldResult stride = rewriter.getIndexAttr(1);
    AffineExpr product = rewriter.getAffineSymbolExpr(0) * rewriter.getAffineSymbolExpr(1);
    for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
      strides[dim] = stride;
      stride =
          affine::makeComposedFoldedAffineApply(rewriter, expand.getLoc(), product, {stride, sizes[dim]});
    }
    // Nothing later reads sizes off a reinterpreting cast.
    for (Operation *user : llvm::make_early_inc_range(expand->getUsers()))
      if (auto dim = dyn_cast<memref::DimOp>(user))
        if (std::optional<int64_t> number = dim.getConstantIndex()) {
          rewriter.setInsertionPoint(dim);
          rewriter.replaceOp(dim, getValueOrCreateConstantIndexOp(rewriter, dim.getLoc(), sizes[*number]));
        }
    rewriter.setInsertionPoint(expand);
    auto cast = memref::ReinterpretCastOp::create(rewriter, expand.getLoc(), expand.getSrc(),
                                                  rewriter.getIndexAttr(0), sizes, strides);
    rewriter.replaceOpWithNewOp<memref::CastOp>(expand, type, cast);
    return success();
  }
};

struct LowerBuffers : impl::LowerBuffersBase<LowerBuffers> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerCopy, LowerExpandShape>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace heed
