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

/// Whether what the operation does to an element depends on where it is, as a score.
bool needsCoordinates(Operation *op) { return isa<attn::MaskOp, attn::AlibiOp, attn::RelativeBiasOp>(op); }

/// Whether all are f32 tensors of one shape.
bool isOfOneType(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && type.getElementType().isF32() &&
         llvm::all_of(op->getOperandTypes(), [&](Type operand) { return operand == type; });
}

struct FuseScoreOp : OpInterfaceRewritePattern<attn::ScoreOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(attn::ScoreOpInterface op, PatternRewriter &rewriter) const override {
    attn::LinearOp linear = getOnlyUsedLayer(op.getScoreOperand());
    if (!linear)
      return rewriter.notifyMatchFailure(op, "operand is not a linear layer used only here");
    if (needsCoordinates(op))
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
    if (!isOfOneType(op))
      return rewriter.notifyMatchFailure(op, "expected f32 tensors of one shape");
    attn::LinearOp linear;
    for (Value operand : op->getOperands())
      if ((linear = getOnlyUsedLayer(operand)))
        break;
    if (!linear)
      return rewriter.notifyMatchFailure(op, "no operand is a linear layer used only here");
    EpilogueBuilder epilogue(linear, rewriter);
    AffineMap identity =
        rewriter.getMultiDimIdentityMap(cast<RankedTensorType>(op->getResult(0).getType()).getRank());
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(operand == linear.getResult() ? epilogue.sum : epilogue.read(operand, identity));
    Operation *scalar = rewriter.create(op->getLoc(), op->getName().getIdentifier(), operands,
                                        {rewriter.getF32Type()}, op->getAttrs());
    epilogue.finish(scalar->getResult(0), op);
    return success();
  }
};

/// Says of an operation that could have joined a layer why it did not.
void remark(Operation *op) {
  auto score = dyn_cast<attn::ScoreOpInterface>(op);
  if (!score && !(OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1))
    return;
  SmallVector<Value> operands(op->getOperands());
  if (score)
    operands = {score.getScoreOperand()};
  attn::LinearOp linear;
  for (Value operand : operands)
    if (auto layer = operand.getDefiningOp<attn::LinearOp>())
      linear = layer;
  if (!linear)
    return;
  InFlightDiagnostic diagnostic = op->emitRemark();
  if (needsCoordinates(op))
    diagnostic << "[epilogue-needs-coordinates] not fused: expected a change that is the same for all "
                  "elements of a layer";
  else if (!score && !isOfOneType(op))
    diagnostic << "[epilogue-of-other-types] not fused: expected f32 tensors of one shape";
  else
    diagnostic << "[epilogue-of-shared-layer] not fused: expected a layer used only here, but it has "
               << std::distance(linear->use_begin(), linear->use_end()) << " uses";
  diagnostic.attachNote(linear.getLoc()) << "attn.linear is here";
}

struct FuseEpilogues : impl::FuseEpiloguesBase<FuseEpilogues> {
  using FuseEpiloguesBase::FuseEpiloguesBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseScoreOp, FuseElementwise>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    if (remarks)
      getOperation()->walk(remark);
  }
};

} // namespace
} // namespace heed
