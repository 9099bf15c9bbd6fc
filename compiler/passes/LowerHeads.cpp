// Lowers head splits, head merges and cache updates to moves of data; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_LOWERHEADS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// A permutation that swaps the third and the second last dimension.
SmallVector<int64_t> swapHeadsAndPositions(int64_t rank) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(permutation[rank - 3], permutation[rank - 2]);
  return permutation;
}

Value transpose(ImplicitLocOpBuilder &b, Value input, ArrayRef<int64_t> permutation) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), input), permuted;
  for (int64_t dim : permutation)
    permuted.push_back(sizes[dim]);
  Value empty = tensor::EmptyOp::create(b, permuted, getElementTypeOrSelf(input));
  return linalg::TransposeOp::create(b, input, empty, permutation)->getResult(0);
}

SmallVector<ReassociationIndices> lastTwoTogether(int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    groups.push_back({dim});
  groups.push_back({rank - 2, rank - 1});
  return groups;
}

struct LowerSplitHeads : OpRewritePattern<attn::SplitHeadsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::SplitHeadsOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), op.getInput());
    int64_t heads = op.getHeads(), rank = sizes.size();
    Value width = getValueOrCreateConstantIndexOp(b, op.getLoc(), sizes.back());
    sizes.back() = b.getIndexAttr(heads);
    sizes.push_back(b.createOrFold<arith::DivUIOp>(width, indexConstant(b, heads)));
    SmallVector<int64_t> shape(cast<RankedTensorType>(op.getInput().getType()).getShape());
    int64_t last = shape.pop_back_val();
    shape.append({heads, ShapedType::isDynamic(last) ? last : last / heads});
    if (!ShapedType::isDynamic(last))
      sizes.back() = b.getIndexAttr(last / heads);
    auto split = RankedTensorType::get(shape, getElementTypeOrSelf(op.getInput()));
    Value expanded = tensor::ExpandShapeOp::create(b, split, op.getInput(), lastTwoTogether(rank + 1), sizes);
    Value result = transpose(b, expanded, swapHeadsAndPositions(rank + 1));
    if (result.getType() != op.getType())
      result = tensor::CastOp::create(b, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerMergeHeads : OpRewritePattern<attn::MergeHeadsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::MergeHeadsOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t rank = cast<RankedTensorType>(op.getInput().getType()).getRank();
    Value swapped = transpose(b, op.getInput(), swapHeadsAndPositions(rank));
    Value result = tensor::CollapseShapeOp::create(b, swapped, lastTwoTogether(rank));
    if (result.getType() != op.getType())
      result = tensor::CastOp::create(b, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerCacheUpdate : OpRewritePattern<attn::CacheUpdateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::CacheUpdateOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), op.getEntries());
    int64_t rank = sizes.size(), axis = op.getAxis();
    if (axis < 0)
      axis += rank;
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), strides(rank, b.getIndexAttr(1));
    if (op.getPosition().getType().isIndex()) {
      offsets[axis] = op.getPosition();
      rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, op.getEntries(), op.getCache(), offsets, sizes,
                                                         strides);
      return success();
    }
    Value batches = getValueOrCreateConstantIndexOp(b, op.getLoc(), sizes[0]);
    auto loop = scf::ForOp::create(b, indexConstant(b, 0), batches, indexConstant(b, 1), op.getCache());
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<OpFoldResult> source(rank, b.getIndexAttr(0));
    source[0] = offsets[0] = loop.getInductionVar();
    sizes[0] = b.getIndexAttr(1);
    Value entry = tensor::ExtractSliceOp::create(b, op.getEntries(), source, sizes, strides);
    offsets[axis] = positionOf(b, op.getPosition(), loop.getInductionVar());
    Value next = tensor::InsertSliceOp::create(b, entry, loop.getRegionIterArg(0), offsets, sizes, strides);
    scf::YieldOp::create(b, next);
    rewriter.replaceOp(op, loop.getResults());
    return success();
  }
};

struct LowerHeads : impl::LowerHeadsBase<LowerHeads> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerSplitHeads, LowerMergeHeads, LowerCacheUpdate>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace heed
