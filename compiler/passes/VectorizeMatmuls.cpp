// Turns a tile matmul into register tiles of vector fused multiply-adds; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "compiler/passes/Vectorize.h"
#include "compiler/target/Target.h"
#include "mlir/IR/IRMapping.h"

namespace heed {
#define GEN_PASS_DEF_VECTORIZEMATMULS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// The width of one accumulator, in columns: that of a panel.
constexpr int64_t width = 16;

struct MatmulVectorizer {
  attn::TileMatmulOp op;
  ImplicitLocOpBuilder b;
  const Target &target;
  VectorType vector;
  Value rows, columns, depth;
  bool panels;

  MatmulVectorizer(attn::TileMatmulOp op, const Target &target)
      : op(op), b(op.getLoc(), op), target(target), vector(VectorType::get(width, b.getF32Type())),
        panels(cast<RankedTensorType>(op.getRhs().getType()).getRank() == 3) {
    Location loc = op.getLoc();
    rows = asValue(b, tensor::getMixedSize(b, loc, op.getInit(), 0));
    columns = asValue(b, tensor::getMixedSize(b, loc, op.getInit(), 1));
    depth = asValue(b, tensor::getMixedSize(b, loc, op.getLhs(), 1));
  }

  void run() {
    Value result;
    if (op.getMasked()) {
      // A weight of zero times a value that is not finite would leak: such tiles take the careful loop.
      auto choice = scf::IfOp::create(b, op.getResult().getType(), isFinite(op.getRhs()), /*withElse=*/true);
      for (bool careful : {false, true}) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(careful ? choice.elseBlock() : choice.thenBlock());
        scf::YieldOp::create(b, buildColumns(careful));
      }
      result = choice.getResult(0);
    } else {
      result = buildColumns(false);
    }
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  }

  /// Whether x·0 sums to zero over all of `tile` [k, n].
  Value isFinite(Value tile) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(vector));
    auto perRow = scf::ForOp::create(
        b, indexConstant(b, 0), depth, indexConstant(b, 1), zero,
        [&](OpBuilder &builder, Location loc, Value k, ValueRange sums) {
          ImplicitLocOpBuilder b(loc, builder);
          auto perBlock = scf::ForOp::create(
              b, indexConstant(b, 0), columns, indexConstant(b, width), sums[0],
              [&](OpBuilder &builder, Location loc, Value n, ValueRange sums) {
                ImplicitLocOpBuilder b(loc, builder);
                Value mask = remainderMask(b, columns, n, width);
                Value x = extendToF32(b, loadVector(b, tile, {k, n}, width, mask));
                scf::YieldOp::create(
                    b, arith::AddFOp::create(b, sums[0], arith::MulFOp::create(b, x, zero)).getResult());
              });
          scf::YieldOp::create(b, perBlock.getResults());
        });
    Value sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, perRow.getResult(0));
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, f32Constant(b, 0));
  }

  /// Loops over blocks of columns: as wide as the target's register tile, then one panel, then what is left
  /// of one.
  Value buildColumns(bool careful) {
    SmallVector<int64_t> widths{target.tuning.matmul.cols / width};
    if (widths[0] > 1)
      widths.push_back(1);
    Value result = op.getInit(), done = indexConstant(b, 0);
    for (int64_t blocks : widths) {
      Value end = wholeSteps(b, done, columns, blocks * width);
      result = loop(done, end, blocks * width, result,
                    [&](Value column, Value tile) { return buildRows(tile, column, blocks, {}, careful); });
      done = end;
    }
    // The rest, less than one panel.
    return loop(done, columns, width, result, [&](Value column, Value tile) {
      return buildRows(tile, column, 1, remainderMask(b, columns, column, width), careful);
    });
  }

  /// Loops over blocks of rows: as high as the register tile, then smaller ones for what is left.
  Value buildRows(Value tile, Value column, int64_t blocks, Value mask, bool careful) {
    int64_t high = target.tuning.matmul.rows;
    SmallVector<int64_t> heights{high};
    for (int64_t height = llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(high - 1, 1))); height >= 1;
         height /= 2)
      if (height < heights.back())
        heights.push_back(height);
    Value done = indexConstant(b, 0);
    for (int64_t height : heights) {
      Value end = wholeSteps(b, done, rows, height);
      tile = loop(done, end, height, tile, [&](Value row, Value tile) {
        return buildRegisterTile(tile, row, height, column, blocks, mask, careful);
      });
      done = end;
    }
    return tile;
  }

  Value loop(Value from, Value to, int64_t step, Value carried, function_ref<Value(Value, Value)> body) {
    return buildLoop(b, from, to, step, carried, [&](Value at, ValueRange carried) {
      return SmallVector<Value>{body(at, carried[0])};
    })[0];
  }

  Value offset(Value base, int64_t by) {
    return by == 0 ? base : b.createOrFold<arith::AddIOp>(base, indexConstant(b, by));
  }

  /// Row k of block `block` of the right-hand side from `column` on.
  Value loadRhs(Value k, Value column, int64_t block, Value mask) {
    if (!panels)
      return extendToF32(b, loadVector(b, op.getRhs(), {k, offset(column, block * width)}, width, mask));
    AffineExpr s0 = b.getAffineSymbolExpr(0);
    Value panel = asValue(b, affine::makeComposedFoldedAffineApply(b, b.getLoc(), s0.floorDiv(width) + block,
                                                                   {getAsOpFoldResult(column)}));
    return extendToF32(b, loadVector(b, op.getRhs(), {panel, k, indexConstant(b, 0)}, width, {}));
  }

  /// `height` rows × `blocks` accumulators, kept in registers over the whole depth.
  Value buildRegisterTile(Value tile, Value row, int64_t height, Value column, int64_t blocks, Value mask,
                          bool careful) {
    SmallVector<Value> sums;
    for (int64_t r = 0; r < height; ++r)
      for (int64_t c = 0; c < blocks; ++c)
        sums.push_back(op.getAccumulate()
                           ? extendToF32(b, loadVector(b, tile, {offset(row, r), offset(column, c * width)},
                                                       width, mask))
                           : arith::ConstantOp::create(b, b.getZeroAttr(vector)).getResult());
    auto inner = scf::ForOp::create(b, indexConstant(b, 0), depth, indexConstant(b, 1), sums);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(inner.getBody());
      Value k = inner.getInductionVar();
      SmallVector<Value> rhs, next;
      for (int64_t c = 0; c < blocks; ++c)
        rhs.push_back(loadRhs(k, column, c, mask));
      for (int64_t r = 0; r < height; ++r) {
        Value element = tensor::ExtractOp::create(b, op.getLhs(), ValueRange{offset(row, r), k});
        Value factor = vector::BroadcastOp::create(b, vector, extendToF32(b, element));
        for (int64_t c = 0; c < blocks; ++c) {
          Value sum = inner.getRegionIterArg(r * blocks + c);
          Value added =
              target.hasFma
                  ? math::FmaOp::create(b, factor, rhs[c], sum).getResult()
                  : arith::AddFOp::create(b, sum, arith::MulFOp::create(b, factor, rhs[c])).getResult();
          next.push_back(careful ? arith::SelectOp::create(b, isNegativeZero(element), sum, added).getResult()
                                 : added);
        }
      }
      scf::YieldOp::create(b, next);
    }
    for (int64_t r = 0; r < height; ++r)
      for (int64_t c = 0; c < blocks; ++c) {
        Value at = offset(column, c * width);
        Value sum = applyEpilogue(inner.getResult(r * blocks + c), offset(row, r), at, mask);
        Type element = getElementTypeOrSelf(op.getInit());
        sum = roundTo(b, sum, element);
        tile = storeVector(b, sum, tile, {offset(row, r), at}, mask);
      }
    return tile;
  }

  Value isNegativeZero(Value x) {
    Value bits = arith::BitcastOp::create(b, b.getI32Type(), extendToF32(b, x));
    Value sign = arith::ConstantOp::create(b, b.getI32IntegerAttr(INT32_MIN));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bits, sign);
  }

  Value applyEpilogue(Value sum, Value row, Value column, Value mask) {
    if (op.getEpilogue().empty())
      return sum;
    Block &block = op.getEpilogue().front();
    LaneMapping lanes(b, width);
    lanes.map(block.getArgument(0), sum);
    for (auto [argument, read, map] : llvm::zip_equal(block.getArguments().drop_front(), op.getReads(),
                                                      op.getReadMaps().getAsValueRange<AffineMapAttr>())) {
      SmallVector<Value> at;
      bool perColumn = false;
      for (AffineExpr expr : map.getResults()) {
        bool isColumn = cast<AffineDimExpr>(expr).getPosition() == 1;
        perColumn |= isColumn;
        at.push_back(isColumn ? column : row);
      }
      lanes.map(argument, perColumn ? loadVector(b, read, at, width, mask)
                                    : tensor::ExtractOp::create(b, read, at).getResult());
    }
    for (Operation &inner : block.without_terminator())
      lanes.clone(&inner);
    return lanes.asVector(lanes.lookup(block.getTerminator()->getOperand(0)));
  }
};

struct VectorizeMatmuls : impl::VectorizeMatmulsBase<VectorizeMatmuls> {
  void runOnOperation() override {
    FailureOr<Target> target = Target::of(getOperation());
    if (failed(target))
      return signalPassFailure();
    getOperation()->walk([&](attn::TileMatmulOp op) { MatmulVectorizer(op, *target).run(); });
  }
};

} // namespace
} // namespace heed
