// attention, from its formula and row by row.
#include "compiler/interpreter/Product.h"
#include "compiler/interpreter/ScoreRegions.h"
#include "compiler/interpreter/Softmax.h"

#include "dialect/Attn.h"

using namespace mlir;

namespace heed {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// Rows of scores at a time, so that nothing grows with the square of the length.
static constexpr int64_t rowsAtOnce = 64;

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

/// An element of the result: a sum over keys, and what is needed for its variance.
struct WeightedSum {
  double value = 0, partials = 0;
  /// First two moments of the values under the variances of their weights.
  double first = 0, second = 0;
  /// What the values' own variances cause.
  double variance = 0;

  void add(double weight, double weightVariance, Real x) {
    value += weight * x.value;
    partials += std::fabs(value);
    first += weightVariance * x.value;
    second += weightVariance * square(x.value);
    variance += propagate(weight, x.variance);
  }
  /// A weight pulls the result towards its value: d result / d weight[k] = value[k] − result, the sum of the
  /// weights being divided by.
  Real result(double weightVariances) const {
    double pulled = std::fmax(second - 2 * value * first + square(value) * weightVariances, 0);
    return roundF32(value, pulled + variance + square(partials * kUnitF32 / kConfidence), 4);
  }
};

/// One attention: its operands, their sizes, and its results as they are filled.
class Attention {
public:
  Attention(attn::AttentionOp op, Frame &frame)
      : op(op), frame(frame), letters(op.getLetters()), query{frame.tensor(op.getQuery()), letters.query},
        key{frame.tensor(op.getKey()), letters.key}, value{frame.tensor(op.getValue()), letters.value},
        regions(op, frame), queries(query.size('q')), keys(key.size('k')), heads(query.size('h')) {}

  LogicalResult run();

private:
  LogicalResult checkSizes();
  FailureOr<SmallVector<int64_t>> perEntry(Value value, int64_t otherwise);
  LogicalResult attend(int64_t b, int64_t h, int64_t first, int64_t count);
  /// Turns products of query row q with all keys into scores; −inf where the pair is not kept.
  LogicalResult changeScores(int64_t b, int64_t h, int64_t q, MutableArrayRef<Real> row);
  /// A row of the result: weights times the rows of `values`.
  std::vector<Real> weighValues(const Softmax &softmax, MatrixView values);

  attn::AttentionOp op;
  Frame &frame;
  attn::AttentionLayout letters;
  Lettered query, key, value;
  ScoreRegions regions;
  int64_t queries, keys, heads, group = 1;
  SmallVector<int64_t> lengths, queryOffsets, keyOffsets;
  Tensor result, logSumExp;
};
} // namespace

LogicalResult Attention::checkSizes() {
  int64_t batch = query.size('b'), sharedHeads = key.size('h');
  if (failed(expectEqual(op, "key width", query.size('d'), key.size('d'))) ||
      failed(expectEqual(op, "key batch size", batch, key.size('b'))) ||
      failed(expectEqual(op, "value batch size", batch, value.size('b'))) ||
      failed(expectEqual(op, "value heads", sharedHeads, value.size('h'))) ||
      failed(expectEqual(op, "value length", keys, value.size('k'))) ||
      (op.getSinks() && failed(expectEqual(op, "sinks", heads, frame.tensor(op.getSinks()).size()))))
    return failure();
  if (sharedHeads != heads && (sharedHeads == 0 || heads % sharedHeads != 0))
    return op.emitOpError("expected key heads to divide ") << heads << ", but got " << sharedHeads;
  group = sharedHeads == 0 ? 1 : heads / sharedHeads;
  return success();
}

/// One integer per batch entry: from a tensor, from one number for all, or `otherwise`.
FailureOr<SmallVector<int64_t>> Attention::perEntry(Value value, int64_t otherwise) {
  int64_t batch = query.size('b');
  if (!value || !isa<RankedTensorType>(value.getType()))
    return SmallVector<int64_t>(batch, value ? frame.integer(value) : otherwise);
  const Tensor &tensor = frame.tensor(value);
  if (failed(expectEqual(op, "integers per batch entry", batch, tensor.size())))
    return failure();
  return SmallVector<int64_t>(ArrayRef<int64_t>(tensor.integers));
}

LogicalResult Attention::changeScores(int64_t b, int64_t h, int64_t q, MutableArrayRef<Real> row) {
  for (int64_t k = 0; k < keys; ++k) {
    int64_t point[] = {b, h, q + queryOffsets[b], k + keyOffsets[b], queries, lengths[b]};
    FailureOr<Real> score = k < lengths[b] ? regions.apply(row[k], point) : Real(-infinity);
    if (failed(score))
      return failure();
    row[k] = *score;
  }
  return success();
}

std::vector<Real> Attention::weighValues(const Softmax &softmax, MatrixView values) {
  std::vector<WeightedSum> sums(value.size('e'));
  double weightVariances = 0;
  for (int64_t k = 0; k < keys; ++k) {
    if (softmax.isDropped(k))
      continue;
    double weight = softmax.weight(k).value;
    // Tensor cores take weights rounded to the type of the values.
    double weightVariance =
        softmax.ownVariance(k) + roundedLike(value.tensor.elementType, Real(weight)).variance;
    weightVariances += weightVariance;
    for (auto [e, sum] : llvm::enumerate(sums))
      sum.add(weight, weightVariance, value.tensor.real(values.at(k, e)));
  }
  std::vector<Real> row;
  row.reserve(sums.size());
  for (const WeightedSum &sum : sums)
    row.push_back(sum.result(weightVariances));
  return row;
}

/// Rows [first, first + count) of one head.
LogicalResult Attention::attend(int64_t b, int64_t h, int64_t first, int64_t count) {
  MatrixView left = query.view(b, h, 'q', 'd'), right = key.view(b, h / group, 'd', 'k');
  left.offset = left.at(first, 0);
  Real scale(op.getScale().convertToDouble());
  std::vector<Real> scores(count * keys);
  multiply(count, query.size('d'), keys, left, right, /*masked=*/false,
           [&](int64_t q, int64_t k, Real sum) { scores[q * keys + k] = sum * scale; });

  Real sink = op.getSinks() ? frame.tensor(op.getSinks()).real(h) : Real();
  bool emptyIsNaN = op.getEmptyRows() == attn::EmptyRows::NaN;
  std::string rowLetters = letters.result.str();
  rowLetters.erase(rowLetters.find('e'), 1);
  MatrixView results = Lettered{result, letters.result}.view(b, h, 'q', 'e');
  MatrixView sums = Lettered{logSumExp, rowLetters}.view(b, h, 'q', 'e');
  for (int64_t q = first; q < first + count; ++q) {
    MutableArrayRef<Real> row(scores.data() + (q - first) * keys, keys);
    if (failed(changeScores(b, h, q, row)))
      return failure();
    Softmax softmax(row, op.getSinks() ? &sink : nullptr);
    std::vector<Real> elements(value.size('e'), Real(emptyIsNaN ? nan : 0));
    if (!softmax.isEmpty())
      elements = weighValues(softmax, value.view(b, h / group, 'k', 'e'));
    for (auto [e, element] : llvm::enumerate(elements))
      result.setReal(results.at(q, e), roundedLike(result.elementType, element));
    logSumExp.setReal(sums.at(q, 0), softmax.logSumExp());
  }
  return success();
}

LogicalResult Attention::run() {
  if (failed(checkSizes()))
    return failure();
  auto readLengths = perEntry(op.getKeyLengths(), keys);
  auto readQueryOffsets = perEntry(op.getQueryOffset(), 0), readKeyOffsets = perEntry(op.getKeyOffset(), 0);
  if (failed(readLengths) || failed(readQueryOffsets) || failed(readKeyOffsets))
    return failure();
  lengths = *readLengths, queryOffsets = *readQueryOffsets, keyOffsets = *readKeyOffsets;
  for (int64_t length : lengths)
    if (length < 0 || length > keys)
      return op.emitOpError("expected key lengths in [0, ") << keys << "], but got " << length;
  if (failed(expectPositions(op, queryOffsets)) || failed(expectPositions(op, keyOffsets)))
    return failure();

  SmallVector<int64_t> shape, rowShape;
  for (char letter : letters.result) {
    shape.push_back(letter == 'e' ? value.size('e') : query.size(letter));
    if (letter != 'e')
      rowShape.push_back(shape.back());
  }
  auto made = makeTensor(op, op.getResult().getType().getElementType(), shape);
  auto madeSums = makeTensor(op, Float32Type::get(op.getContext()), rowShape);
  if (failed(made) || failed(madeSums))
    return failure();
  result = std::move(*made), logSumExp = std::move(*madeSums);
  for (int64_t b = 0; b < query.size('b'); ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t first = 0; first < queries; first += rowsAtOnce)
        if (failed(attend(b, h, first, std::min(rowsAtOnce, queries - first))))
          return failure();
  if (op.getLogSumExp() && failed(frame.set(op.getLogSumExp(), std::move(logSumExp))))
    return failure();
  return frame.set(op.getResult(), std::move(result));
}

static LogicalResult evaluateAttention(attn::AttentionOp op, Frame &frame) {
  return Attention(op, frame).run();
}

void addAttentionOps(OpTable &table) { table.add(evaluateAttention); }

} // namespace heed
