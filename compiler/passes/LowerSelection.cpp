// Lowers argmax and top-k to reductions; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heed {
#define GEN_PASS_DEF_LOWERSELECTION
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Whether (x, i) comes before (y, j) in falling order: NaN first, then larger, then lower index.
Value comesBefore(ImplicitLocOpBuilder &b, Value x, Value i, Value y, Value j) {
  auto isNaN = [&](Value v) -> Value { return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, v, v); };
  auto both = [&](Value p, Value q) -> Value { return arith::AndIOp::create(b, p, q); };
  auto either = [&](Value p, Value q) -> Value { return arith::OrIOp::create(b, p, q); };
  Value truth = arith::ConstantIntOp::create(b, 1, 1);
  Value xNaN = isNaN(x), yNaN = isNaN(y);
  Value greater = either(arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y),
                         both(xNaN, arith::XOrIOp::create(b, yNaN, truth)));
  Value equal = either(arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, y), both(xNaN, yNaN));
  return either(greater, both(equal, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, i, j)));
}

/// The first element of each row in falling order among those that come after (`value`, `index`), if given.
/// `value`, `index`: one per row. Returns values in f32 and indices in i64; −inf and the row's size when none
/// is left.
std::pair<Value, Value> selectNext(const TensorLoops &loops, Value input, Value value, Value index) {
  ImplicitLocOpBuilder &b = loops.b;
  int64_t axis = loops.rank() - 1;
  SmallVector<GenericInput> inputs{{input, loops.identity}};
  if (value)
    inputs.append({{value, loops.without(axis)}, {index, loops.without(axis)}});
  Value none = arith::IndexCastOp::create(b, b.getI64Type(), loops.size(axis));
  Value values = filledTensor(b, loops.sizesWithout(axis), f32Constant(b, -INFINITY));
  Value indices = filledTensor(b, loops.sizesWithout(axis), none);
  SmallVector<Value> best =
      buildGeneric(b, inputs, {{values, loops.without(axis)}, {indices, loops.without(axis)}}, loops.rank(),
                   {axis}, [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                     Value here =
                         arith::IndexCastOp::create(b, b.getI64Type(), linalg::IndexOp::create(b, axis));
                     Value better = comesBefore(b, in[0], here, out[0], out[1]);
                     if (value)
                       better = arith::AndIOp::create(b, better, comesBefore(b, in[1], in[2], in[0], here));
                     return SmallVector<Value>{arith::SelectOp::create(b, better, in[0], out[0]),
                                               arith::SelectOp::create(b, better, here, out[1])};
                   });
  return {best[0], best[1]};
}

struct LowerArgmax : OpRewritePattern<attn::ArgmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::ArgmaxOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value indices = selectNext(TensorLoops(b, op.getInput()), op.getInput(), {}, {}).second;
    if (indices.getType() != op.getType())
      indices = tensor::CastOp::create(b, op.getType(), indices);
    rewriter.replaceOp(op, indices);
    return success();
  }
};

/// One pass over the row per element chosen.
struct LowerTopK : OpRewritePattern<attn::TopKOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(attn::TopKOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    TensorLoops loops(b, op.getInput());
    int64_t rank = loops.rank();
    SmallVector<OpFoldResult> sizes = loops.sizesWithout(rank - 1), slice(sizes);
    sizes.push_back(b.getIndexAttr(op.getK()));
    slice.push_back(b.getIndexAttr(1));
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), strides(rank, b.getIndexAttr(1));
    Value values = tensor::EmptyOp::create(b, sizes, b.getF32Type());
    Value indices = tensor::EmptyOp::create(b, sizes, b.getI64Type());
    auto insert = [&](std::pair<Value, Value> chosen, OpFoldResult at, Value values, Value indices) {
      offsets.back() = at;
      return SmallVector<Value>{
          tensor::InsertSliceOp::create(b, chosen.first, values, offsets, slice, strides),
          tensor::InsertSliceOp::create(b, chosen.second, indices, offsets, slice, strides)};
    };
    std::pair<Value, Value> first = selectNext(loops, op.getInput(), {}, {});
    SmallVector<Value> carried = insert(first, b.getIndexAttr(0), values, indices);
    carried.append({first.first, first.second});
    auto loop =
        scf::ForOp::create(b, indexConstant(b, 1), indexConstant(b, op.getK()), indexConstant(b, 1), carried);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      ValueRange now = loop.getRegionIterArgs();
      std::pair<Value, Value> next = selectNext(loops, op.getInput(), now[2], now[3]);
      SmallVector<Value> yielded = insert(next, loop.getInductionVar(), now[0], now[1]);
      // Into the buffers that came in: what was chosen before is no longer needed.
      yielded.append({linalg::CopyOp::create(b, next.first, now[2]).getResult(0),
                      linalg::CopyOp::create(b, next.second, now[3]).getResult(0)});
      scf::YieldOp::create(b, yielded);
    }
    Value resultValues = loop.getResult(0);
    if (!loops.type.getElementType().isF32())
      resultValues = arith::TruncFOp::create(
          b, cast<RankedTensorType>(resultValues.getType()).clone(loops.type.getElementType()), resultValues);
    auto castTo = [&](Value value, Type type) -> Value {
      return value.getType() == type ? value : tensor::CastOp::create(b, type, value).getResult();
    };
    rewriter.replaceOp(op, {castTo(resultValues, op.getValues().getType()),
                            castTo(loop.getResult(1), op.getIndices().getType())});
    return success();
  }
};

struct LowerSelection : impl::LowerSelectionBase<LowerSelection> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerArgmax, LowerTopK>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace heed
