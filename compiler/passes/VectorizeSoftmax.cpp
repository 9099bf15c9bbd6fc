// Turns the softmax of a tile into loops over rows of vectors; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "compiler/passes/Vectorize.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace heed {
#define GEN_PASS_DEF_VECTORIZESOFTMAX
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct SoftmaxVectorizer {
  attn::TileSoftmaxOp op;
  ImplicitLocOpBuilder b;
  int64_t width; ///< elements of a vector: the parts of a row's sum
  VectorType vector;
  Value rows, columns;

  explicit SoftmaxVectorizer(attn::TileSoftmaxOp op)
      : op(op), b(op.getLoc(), op), width(op.getRowSum().getType().getDimSize(1)),
        vector(VectorType::get(width, b.getF32Type())), rows(sizeOf(b, op.getScores(), 0)),
        columns(sizeOf(b, op.getScores(), 1)) {}

  void run() {
    buildLoop(b, indexConstant(b, 0), rows, 1, [&](Value row) { buildRow(row); });
    op.erase();
  }

private:
  Value splat(Value scalar) { return vector::BroadcastOp::create(b, vector, scalar); }
  Value splat(double number) { return splat(f32Constant(b, number)); }
  Value load(Value memory, Value row) { return memref::LoadOp::create(b, memory, row); }
  void store(Value value, Value memory, Value row) { memref::StoreOp::create(b, value, memory, row); }

  /// x, or `bound` where that is larger; a NaN is passed over.
  Value atLeast(Value x, Value bound) {
    return arith::SelectOp::create(b, arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, bound), x,
                                   bound);
  }

  /// Turns one row of scores into weights.
  void buildRow(Value row) {
    Value before = load(op.getRowMax(), row);
    Value largest =
        buildVectorLoop(b, columns, width, splat(-INFINITY), [&](Value at, Value mask, ValueRange sofar) {
          Value larger = atLeast(loadVector(b, op.getScores(), {row, at}, width, mask), sofar[0]);
          return SmallVector<Value>{mask ? arith::SelectOp::create(b, mask, larger, sofar[0]) : larger};
        })[0];
    // The maximum seldom moves, and then nothing need be scaled or reduced across lanes.
    Value exceeds = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, largest, splat(before));
    Value moves = vector::ReductionOp::create(b, vector::CombiningKind::OR, exceeds);
    auto choice = scf::IfOp::create(b, moves, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(choice.thenBlock());
      moveMaximum(row, largest, before);
    }
    Value shift = splat(finite(load(op.getRowMax(), row)));
    SmallVector<Value> sumPlace{row, indexConstant(b, 0)};
    Value sumBefore = loadVector(b, op.getRowSum(), sumPlace, width, {});
    Value sums = buildVectorLoop(b, columns, width, sumBefore, [&](Value at, Value mask, ValueRange sofar) {
      Value score = loadVector(b, op.getScores(), {row, at}, width, mask);
      Value weight = exponential(arith::SubFOp::create(b, score, shift));
      // No exponential gives −0.
      if (op.getMasked())
        weight = arith::SelectOp::create(
            b, arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, score, splat(-INFINITY)), splat(-0.0),
            weight);
      storeVector(b, weight, op.getScores(), {row, at}, mask);
      Value sum = arith::AddFOp::create(b, sofar[0], weight);
      return SmallVector<Value>{mask ? arith::SelectOp::create(b, mask, sum, sofar[0]) : sum};
    })[0];
    storeVector(b, sums, op.getRowSum(), sumPlace, {});
  }

  /// e^x, or 2^x, for x that is not positive.
  Value exponential(Value x) {
    if (!op.getBase2()) {
      Value factor = f32Constant(b, llvm::numbers::log2e);
      x = arith::MulFOp::create(b, x, isa<VectorType>(x.getType()) ? splat(factor) : factor);
    }
    return math::Exp2Op::create(b, x, arith::FastMathFlags::afn);
  }

  /// A maximum by which to shift: a row without kept keys so far has none.
  Value finite(Value max) { return atLeast(max, f32Constant(b, std::numeric_limits<float>::lowest())); }

  /// Scales what has been summed up for `row` to the new maximum.
  void moveMaximum(Value row, Value largest, Value before) {
    Value max = atLeast(vector::ReductionOp::create(b, vector::CombiningKind::MAXNUMF, largest), before);
    Value rescale = exponential(arith::SubFOp::create(b, finite(before), max));
    Value factors = splat(rescale);
    for (Value summed : {op.getAccumulator(), op.getRowSum()})
      buildVectorLoop(b, sizeOf(b, summed, 1), width, {}, [&](Value at, Value mask, ValueRange) {
        Value scaled = arith::MulFOp::create(b, loadVector(b, summed, {row, at}, width, mask), factors);
        storeVector(b, scaled, summed, {row, at}, mask);
        return SmallVector<Value>();
      });
    store(max, op.getRowMax(), row);
  }
};

struct VectorizeSoftmax : impl::VectorizeSoftmaxBase<VectorizeSoftmax> {
  void runOnOperation() override {
    getOperation()->walk([](attn::TileSoftmaxOp op) { SoftmaxVectorizer(op).run(); });
  }
};

} // namespace
} // namespace heed
