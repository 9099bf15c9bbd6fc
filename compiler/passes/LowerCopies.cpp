// Turns copies of buffers into element loops, which need no library; see Passes.td.
#include "compiler/passes/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_LOWERCOPIES
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

struct LowerCopies : impl::LowerCopiesBase<LowerCopies> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerCopy>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace heed
