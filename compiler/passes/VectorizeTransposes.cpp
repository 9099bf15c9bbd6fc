// Transposes matrices block by block in registers; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "compiler/passes/Vectorize.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace heed {
#define GEN_PASS_DEF_VECTORIZETRANSPOSES
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Rows and columns of a block.
constexpr int64_t width = 8;

/// result[c, r] = source[r, c].
struct TransposeVectorizer {
  linalg::TransposeOp op;
  ImplicitLocOpBuilder b;
  Value source, rows, columns;

  explicit TransposeVectorizer(linalg::TransposeOp op)
      : op(op), b(op.getLoc(), op), source(op.getInput()), rows(sizeOf(b, source, 0)),
        columns(sizeOf(b, source, 1)) {}

  void run() {
    Value zero = indexConstant(b, 0), whole = wholeSteps(b, zero, rows, width);
    buildLoop(b, zero, whole, width, [&](Value row) { buildRows(row, {}); });
    buildLoop(b, whole, rows, width, [&](Value row) { buildRows(row, remainderMask(b, rows, row, width)); });
    op.erase();
  }

private:
  /// The rows of a block from `row` on; a mask tells which there are.
  void buildRows(Value row, Value mask) {
    Value result = op.getInit();
    SmallVector<Value> at;
    Value last = b.createOrFold<arith::SubIOp>(rows, indexConstant(b, 1));
    for (int64_t r = 0; r < width; ++r) {
      at.push_back(b.createOrFold<arith::AddIOp>(row, indexConstant(b, r)));
      if (mask) // a row that is not there is read from one that is
        at.back() = arith::MinSIOp::create(b, at.back(), last);
    }
    Value whole = wholeSteps(b, indexConstant(b, 0), columns, width);
    buildLoop(b, indexConstant(b, 0), whole, width, [&](Value column) {
      SmallVector<Value> block;
      for (Value r : at)
        block.push_back(loadVector(b, source, {r, column}, width, {}));
      transpose(block);
      for (auto [c, vector] : llvm::enumerate(block))
        storeVector(b, vector, result, {b.createOrFold<arith::AddIOp>(column, indexConstant(b, c)), row},
                    mask);
    });
    buildLoop(b, whole, columns, 1, [&](Value column) {
      auto type = VectorType::get(width, getElementTypeOrSelf(source));
      SmallVector<Value> elements;
      for (Value r : at)
        elements.push_back(memref::LoadOp::create(b, source, ValueRange{r, column}));
      storeVector(b, vector::FromElementsOp::create(b, type, elements), result, {column, row}, mask);
    });
  }

  /// Exchanges, bit by bit, the number of the vector with the number of the lane: two shuffles of two
  /// vectors each.
  void transpose(MutableArrayRef<Value> block) {
    for (int64_t bit = width / 2; bit; bit /= 2)
      for (int64_t i = 0; i < width; ++i) {
        if (i & bit)
          continue;
        SmallVector<int64_t> low, high;
        for (int64_t lane = 0; lane < width; ++lane) {
          low.push_back(lane & bit ? width + lane - bit : lane);
          high.push_back(lane & bit ? width + lane : lane + bit);
        }
        Value first = block[i], second = block[i + bit];
        block[i] = vector::ShuffleOp::create(b, first, second, low);
        block[i + bit] = vector::ShuffleOp::create(b, first, second, high);
      }
  }
};

struct VectorizeTransposes : impl::VectorizeTransposesBase<VectorizeTransposes> {
  void runOnOperation() override {
    getOperation()->walk([](linalg::TransposeOp op) {
      if (op.getPermutation() == ArrayRef<int64_t>{1, 0} &&
          isa<FloatType>(getElementTypeOrSelf(op.getInput())))
        TransposeVectorizer(op).run();
    });
  }
};

} // namespace
} // namespace heed
