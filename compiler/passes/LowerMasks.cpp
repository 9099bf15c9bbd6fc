// Lowers named masks to comparisons; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_LOWERMASKS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

Value compare(ImplicitLocOpBuilder &b, arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, predicate, x, y);
}

Value lower(ImplicitLocOpBuilder &b, attn::CausalOp op) {
  Value last = op.getQuery();
  if (op.getAlignment() == attn::Alignment::BottomRight) {
    Value shift = arith::SubIOp::create(b, op.getLengths()[1], op.getLengths()[0]);
    last = arith::AddIOp::create(b, last, shift);
  }
  return compare(b, arith::CmpIPredicate::sle, op.getKey(), last);
}

/// Distances are compared, not positions: an unbounded side may be the largest integer.
Value lower(ImplicitLocOpBuilder &b, attn::WindowOp op) {
  Value behind = arith::SubIOp::create(b, op.getQuery(), op.getKey());
  Value ahead = arith::SubIOp::create(b, op.getKey(), op.getQuery());
  return arith::AndIOp::create(
      b, compare(b, arith::CmpIPredicate::sle, behind, indexConstant(b, op.getBefore())),
      compare(b, arith::CmpIPredicate::sle, ahead, indexConstant(b, op.getAfter())));
}

Value lower(ImplicitLocOpBuilder &b, attn::PrefixOp op) {
  return compare(b, arith::CmpIPredicate::slt, op.getKey(), op.getLength());
}

Value lower(ImplicitLocOpBuilder &b, attn::ChunkOp op) {
  Value width = indexConstant(b, op.getWidth());
  return compare(b, arith::CmpIPredicate::eq, arith::FloorDivSIOp::create(b, op.getQuery(), width),
                 arith::FloorDivSIOp::create(b, op.getKey(), width));
}

Value lower(ImplicitLocOpBuilder &b, attn::DilatedOp op) {
  Value distance = arith::SubIOp::create(b, op.getQuery(), op.getKey());
  Value rest = arith::RemSIOp::create(b, distance, indexConstant(b, op.getStep()));
  return compare(b, arith::CmpIPredicate::eq, rest, indexConstant(b, 0));
}

Value lower(ImplicitLocOpBuilder &b, attn::SameDocumentOp op) {
  return compare(b, arith::CmpIPredicate::eq, op.getQueryId(), op.getKeyId());
}

template <typename Op> struct LowerMask : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, lower(b, op));
    return success();
  }
};

struct LowerMasks : impl::LowerMasksBase<LowerMasks> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerMask<attn::CausalOp>, LowerMask<attn::WindowOp>, LowerMask<attn::PrefixOp>,
                 LowerMask<attn::ChunkOp>, LowerMask<attn::DilatedOp>, LowerMask<attn::SameDocumentOp>>(
        &getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace heed
