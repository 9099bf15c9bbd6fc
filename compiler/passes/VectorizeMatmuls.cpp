// Turns a tile matmul into register tiles of vector fused multiply-adds; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/MicroKernel.h"
#include "compiler/passes/Vectorize.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"

namespace heed {
#define GEN_PASS_DEF_VECTORIZEMATMULS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr int64_t width = MicroKernel::width;

/// Rows from which on a tile that streams fetches onward: of fewer, the next lines are foreseen.
constexpr int64_t leastOnward = 3;

/// Attention has a way of its own for few queries, and its code is copied for the segments of a mask.
static bool isInAttention(attn::TileMatmulOp op) {
  auto loop = op->getParentOfType<scf::ForallOp>();
  auto kernel = loop ? loop->getAttrOfType<StringAttr>(kernelAttr) : StringAttr();
  return kernel && kernel.getValue().starts_with("attention");
}

struct MatmulVectorizer {
  attn::TileMatmulOp op;
  ImplicitLocOpBuilder b;
  const Target &target;
  Value rows, columns, depth;
  std::optional<int64_t> mostRows; ///< where that is known
  bool inAttention;
  int64_t high; ///< rows of the register tile
  int64_t few;  ///< rows up to which a tile streams
  MicroKernel kernel;

  MatmulVectorizer(attn::TileMatmulOp op, const Target &target)
      : op(op), b(op.getLoc(), op), target(target), rows(sizeOf(b, op.getInit(), 0)),
        columns(sizeOf(b, op.getInit(), 1)), depth(sizeOf(b, op.getLhs(), 1)), mostRows(getUpperBound(rows)),
        inAttention(isInAttention(op)), high(target.tuning.matmul.rows), few(std::min<int64_t>(high - 1, 4)),
        kernel(b, op, target) {
    if (inAttention) // single tokens are the most frequent of few
      few = !mostRows || *mostRows > 8 ? 0 : *mostRows > 4 ? 1 : *mostRows;
  }

  void run() {
    // A weight of zero times a value that is not finite would leak: such tiles take the careful loop.
    if (op.getMasked())
      choose(isHarmless(), [&](bool harmless) { buildTile(!harmless); });
    else
      buildTile(false);
    op.erase();
  }

  /// Brings the rows of `ahead` that fall to the block of columns from `column` on: all at once would wait
  /// for memory, from which they come about as fast as they are multiplied.
  void fetchAhead(Value column) {
    Value ahead = op.getAhead(), all = sizeOf(b, ahead, 0), step = indexConstant(b, blocksOf(high) * width);
    Value blocks = b.createOrFold<arith::MaxUIOp>(b.createOrFold<arith::CeilDivUIOp>(columns, step),
                                                  indexConstant(b, 1));
    Value share = b.createOrFold<arith::CeilDivUIOp>(all, blocks);
    Value from = b.createOrFold<arith::MulIOp>(b.createOrFold<arith::DivUIOp>(column, step), share);
    Value to = b.createOrFold<arith::MinUIOp>(b.createOrFold<arith::AddIOp>(from, share), all);
    int64_t line = 512 / op.getAhead().getType().getElementTypeBitWidth(), most = 8 * line; // of a row
    int64_t end = std::min(getUpperBound(sizeOf(b, ahead, 1)).value_or(most), most);
    buildLoop(b, from, to, 1, [&](Value row) {
      for (int64_t column = 0; column < end; column += line)
        memref::PrefetchOp::create(b, ahead, ValueRange{row, indexConstant(b, column)}, /*isWrite=*/false,
                                   /*localityHint=*/3, /*isDataCache=*/true);
    });
  }

  /// Whether no weight is zero for a mask, or all values are finite.
  Value isHarmless() {
    if (!op.getAsks())
      return isFinite(op.getRhs());
    return buildIf(
        b, op.getAsks(), b.getI1Type(), [&] { return SmallVector{isFinite(op.getRhs())}; },
        [&] { return SmallVector<Value>{arith::ConstantIntOp::create(b, 1, 1)}; })[0];
  }

  /// Whether x·0 sums to zero over all of `tile`, [k, n] or panels.
  Value isFinite(Value tile) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(VectorType::get(width, b.getF32Type())));
    Value none = indexConstant(b, 0);
    bool isPacked = cast<MemRefType>(tile.getType()).getRank() == 3;
    Value sums = buildLoop(b, none, depth, 1, zero, [&](Value k, ValueRange sums) {
      return buildVectorLoop(b, columns, width, sums, [&](Value n, Value mask, ValueRange sums) {
        SmallVector<Value> at{k, n};
        if (isPacked)
          at = {b.createOrFold<arith::DivUIOp>(n, indexConstant(b, width)), k, none};
        Value x = extendToF32(b, loadVector(b, tile, at, width, mask));
        return SmallVector<Value>{arith::AddFOp::create(b, sums[0], arith::MulFOp::create(b, x, zero))};
      });
    })[0];
    Value sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, sums);
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, f32Constant(b, 0));
  }

  /// The whole tile. Few rows stream through the right-hand side, which is read but once; a block of their
  /// own shape keeps enough accumulators busy.
  void buildTile(bool careful) {
    Value zero = indexConstant(b, 0);
    auto buildBlock = [&](Value column, int64_t blocks, Value mask) {
      if (few == 0 && op.getAhead() && blocks == blocksOf(high))
        fetchAhead(column);
      buildRows(column, blocks, mask);
    };
    if (careful) // seldom needed, hence small
      return buildLoop(b, zero, rows, 1, [&](Value row) {
        buildColumns(columns, 1, [&](Value column, int64_t blocks, Value mask) {
          kernel.build(row, 1, column, blocks, mask, /*careful=*/true, MicroKernel::Fetch::Nothing);
        });
      });
    if (few == 0)
      return buildColumns(columns, blocksOf(high), buildBlock);
    Value isFew = mostRows && *mostRows <= few
                      ? arith::ConstantIntOp::create(b, 1, 1).getResult()
                      : b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ule, rows, indexConstant(b, few));
    choose(isFew, [&](bool streams) {
      if (!streams)
        return buildColumns(columns, blocksOf(high), buildBlock);
      for (int64_t height = few; height >= 1; --height) {
        Value has = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, rows, indexConstant(b, height));
        buildColumns(b.createOrFold<arith::SelectOp>(has, columns, zero), blocksOf(height),
                     [&](Value column, int64_t blocks, Value mask) {
                       kernel.build(zero, height, column, blocks, mask, /*careful=*/false,
                                    inAttention || height < leastOnward ? MicroKernel::Fetch::Nothing
                                                                        : MicroKernel::Fetch::Onward);
                     });
      }
    });
  }

  void choose(Value condition, function_ref<void(bool)> build) {
    if (std::optional<int64_t> constant = getConstantIntValue(condition))
      return build(*constant != 0);
    buildIf(b, condition, [&] { build(true); }, [&] { build(false); });
  }

  /// How many panels a block of `height` rows covers: as wide as the target's register tile, and where few
  /// rows leave registers free, as many as fit beside a row of the panels, which a single row reads from
  /// memory, and a broadcast.
  int64_t blocksOf(int64_t height) {
    const Tuning &tuning = target.tuning;
    if (height > few)
      return tuning.matmul.cols / width;
    int64_t held = (height == 1 ? 1 : height + 1) * width / tuning.lanes;
    return std::clamp<int64_t>((tuning.registers - 1) / held, 1, 4);
  }

  /// Loops over blocks of columns up to `end`, `widest` panels and then fewer, and what is left of one.
  void buildColumns(Value end, int64_t widest,
                    function_ref<void(Value column, int64_t blocks, Value mask)> buildBlock) {
    Value done = indexConstant(b, 0);
    for (int64_t blocks = widest; blocks >= 1; --blocks) {
      Value whole = wholeSteps(b, done, end, blocks * width);
      buildLoop(b, done, whole, blocks * width, [&](Value column) { buildBlock(column, blocks, {}); });
      done = whole;
    }
    buildLoop(b, done, end, width,
              [&](Value column) { buildBlock(column, 1, remainderMask(b, columns, column, width)); });
  }

  /// Loops over blocks of rows: as high as the register tile, save the last two or three, which share what is
  /// left evenly, for a low block would keep too few accumulators busy.
  void buildRows(Value column, int64_t blocks, Value mask) {
    int64_t most = high > 8 ? high / 2 : high; // of what is left; bounds the number of shapes
    AffineExpr m = b.getAffineSymbolExpr(0), n = b.getAffineSymbolExpr(1);
    auto apply = [&](AffineExpr expr, ArrayRef<Value> operands) {
      SmallVector<OpFoldResult> folded = getAsOpFoldResult(ValueRange(operands));
      return asValue(b, affine::makeComposedFoldedAffineApply(b, b.getLoc(), expr, folded));
    };
    Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
    Value isWhole = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, apply(m % high, rows), zero);
    Value before = b.createOrFold<arith::MaxSIOp>(apply(m.floorDiv(high) * high - 2 * high, rows), zero);
    Value done = b.createOrFold<arith::SelectOp>(isWhole, rows, before);
    Value rest = apply(m - n, {rows, done}), count = apply(m.ceilDiv(most), rest);
    Value base = b.createOrFold<arith::DivUIOp>(rest, b.createOrFold<arith::MaxUIOp>(count, one));
    Value larger = b.createOrFold<arith::SubIOp>(rest, b.createOrFold<arith::MulIOp>(base, count));
    auto buildBlocks = [&](int64_t height, Value from, Value to) {
      buildLoop(b, from, to, height, [&](Value row) {
        kernel.build(row, height, column, blocks, mask, /*careful=*/false,
                     inAttention ? MicroKernel::Fetch::Nothing : MicroKernel::Fetch::Next);
      });
    };
    if (most < high)
      buildBlocks(high, zero, done);
    // Of a fair share, which is lower only where a whole tile is: that goes row by row.
    bool hasFewHeights = inAttention && few <= 1;
    int64_t least = hasFewHeights ? (most + 2) / 2 : std::min(few + 1, (most + 1) / 2);
    for (int64_t height = most; height >= least; --height) {
      auto is = [&](int64_t offset) {
        return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, base,
                                             indexConstant(b, height - offset));
      };
      Value smaller = b.createOrFold<arith::SubIOp>(count, larger);
      Value own = b.createOrFold<arith::SelectOp>(is(0), smaller,
                                                  b.createOrFold<arith::SelectOp>(is(1), larger, zero));
      Value end = apply(m + n * height, {done, own});
      buildBlocks(height, height == high ? zero : done, end);
      done = end;
    }
    if (hasFewHeights && least > 1)
      buildBlocks(1, done, rows);
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
