// online_attention and tile_softmax, from their own formulas and not as parts of attention.
#include "compiler/interpreter/Product.h"
#include "compiler/interpreter/ScoreRegions.h"

#include "dialect/Attn.h"

using namespace mlir;

namespace heed {

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Scales the parts of a row's sum; what is new joins the first.
static void scaleSum(Tensor &rowSum, int64_t row, const Real &correction) {
  int64_t parts = rowSum.shape[1];
  for (int64_t part = row * parts; part < (row + 1) * parts; ++part)
    rowSum.setReal(part, rowSum.real(part) * correction);
}

static LogicalResult evaluateOnlineAttention(attn::OnlineAttentionOp op, Frame &frame) {
  const Tensor &query = frame.tensor(op.getQuery()), &key = frame.tensor(op.getKey()),
               &value = frame.tensor(op.getValue());
  Tensor accumulator = frame.take(op.getAccumulator(), op), rowMax = frame.take(op.getRowMax(), op),
         rowSum = frame.take(op.getRowSum(), op);
  int64_t queries = query.shape[0], width = query.shape[1], keys = value.shape[0],
          valueWidth = value.shape[1];
  bool panels = key.rank() == 3;
  int64_t panelWidth = panels ? key.shape[2] : keys;
  if (failed(expectEqual(op, "key width", width, key.shape[1])) ||
      failed(expectEqual(op, "rows of the accumulator", queries, accumulator.shape[0])) ||
      failed(expectEqual(op, "width of the accumulator", valueWidth, accumulator.shape[1])) ||
      failed(expectEqual(op, "size of row_max", queries, rowMax.size())) ||
      failed(expectEqual(op, "rows of row_sum", queries, rowSum.shape[0])))
    return failure();
  if (panels ? key.shape[0] * panelWidth < keys : key.shape[0] != keys)
    return op.emitOpError("expected ") << keys << " keys, but got shape " << showShape(key.shape);

  frame.session.visitedPairs += queries * keys;
  SmallVector<int64_t> origin = frame.integers(op.getOrigin());
  ScoreRegions regions(op, frame, !op.getAsks() || frame.integer(op.getAsks()));
  Real scale(op.getScale().convertToDouble()), unit(op.getBase2() ? llvm::numbers::ln2 : 1);
  std::vector<Real> scores(queries * keys);
  for (int64_t first = 0; first < keys; first += panelWidth) {
    MatrixView right = panels ? MatrixView{key, first * width, panelWidth, 1} : MatrixView{key, 0, 1, width};
    multiply(queries, width, std::min(panelWidth, keys - first), {query, 0, width, 1}, right,
             /*masked=*/false,
             [&](int64_t q, int64_t k, Real sum) { scores[q * keys + first + k] = sum * scale; });
  }
  for (int64_t q = 0; q < queries; ++q) {
    Real max = rowMax.real(q);
    for (int64_t k = 0; k < keys; ++k) {
      int64_t point[] = {origin[0], origin[1], origin[2] + q, origin[3] + k, origin[4], origin[5]};
      FailureOr<Real> score = regions.apply(scores[q * keys + k], point);
      if (failed(score))
        return failure();
      scores[q * keys + k] = *score;
      max = maximum(max, *score);
    }
    if (max.value == -infinity) // no key so far: nothing to add, and nothing to scale
      continue;
    // Which maximum is taken cancels in the final division; only the distance to it is uncertain.
    Real subtracted(max.value), correction = exp((Real(rowMax.real(q).value) - subtracted) * unit);
    scaleSum(rowSum, q, correction);
    int64_t firstPart = q * rowSum.shape[1];
    Sum sum;
    sum.add(rowSum.real(firstPart));
    std::vector<Sum> sums(valueWidth);
    for (int64_t e = 0; e < valueWidth; ++e)
      sums[e].add(accumulator.real(q * valueWidth + e) * correction);
    for (int64_t k = 0; k < keys; ++k) {
      Real score = scores[q * keys + k];
      if (score.value == -infinity)
        continue;
      Real weight = exp((score - subtracted) * unit);
      sum.add(weight);
      for (int64_t e = 0; e < valueWidth; ++e)
        sums[e].add(weight * value.real(k * valueWidth + e));
    }
    rowMax.setReal(q, max);
    rowSum.setReal(firstPart, sum.result());
    for (int64_t e = 0; e < valueWidth; ++e)
      accumulator.setReal(q * valueWidth + e, sums[e].result());
  }
  if (failed(frame.set(op.getResult(0), std::move(accumulator))) ||
      failed(frame.set(op.getResult(1), std::move(rowMax))))
    return failure();
  return frame.set(op.getResult(2), std::move(rowSum));
}

static LogicalResult evaluateTileSoftmax(attn::TileSoftmaxOp op, Frame &frame) {
  Tensor weights = frame.take(op.getScores(), op), accumulator = frame.take(op.getAccumulator(), op),
         rowMax = frame.take(op.getRowMax(), op), rowSum = frame.take(op.getRowSum(), op);
  int64_t rows = weights.shape[0], columns = weights.shape[1], width = accumulator.shape[1];
  if (failed(expectEqual(op, "rows of the accumulator", rows, accumulator.shape[0])) ||
      failed(expectEqual(op, "size of row_max", rows, rowMax.size())) ||
      failed(expectEqual(op, "rows of row_sum", rows, rowSum.shape[0])))
    return failure();
  Real unit(op.getBase2() ? llvm::numbers::ln2 : 1);
  for (int64_t m = 0; m < rows; ++m) {
    Real max = rowMax.real(m);
    for (int64_t n = 0; n < columns; ++n)
      max = maximum(max, weights.real(m * columns + n));
    bool isEmpty = max.value == -infinity;
    Real correction = isEmpty ? Real(1) : exp((rowMax.real(m) - max) * unit);
    scaleSum(rowSum, m, correction);
    int64_t firstPart = m * rowSum.shape[1];
    Sum sum;
    sum.add(rowSum.real(firstPart));
    for (int64_t n = 0; n < columns; ++n) {
      Real score = weights.real(m * columns + n), weight(op.getMasked() ? -0.0 : 0.0);
      if (score.value != -infinity)
        weight = exp((score - max) * unit);
      weights.setReal(m * columns + n, weight);
      sum.add(weight);
    }
    for (int64_t e = 0; e < width; ++e)
      accumulator.setReal(m * width + e, accumulator.real(m * width + e) * correction);
    rowMax.setReal(m, max);
    rowSum.setReal(firstPart, sum.result());
  }
  Tensor *results[] = {&weights, &accumulator, &rowMax, &rowSum};
  for (auto [result, tensor] : llvm::zip_equal(op.getResults(), results))
    if (failed(frame.set(result, std::move(*tensor))))
      return failure();
  return success();
}

void addOnlineAttention(OpTable &table) {
  table.add(evaluateOnlineAttention);
  table.add(evaluateTileSoftmax);
}

} // namespace heed
