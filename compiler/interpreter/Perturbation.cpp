// How far errors that many elements share move a result; see Interpreter::widen.
#include "compiler/interpreter/Interpreter.h"

#include <random>

using namespace mlir;

namespace heed {

/// Runs of which the spread is taken. So few may show half of it, but hardly a quarter, and bounds are
/// kConfidence deviations.
static constexpr unsigned numSamples = 8;

namespace {
/// Mean squares of how far the samples of a tensor lie from its values.
class Spread {
public:
  explicit Spread(const Tensor &tensor) : tensor(tensor), squares(tensor.values.size()) {}

  void add(const Tensor &sample) {
    for (auto [at, sum] : llvm::enumerate(squares))
      if (at < sample.values.size() && std::isfinite(sample.values[at]) && std::isfinite(tensor.values[at]))
        sum += square(sample.values[at] - tensor.values[at]) / numSamples;
  }
  void widen(Tensor &wide) const {
    wide.trackVariance();
    for (auto [at, sum] : llvm::enumerate(squares))
      wide.variance[at] = std::fmax(wide.variance[at], sum);
  }

private:
  const Tensor &tensor;
  std::vector<double> squares;
};
} // namespace

/// What a result's elements, or the elements that it was chosen from, are.
static const Tensor &floatsOf(const Tensor &result) {
  return result.candidates ? *result.candidates : result;
}

LogicalResult Interpreter::widen(func::FuncOp function, const std::vector<Tensor> &inputs,
                                 std::vector<Tensor> &results, uint64_t seed) {
  std::vector<Tensor> leftOut;
  for (const Tensor &result : results)
    if (result.leftOut)
      leftOut.push_back(*result.leftOut);
  if (!leftOut.empty()) {
    LeavingOut leavingOut;
    if (failed(widen(function, inputs, leftOut, seed)))
      return failure();
    for (auto [result, wide] : llvm::zip_equal(results, leftOut))
      result.leftOut = std::make_shared<Tensor>(std::move(wide));
  }
  std::vector<Spread> spreads;
  for (const Tensor &result : results)
    spreads.emplace_back(floatsOf(result));
  for (unsigned sample = 0; sample < numSamples; ++sample) {
    std::mt19937_64 engine(seed + sample);
    Perturbation perturbation([&] { return static_cast<double>(engine()) * 0x1p-63 - 1; });
    FailureOr<std::vector<Tensor>> perturbed = evaluate(function, inputs);
    if (failed(perturbed))
      return failure();
    for (auto [spread, result] : llvm::zip_equal(spreads, *perturbed))
      spread.add(floatsOf(result));
  }
  for (auto [spread, result] : llvm::zip_equal(spreads, results)) {
    if (!result.candidates) {
      spread.widen(result);
      continue;
    }
    auto wide = std::make_shared<Tensor>(*result.candidates);
    spread.widen(*wide);
    result.candidates = std::move(wide);
  }
  return success();
}

} // namespace heed
