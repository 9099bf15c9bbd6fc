// attention, from its formula and row by row, and online_attention, from its own.
#include "compiler/interpreter/Product.h"
#include "compiler/interpreter/Program.h"
#include "compiler/interpreter/Softmax.h"

#include "dialect/Attn.h"

using namespace mlir;

namespace heed {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

namespace {
/// A tensor whose dimensions have letters; a letter that is absent counts as one of size 1.
struct Lettered {
  const Tensor &tensor;
  StringRef letters;

  int64_t size(char letter) const {
    size_t dim = letters.find(letter);
    return dim == StringRef::npos ? 1 : tensor.shape[dim];
  }
  int64_t stride(char letter) const {
    size_t dim = letters.find(letter);
    return dim == StringRef::npos ? 0 : stridesOf(tensor.shape)[dim];
  }
  /// The matrix of `row` and `column` at batch entry b and head h.
  MatrixView view(int64_t b, int64_t h, char row, char column) const {
    return {tensor, b * stride('b') + h * stride('h'), stride(row), stride(column)};
  }
};

/// The regions of attention and online_attention: what becomes of one score.
class ScoreRegions {
public:
  template <class OpT>
  ScoreRegions(OpT op, Frame &frame) : reads(frame, op, op.getReads(), op.getReadMaps()) {
    if (!op.getScore().empty())
      score.emplace(frame, op.getScore().front());
    if (!op.getKeep().empty())
      keep.emplace(frame, op.getKeep().front());
  }

  /// `point`: batch, head, query, key, query length, key length. −inf where the pair is not kept.
  FailureOr<Real> apply(Real value, ArrayRef<int64_t> point) {
    if (keep) {
      if (failed(prepare(*keep, 0, point)) || failed(keep->run()))
        return failure();
      if (!keep->result().integer)
        return Real(-infinity);
    }
    if (!score)
      return value;
    score->argument(0).scalar = Scalar::of(value);
    if (failed(prepare(*score, 1, point)) || failed(score->run()))
      return failure();
    return score->result().real;
  }

private:
  LogicalResult prepare(ScalarRegion &region, unsigned first, ArrayRef<int64_t> point) {
    for (auto [number, index] : llvm::enumerate(point))
      region.argument(first + number).scalar = Scalar::of(index);
    return reads.load(region, first + 6, point.take_front(4));
  }

  Reads reads;
  std::optional<ScalarRegion> score, keep;
};

/// One sum over keys: value, first two moments of what uncertain weights do to it, and the rest of its
/// variance.
struct WeightedSum {
  double value = 0, partials = 0, first = 0, second = 0, variance = 0;
};
} // namespace

/// Sizes of an attention, checked against one another.
struct Sizes {
  int64_t batch, heads, group, queries, keys, keyWidth, valueWidth;
};

static FailureOr<Sizes> checkSizes(attn::AttentionOp op, Lettered query, Lettered key, Lettered value) {
  Sizes sizes{query.size('b'), query.size('h'), 1, query.size('q'), key.size('k'),
              query.size('d'), value.size('e')};
  int64_t sharedHeads = key.size('h');
  if (failed(expectEqual(op, "key width", sizes.keyWidth, key.size('d'))) ||
      failed(expectEqual(op, "key batch size", sizes.batch, key.size('b'))) ||
      failed(expectEqual(op, "value batch size", sizes.batch, value.size('b'))) ||
      failed(expectEqual(op, "value heads", sharedHeads, value.size('h'))) ||
      failed(expectEqual(op, "value length", sizes.keys, value.size('k'))))
    return failure();
  if (sharedHeads != sizes.heads && (sharedHeads == 0 || sizes.heads % sharedHeads != 0))
    return op.emitOpError("expected key heads to divide ") << sizes.heads << ", but got " << sharedHeads;
  sizes.group = sharedHeads == 0 ? 1 : sizes.heads / sharedHeads;
  return sizes;
}

/// One integer per batch entry: from a tensor, from one number for all, or `otherwise`.
static FailureOr<SmallVector<int64_t>> perEntry(Operation *op, Frame &frame, Value value, int64_t batch,
                                                int64_t otherwise) {
  if (!value || !isa<RankedTensorType>(value.getType()))
    return SmallVector<int64_t>(batch, value ? frame.integer(value) : otherwise);
  const Tensor &tensor = frame.tensor(value);
  if (failed(expectEqual(op, "integers per batch entry", batch, tensor.size())))
    return failure();
  return SmallVector<int64_t>(ArrayRef<int64_t>(tensor.integers));
}

/// Element e of a row of the result: `sum / total` with the variance of weights and values.
static Real finishElement(const WeightedSum &sum, double total, double weightsSquared) {
  double value = sum.value / total;
  // A weight pulls the result towards its value: d result / d log(weight k) = weight k · (value k − result).
  double pulled = sum.second - 2 * value * sum.first + square(value) * weightsSquared;
  double variance = std::fmax(pulled, 0) + sum.variance + square(sum.partials / total * kUnitF32 / 4);
  return roundF32(value, variance, 4);
}

/// A row of the result: weights times the rows of `value`.
static void weighValues(const Softmax &softmax, MatrixView value, int64_t keys, Type type,
                        MutableArrayRef<WeightedSum> sums) {
  double weightsSquared = 0;
  for (int64_t k = 0; k < keys; ++k) {
    if (softmax.isDropped(k))
      continue;
    double weight = softmax.weight(k).value;
    // Tensor cores take weights rounded to the type of the values.
    double uncertainty =
        square(weight) * softmax.relativeVariance(k) + square(roundedLike(type, Real(weight)).deviation());
    weightsSquared += uncertainty;
    for (auto [e, sum] : llvm::enumerate(sums)) {
      Real v = value.tensor.real(value.at(k, e));
      sum.value += weight * v.value;
      sum.partials += std::fabs(sum.value);
      sum.first += uncertainty * v.value;
      sum.second += uncertainty * square(v.value);
      sum.variance += propagate(weight, v.variance);
    }
  }
  for (WeightedSum &sum : sums) {
    Real result = finishElement(sum, 1, weightsSquared);
    sum.value = result.value;
    sum.variance = result.variance;
  }
}

static LogicalResult evaluateAttention(attn::AttentionOp op, Frame &frame) {
  attn::AttentionLayout letters = op.getLetters();
  Lettered query{frame.tensor(op.getQuery()), letters.query}, key{frame.tensor(op.getKey()), letters.key},
      value{frame.tensor(op.getValue()), letters.value};
  FailureOr<Sizes> sizes = checkSizes(op, query, key, value);
  if (failed(sizes))
    return failure();
  auto lengths = perEntry(op, frame, op.getKeyLengths(), sizes->batch, sizes->keys);
  auto queryOffsets = perEntry(op, frame, op.getQueryOffset(), sizes->batch, 0);
  auto keyOffsets = perEntry(op, frame, op.getKeyOffset(), sizes->batch, 0);
  if (failed(lengths) || failed(queryOffsets) || failed(keyOffsets))
    return failure();
  for (int64_t length : *lengths)
    if (length < 0 || length > sizes->keys)
      return op.emitOpError("expected key lengths in [0, ") << sizes->keys << "], but got " << length;

  SmallVector<int64_t> shape, rowShape;
  for (char letter : letters.result) {
    shape.push_back(letter == 'e' ? sizes->valueWidth : query.size(letter));
    if (letter != 'e')
      rowShape.push_back(shape.back());
  }
  std::string rowLetters = letters.result.str();
  rowLetters.erase(rowLetters.find('e'), 1);
  FailureOr<Tensor> result = makeTensor(op, op.getResult().getType().getElementType(), shape);
  FailureOr<Tensor> logSumExp = makeTensor(op, Float32Type::get(op.getContext()), rowShape);
  if (failed(result) || failed(logSumExp))
    return failure();
  Lettered output{*result, letters.result}, rows{*logSumExp, rowLetters};
  const Tensor *sinks = op.getSinks() ? &frame.tensor(op.getSinks()) : nullptr;
  if (sinks && failed(expectEqual(op, "sinks", sizes->heads, sinks->size())))
    return failure();

  ScoreRegions regions(op, frame);
  double scale = op.getScale().convertToDouble();
  bool emptyIsNaN = op.getEmptyRows() == attn::EmptyRows::NaN;
  std::vector<Real> scores(sizes->queries * sizes->keys);
  for (int64_t b = 0; b < sizes->batch; ++b)
    for (int64_t h = 0; h < sizes->heads; ++h) {
      int64_t shared = h / sizes->group, length = (*lengths)[b];
      multiply(sizes->queries, sizes->keyWidth, sizes->keys, query.view(b, h, 'q', 'd'),
               key.view(b, shared, 'd', 'k'),
               /*masked=*/false,
               [&](int64_t q, int64_t k, Real sum) { scores[q * sizes->keys + k] = sum * scale; });
      MatrixView values = value.view(b, shared, 'k', 'e'), results = output.view(b, h, 'q', 'e');
      for (int64_t q = 0; q < sizes->queries; ++q) {
        MutableArrayRef<Real> row(scores.data() + q * sizes->keys, sizes->keys);
        for (int64_t k = 0; k < sizes->keys; ++k) {
          int64_t point[] = {b, h, q + (*queryOffsets)[b], k + (*keyOffsets)[b], sizes->queries, length};
          FailureOr<Real> score = k < length ? regions.apply(row[k], point) : Real(-infinity);
          if (failed(score))
            return failure();
          row[k] = *score;
        }
        Real sink = sinks ? sinks->real(h) : Real();
        Softmax softmax(row, sinks ? &sink : nullptr);
        std::vector<WeightedSum> sums(sizes->valueWidth);
        if (!softmax.isEmpty())
          weighValues(softmax, values, sizes->keys, value.tensor.elementType, sums);
        for (auto [e, sum] : llvm::enumerate(sums)) {
          Real element = softmax.isEmpty() ? Real(emptyIsNaN ? nan : 0) : Real(sum.value, sum.variance);
          result->setReal(results.at(q, e), roundedLike(result->elementType, element));
        }
        logSumExp->setReal(rows.view(b, h, 'q', 'e').at(q, 0), softmax.logSumExp());
      }
    }
  if (op.getLogSumExp() && failed(frame.set(op.getLogSumExp(), std::move(*logSumExp))))
    return failure();
  return frame.set(op.getResult(), std::move(*result));
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
      failed(expectEqual(op, "size of row_sum", queries, rowSum.size())))
    return failure();
  if (panels ? key.shape[0] * panelWidth < keys : key.shape[0] != keys)
    return op.emitOpError("expected ") << keys << " keys, but got shape " << showShape(key.shape);

  SmallVector<int64_t> origin = frame.integers(op.getOrigin());
  ScoreRegions regions(op, frame);
  Real scale(op.getScale().convertToDouble());
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
    Real subtracted(max.value), correction = exp(Real(rowMax.real(q).value) - subtracted);
    Sum sum;
    sum.add(rowSum.real(q) * correction);
    std::vector<Sum> sums(valueWidth);
    for (int64_t e = 0; e < valueWidth; ++e)
      sums[e].add(accumulator.real(q * valueWidth + e) * correction);
    for (int64_t k = 0; k < keys; ++k) {
      Real score = scores[q * keys + k];
      if (score.value == -infinity)
        continue;
      Real weight = exp(score - subtracted);
      sum.add(weight);
      for (int64_t e = 0; e < valueWidth; ++e)
        sums[e].add(weight * value.real(k * valueWidth + e));
    }
    rowMax.setReal(q, max);
    rowSum.setReal(q, sum.result());
    for (int64_t e = 0; e < valueWidth; ++e)
      accumulator.setReal(q * valueWidth + e, sums[e].result());
  }
  if (failed(frame.set(op.getResult(0), std::move(accumulator))) ||
      failed(frame.set(op.getResult(1), std::move(rowMax))))
    return failure();
  return frame.set(op.getResult(2), std::move(rowSum));
}

void addAttentionOps(OpTable &table) {
  table.add(evaluateAttention);
  table.add(evaluateOnlineAttention);
}

} // namespace heed
