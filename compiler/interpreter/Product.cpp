// Products of matrices with their bounds; see Product.h.
#include "compiler/interpreter/Product.h"

#include <algorithm>

namespace heed {

/// Columns done at a time: their sums and the rows of rhs stay in the cache.
static constexpr int64_t blockWidth = 128;

namespace {
/// A block of columns of rhs, dense, and the running sums of one row of the result.
struct Block {
  int64_t inner, width;
  std::vector<double> values, variance; // [inner, width]
  double sums[blockWidth], partials[blockWidth], variances[blockWidth];

  Block(int64_t inner, int64_t width, MatrixView rhs, int64_t first) : inner(inner), width(width) {
    const Tensor &tensor = rhs.tensor;
    values.resize(inner * width);
    variance.resize(tensor.variance.empty() ? 0 : inner * width);
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t n = 0; n < width; ++n) {
        int64_t from = rhs.at(k, first + n);
        values[k * width + n] = tensor.values[from];
        if (!variance.empty())
          variance[k * width + n] = tensor.variance[from];
      }
    if (std::all_of(variance.begin(), variance.end(), [](double v) { return v == 0; }))
      variance.clear();
  }

  void clear() {
    std::fill_n(sums, width, 0);
    std::fill_n(partials, width, 0);
    std::fill_n(variances, width, 0);
  }

  /// Adds `factor` · row k; as Sum does, for all columns at once.
  void add(Real factor, int64_t k) {
    const double *row = values.data() + k * width;
    for (int64_t n = 0; n < width; ++n) {
      sums[n] += factor.value * row[n];
      partials[n] += std::fabs(sums[n]);
    }
    if (factor.variance != 0)
      for (int64_t n = 0; n < width; ++n)
        variances[n] += factor.variance * square(row[n]);
    if (!variance.empty())
      for (int64_t n = 0; n < width; ++n)
        variances[n] += square(factor.value) * variance[k * width + n];
  }

  /// The size of the terms of the other sign than the sum's.
  double opposed(MatrixView lhs, int64_t m, int64_t n) const {
    double size = 0;
    for (int64_t k = 0; k < inner; ++k) {
      double term = lhs.tensor.values[lhs.at(m, k)] * values[k * width + n];
      size += std::fmax(sums[n] > 0 ? -term : term, 0);
    }
    return size;
  }
};
} // namespace

void multiply(int64_t rows, int64_t inner, int64_t columns, MatrixView lhs, MatrixView rhs, bool masked,
              llvm::function_ref<void(int64_t, int64_t, Real)> emit) {
  for (int64_t first = 0; first < columns; first += blockWidth) {
    Block block(inner, std::min(blockWidth, columns - first), rhs, first);
    for (int64_t m = 0; m < rows; ++m) {
      block.clear();
      for (int64_t k = 0; k < inner; ++k) {
        Real factor = lhs.tensor.real(lhs.at(m, k));
        if (!((masked || LeavingOut::holds()) && isNegativeZero(factor.value)))
          block.add(factor, k);
      }
      if (std::any_of(block.sums, block.sums + block.width, [](double sum) { return std::isnan(sum); }))
        LeavingOut::note();
      for (int64_t n = 0; n < block.width; ++n) {
        double opposed = std::fabs(block.sums[n]) < kOverflowF32 ? 0 : block.opposed(lhs, m, n);
        emit(m, first + n, finishSum(block.sums[n], block.variances[n], block.partials[n], opposed));
      }
    }
  }
}

} // namespace heed
