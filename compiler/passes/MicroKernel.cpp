#include "compiler/passes/MicroKernel.h"

#include "compiler/passes/Vectorize.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heed;

/// Steps along the depth for each line of the next panels that is brought into the cache meanwhile. All of
/// them have come after as many blocks of rows.
static constexpr int64_t stepsPerLine = 8;

/// Steps in a turn of a loop that fetches nothing ahead: multiplying at the peak leaves a processor room for
/// little else, and less where two threads share it.
static constexpr int64_t stepsAtOnce = 4;

/// How many lines ahead of their use lines are fetched onward: eight kilobytes, two of the pages at whose
/// ends the processor stops foreseeing.
static constexpr int64_t linesOnward = 128;

static Value offset(ImplicitLocOpBuilder &b, Value base, int64_t by) {
  return by == 0 ? base : b.createOrFold<arith::AddIOp>(base, indexConstant(b, by));
}

/// An affine expression of symbols, folded where they are constants.
static Value apply(ImplicitLocOpBuilder &b, AffineExpr expr, ArrayRef<OpFoldResult> symbols) {
  return asValue(b, affine::makeComposedFoldedAffineApply(b, b.getLoc(), expr, symbols));
}

MicroKernel::MicroKernel(ImplicitLocOpBuilder &b, attn::TileMatmulOp op, const Target &target)
    : b(b), op(op), target(target), vector(VectorType::get(width, b.getF32Type())),
      depth(sizeOf(b, op.getLhs(), 1)), hasPanels(op.getRhs().getType().getRank() == 3) {
  auto slice = op.getRhs().getDefiningOp<memref::SubViewOp>();
  if (!hasPanels || !slice || slice.getSourceType().getRank() != 3)
    return;
  allPanels = slice.getSource();
  firstPanel = slice.getMixedOffsets()[0];
}

/// Row k of panel `panel` of the block.
Value MicroKernel::loadRhs(const Block &block, Value k, int64_t panel) {
  if (!hasPanels)
    return extendToF32(
        b, loadVector(b, op.getRhs(), {k, offset(b, block.column, panel * width)}, width, block.mask));
  Value number =
      apply(b, b.getAffineSymbolExpr(0).floorDiv(width) + panel, {getAsOpFoldResult(block.column)});
  return extendToF32(b, loadVector(b, op.getRhs(), {number, k, indexConstant(b, 0)}, width, {}));
}

/// Adds column k of the left-hand side times row k of the right-hand side.
MicroKernel::Sums MicroKernel::addStep(const Block &block, Value k, ValueRange sums) {
  Sums rhs, next;
  for (int64_t c = 0; c < block.blocks; ++c)
    rhs.push_back(loadRhs(block, k, c));
  for (int64_t r = 0; r < block.height; ++r) {
    Value element = memref::LoadOp::create(b, op.getLhs(), ValueRange{offset(b, block.row, r), k});
    Value factor = vector::BroadcastOp::create(b, vector, extendToF32(b, element));
    for (int64_t c = 0; c < block.blocks; ++c) {
      Value sum = sums[r * block.blocks + c];
      Value added = target.hasFma
                        ? math::FmaOp::create(b, factor, rhs[c], sum).getResult()
                        : arith::AddFOp::create(b, sum, arith::MulFOp::create(b, factor, rhs[c])).getResult();
      next.push_back(block.careful
                         ? arith::SelectOp::create(b, isNegativeZero(element), sum, added).getResult()
                         : added);
    }
  }
  return next;
}

MicroKernel::Sums MicroKernel::addStepsAt(const Block &block, Value k, int64_t count, ValueRange carried) {
  Sums sums(carried);
  for (int64_t i = 0; i < count; ++i)
    sums = addStep(block, offset(b, k, i), sums);
  return sums;
}

/// Adds the steps from `begin` to `end`, `atOnce` in a turn of a loop.
MicroKernel::Sums MicroKernel::addSteps(const Block &block, Value begin, Value end, int64_t atOnce,
                                        ValueRange sums) {
  return buildLoop(b, begin, end, atOnce, sums,
                   [&](Value k, ValueRange carried) { return addStepsAt(block, k, atOnce, carried); });
}

/// Adds the steps up to `end`, a multiple of `stepsPerLine`. Panels come from memory once and are read for
/// every block of rows: fetching them evenly over those blocks keeps the first from waiting.
MicroKernel::Sums MicroKernel::addStepsFetchingNext(const Block &block, Value end, ValueRange sums) {
  Value zero = indexConstant(b, 0);
  for (int64_t r = 0; r < block.height; ++r)
    memref::PrefetchOp::create(b, op.getInit(), ValueRange{offset(b, block.row, r), block.column},
                               /*isWrite=*/true,
                               /*localityHint=*/3, /*isDataCache=*/true);
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  auto capped = AffineMap::get(0, 1, {s0.floorDiv(block.height), b.getAffineConstantExpr(stepsPerLine - 1)},
                               b.getContext());
  Value part =
      asValue(b, affine::makeComposedFoldedAffineMin(b, b.getLoc(), capped, {getAsOpFoldResult(block.row)}));
  Value lines = apply(b, s0.floorDiv(stepsPerLine), {getAsOpFoldResult(depth)});
  Value first = b.createOrFold<arith::MulIOp>(part, lines);
  Value next =
      apply(b, s0.floorDiv(width) + s1 + block.blocks, {getAsOpFoldResult(block.column), firstPanel});
  Value last =
      b.createOrFold<arith::SubIOp>(b.createOrFold<memref::DimOp>(allPanels, 0), indexConstant(b, 1));
  SmallVector<Value> panels;
  for (int64_t c = 0; c < block.blocks; ++c)
    panels.push_back(b.createOrFold<arith::MinUIOp>(offset(b, next, c), last));
  return buildLoop(b, zero, end, stepsPerLine, sums, [&](Value k, ValueRange carried) {
    Value line = apply(b, s1 + s0.floorDiv(stepsPerLine), {getAsOpFoldResult(k), getAsOpFoldResult(first)});
    for (Value panel : panels)
      fetchLine(panel, line);
    return addStepsAt(block, k, stepsPerLine, carried);
  });
}

void MicroKernel::fetchLine(Value panel, Value line) {
  memref::PrefetchOp::create(b, allPanels, ValueRange{panel, line, indexConstant(b, 0)}, /*isWrite=*/false,
                             /*localityHint=*/2, /*isDataCache=*/true);
}

/// Adds the steps up to `end`, a multiple of `stepsAtOnce`. The lines of all panels follow one another, so
/// that behind a panel's last line comes the first of the next.
MicroKernel::Sums MicroKernel::addStepsFetchingOnward(const Block &block, Value end, ValueRange sums) {
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  Value count = b.createOrFold<memref::DimOp>(allPanels, 0);
  SmallVector<Value> panels, last;
  for (int64_t c = 0; c < block.blocks; ++c) {
    panels.push_back(apply(b, s0.floorDiv(width) + s1 + c, {getAsOpFoldResult(block.column), firstPanel}));
    Value rest = b.createOrFold<arith::SubIOp>(count, panels.back());
    last.push_back(b.createOrFold<arith::SubIOp>(b.createOrFold<arith::MulIOp>(rest, depth),
                                                 indexConstant(b, stepsAtOnce)));
  }
  return buildLoop(b, indexConstant(b, 0), end, stepsAtOnce, sums, [&](Value k, ValueRange carried) {
    Sums next(carried);
    SmallVector<Value> lines;
    for (Value most : last)
      lines.push_back(b.createOrFold<arith::MinUIOp>(offset(b, k, linesOnward), most));
    for (int64_t i = 0; i < stepsAtOnce; ++i) {
      for (auto [panel, line] : llvm::zip_equal(panels, lines))
        fetchLine(panel, offset(b, line, i));
      next = addStep(block, offset(b, k, i), next);
    }
    return next;
  });
}

void MicroKernel::build(Value row, int64_t height, Value column, int64_t blocks, Value mask, bool careful,
                        Fetch fetch) {
  Block block{row, height, column, blocks, mask, careful};
  Sums sums;
  for (int64_t r = 0; r < height; ++r)
    for (int64_t c = 0; c < blocks; ++c)
      sums.push_back(
          op.getAccumulate()
              ? extendToF32(b, loadVector(b, op.getInit(), {offset(b, row, r), offset(b, column, c * width)},
                                          width, mask))
              : arith::ConstantOp::create(b, b.getZeroAttr(vector)).getResult());
  Value done = indexConstant(b, 0);
  if (fetch == Fetch::Next && allPanels) {
    Value whole = wholeSteps(b, done, depth, stepsPerLine);
    sums = addStepsFetchingNext(block, whole, sums);
    done = whole;
  } else if (fetch == Fetch::Onward && allPanels) {
    Value whole = wholeSteps(b, done, depth, stepsAtOnce);
    sums = addStepsFetchingOnward(block, whole, sums);
    done = whole;
  } else if (!careful && height == target.tuning.matmul.rows) {
    Value whole = wholeSteps(b, done, depth, stepsAtOnce);
    sums = addSteps(block, done, whole, stepsAtOnce, sums);
    done = whole;
  }
  sums = addSteps(block, done, depth, 1, sums);
  for (int64_t r = 0; r < height; ++r)
    for (int64_t c = 0; c < blocks; ++c) {
      Value at = offset(b, column, c * width);
      Value sum = applyEpilogue(sums[r * blocks + c], offset(b, row, r), at, mask);
      sum = roundTo(b, sum, getElementTypeOrSelf(op.getInit()));
      storeVector(b, sum, op.getInit(), {offset(b, row, r), at}, mask);
    }
}

Value MicroKernel::isNegativeZero(Value x) {
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), extendToF32(b, x));
  Value sign = arith::ConstantOp::create(b, b.getI32IntegerAttr(INT32_MIN));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bits, sign);
}

Value MicroKernel::applyEpilogue(Value sum, Value row, Value column, Value mask) {
  mlir::Block &block = op.getEpilogue().front();
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
                                  : memref::LoadOp::create(b, read, at).getResult());
  }
  for (Operation &inner : block.without_terminator())
    lanes.clone(&inner);
  return lanes.asVector(lanes.lookup(block.getTerminator()->getOperand(0)));
}
