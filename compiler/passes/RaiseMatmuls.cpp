// Turns contractions of linalg into attn.matmul; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_RAISEMATMULS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Whether the tensor is zero throughout.
bool isZero(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  return matchPattern(tensor, m_AnyZeroFloat());
}

struct RaiseContraction : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !linalg::isaContractionOpInterface(op))
      return rewriter.notifyMatchFailure(op, "not a sum of products");
    FailureOr<linalg::ContractionDimensions> found = linalg::inferContractionDims(op);
    if (failed(found) || found->m.size() != 1 || found->n.size() != 1 || found->k.size() != 1 ||
        found->batch.size() > 2)
      return rewriter.notifyMatchFailure(
          op, "expected one row, one column, one inner and at most two batch loops");
    OpOperand *lhs = op.getDpsInputOperand(0), *rhs = op.getDpsInputOperand(1),
              *init = op.getDpsInitOperand(0);
    for (OpOperand *operand : {lhs, rhs, init})
      if (!isa<FloatType>(getElementTypeOrSelf(operand->get())) ||
          !op.getMatchingIndexingMap(operand).isProjectedPermutation())
        return rewriter.notifyMatchFailure(op, "expected floats whose coordinates are loops");
    if (getElementTypeOrSelf(lhs->get()) != getElementTypeOrSelf(rhs->get()))
      return rewriter.notifyMatchFailure(op, "expected operands of one element type");
    if (!isZero(init->get()))
      return rewriter.notifyMatchFailure(op, "expected a sum that starts from zero");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    unsigned m = found->m[0], n = found->n[0], k = found->k[0];
    SmallVector<unsigned> batch(found->batch.begin(), found->batch.end());
    llvm::sort(batch);
    auto loops = [&](unsigned row, unsigned column) {
      SmallVector<unsigned> order(batch);
      order.append({row, column});
      return order;
    };
    Value left = inOrder(b, lhs->get(), op.getMatchingIndexingMap(lhs), loops(m, k));
    // A right-hand side that lies transposed is read so.
    AffineMap rightMap = op.getMatchingIndexingMap(rhs);
    bool transposed = positionOf(rightMap, n) < positionOf(rightMap, k);
    Value right = inOrder(b, rhs->get(), rightMap, transposed ? loops(n, k) : loops(k, n));
    auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
    SmallVector<int64_t> shape(shapeOf(left).drop_back());
    shape.push_back(shapeOf(right)[shape.size() - (transposed ? 1 : 0)]);
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(init->get()));
    Value product = attn::MatmulOp::create(b, type, left, right, transposed);
    Value result = fromOrder(b, product, op.getMatchingIndexingMap(init), loops(m, n));
    if (result.getType() != op->getResult(0).getType())
      result = tensor::CastOp::create(b, op->getResult(0).getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }

  static int64_t positionOf(AffineMap map, unsigned loop) {
    return *map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
  }

  static Value transpose(ImplicitLocOpBuilder &b, Value tensor, ArrayRef<int64_t> permutation) {
    if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
      return tensor;
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), tensor);
    applyPermutationToVector(sizes, permutation);
    Value empty = tensor::EmptyOp::create(b, sizes, getElementTypeOrSelf(tensor));
    return linalg::TransposeOp::create(b, tensor, empty, permutation)->getResult(0);
  }

  /// The tensor with its dimensions in the order of `loops`.
  static Value inOrder(ImplicitLocOpBuilder &b, Value tensor, AffineMap map, ArrayRef<unsigned> loops) {
    SmallVector<int64_t> permutation;
    for (unsigned loop : loops)
      permutation.push_back(positionOf(map, loop));
    return transpose(b, tensor, permutation);
  }

  /// And back.
  static Value fromOrder(ImplicitLocOpBuilder &b, Value tensor, AffineMap map, ArrayRef<unsigned> loops) {
    SmallVector<int64_t> permutation;
    for (AffineExpr expr : map.getResults())
      permutation.push_back(llvm::find(loops, cast<AffineDimExpr>(expr).getPosition()) - loops.begin());
    return transpose(b, tensor, permutation);
  }
};

struct RaiseMatmuls : impl::RaiseMatmulsBase<RaiseMatmuls> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseContraction>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace heed
