// Moves what follows a linear layer element by element into its epilogue; see Passes.td.
#include "compiler/passes/Passes.h"

#include "dialect/Attn.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Starts from the layer's epilogue, or from one that adds nothing to the sum, and appends to it.
struct EpilogueBuilder {
  attn::LinearOp linear;
  PatternRewriter &rewriter;
  Block *block;
  Value sum;
  SmallVector<Value> reads;
  SmallVector<Attribute> maps;

  EpilogueBuilder(attn::LinearOp linear, PatternRewriter &rewriter)
      : linear(linear), rewriter(rewriter), reads(linear.getReads()),
        maps(linear.getReadMaps().begin(), linear.getReadMaps().end()) {
    Region &region = linear.getEpilogue();
    if (region.empty()) {
      block = rewriter.createBlock(&region, region.end(), {rewriter.getF32Type()}, {linear.getLoc()});
      sum = block->getArgument(0);
    } else {
      block = &region.front();
      sum = block->getTerminator()->getOperand(0);
      rewriter.eraseOp(block->getTerminator());
    }
    rewriter.setInsertionPointToEnd(block);
  }

  /// The element of `tensor` at the coordinate that `map` gives, floats in f32.
  Value read(Value tensor, AffineMap map) {
    Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
    reads.push_back(tensor);
    maps.push_back(AffineMapAttr::get(map));
    Value element = block->addArgument(type, tensor.getLoc());
    return isa<FloatType>(type) && !type.isF32()
               ? arith::ExtFOp::create(rewriter, tensor.getLoc(), rewriter.getF32Type(), element)
               : element;
  }

  /// Ends the epilogue and rebuilds the layer in place of `consumer`, whose result it now computes.
  void finish(Value result, Operation *consumer) {
    attn::YieldOp::create(rewriter, consumer->getLoc(), result);
    rewriter.setInsertionPoint(consumer);
    auto fused =
        attn::LinearOp::create(rewriter, linear.getLoc(), consumer->getResult(0).getType(), linear.getInput(),
                               linear.getWeight(), linear.getBias(), reads, rewriter.getArrayAttr(maps));
    rewriter.inlineRegionBefore(linear.getEpilogue(), fused.getEpilogue(), fused.getEpilogue().end());
    rewriter.replaceOp(consumer, fused);
    rewriter.eraseOp(linear);
  }
};

/// The layer that computes `value` for this one use.
attn::LinearOp getOnlyUsedLayer(Value value) {
  auto linear = value.getDefiningOp<attn::LinearOp>();
  return linear && linear->hasOneUse() ? linear : nullptr;
}

struct FuseScoreOp : OpInterfaceRewritePattern<attn::ScoreOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(attn::ScoreOpInterface op, PatternRewriter &rewriter) const override {
    attn::LinearOp linear = getOnlyUsedLayer(op.getScoreOperand());
    if (!linear)
      return rewriter.notifyMatchFailure(op, "operand is not a linear layer used only here");
    if (isa<attn::MaskOp, attn::AlibiOp, attn::RelativeBiasOp>(op))
      return rewriter.notifyMatchFailure(op, "depends on the coordinates of a score");
    EpilogueBuilder epilogue(linear, rewriter);
    SmallVector<Value> reads;
    for (attn::ScoreRead read : op.getScoreReads())
      reads.push_back(epilogue.read(read.tensor, read.map));
    epilogue.finish(op.buildChange(rewriter, op.getLoc(), epilogue.sum, {}, reads), op);
    return success();
  }
};

/// An upstream operation on whole tensors that acts element by element, such as the addition of a residual.
struct FuseElementwise : RewritePattern {
  FuseElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
      return failure();
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.getElementType().isF32() ||
        llvm::any_of(op->getOperandTypes(), [&](Type operand) { return operand != type; }))
      return rewriter.notifyMatchFailure(op, "expected f32 tensors of one shape");
    attn::LinearOp linear;
    for (Value operand : op->getOperands())
      if ((linear = getOnlyUsedLayer(operand)))
        break;
    if (!linear)
      return rewriter.notifyMatchFailure(op, "no operand is a linear layer used only here");
    EpilogueBuilder epilogue(linear, rewriter);
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(operand == linear.getResult() ? epilogue.sum : epilogue.read(operand, identity));
    Operation *scalar = rewriter.create(op->getLoc(), op->getName().getIdentifier(), operands,
                                        {rewriter.getF32Type()}, op->getAttrs());
    epilogue.finish(scalar->getResult(0), op);
    return success();
  }
};

struct FuseEpilogues : impl::FuseEpiloguesBase<FuseEpilogues> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseScoreOp, FuseElementwise>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace heed
