// What the interpreter's tests share: parse a module, run it, look at tensors and diagnostics.
#pragma once

#include "compiler/Dialects.h"
#include "compiler/interpreter/Interpreter.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <map>

namespace heed {

inline mlir::MLIRContext &testContext() {
  static mlir::MLIRContext *context = [] {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
  }();
  return *context;
}

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

inline mlir::Type typeOf(llvm::StringRef text) { return mlir::parseType(text, &testContext()); }
inline Tensor f32(llvm::ArrayRef<int64_t> shape, std::vector<double> values) {
  return Tensor::ofFloats(mlir::Float32Type::get(&testContext()), shape, std::move(values));
}
inline Tensor f16(llvm::ArrayRef<int64_t> shape, std::vector<double> values) {
  return Tensor::ofFloats(mlir::Float16Type::get(&testContext()), shape, std::move(values));
}
inline Tensor i64(llvm::ArrayRef<int64_t> shape, std::vector<int64_t> values) {
  return Tensor::ofIntegers(mlir::IntegerType::get(&testContext(), 64), shape, std::move(values));
}
inline Tensor index(int64_t value) {
  return Tensor::ofIntegers(mlir::IndexType::get(&testContext()), {}, {value});
}

using Parameters = std::map<std::string, Tensor>;

/// What became of a run: results, or the diagnostics.
struct Outcome {
  std::vector<Tensor> results;
  std::string errors;

  const Tensor &operator[](size_t number) const {
    static const Tensor none;
    EXPECT_LT(number, results.size()) << errors;
    return number < results.size() ? results[number] : none;
  }
};

/// Runs @f of `source`.
inline Outcome interpret(llvm::StringRef source, std::vector<Tensor> inputs,
                         const Parameters &parameters = {}) {
  Outcome outcome;
  mlir::ScopedDiagnosticHandler handler(&testContext(), [&](mlir::Diagnostic &diagnostic) {
    outcome.errors += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &testContext());
  if (!module)
    return outcome;
  Interpreter interpreter(*module, [&](llvm::StringRef name) -> llvm::Expected<Tensor> {
    auto found = parameters.find(name.str());
    if (found == parameters.end())
      return llvm::createStringError("expected parameter \"" + name + "\", but there is none");
    return found->second;
  });
  auto results = interpreter.run("f", std::move(inputs));
  if (mlir::succeeded(results))
    outcome.results = std::move(*results);
  return outcome;
}

/// Whether shape and values agree, with NaN equal to NaN and zeros told apart by sign when `tolerance` is 0.
inline testing::AssertionResult holds(const Tensor &tensor, llvm::ArrayRef<int64_t> shape,
                                      const std::vector<double> &values, double tolerance = 0) {
  if (llvm::ArrayRef<int64_t>(tensor.shape) != shape || tensor.values.size() != values.size())
    return testing::AssertionFailure() << "shape is " << showShape(tensor.shape);
  for (size_t i = 0; i < values.size(); ++i) {
    double expected = values[i], actual = tensor.values[i];
    bool same = std::isnan(expected) ? std::isnan(actual)
                                     : expected == actual && std::signbit(expected) == std::signbit(actual);
    if (!same && !(tolerance > 0 && std::fabs(expected - actual) <= tolerance))
      return testing::AssertionFailure() << "element " << i << " is " << actual << ", not " << expected;
  }
  return testing::AssertionSuccess();
}
/// A template, so that a braced list means floats.
template <class T>
std::enable_if_t<std::is_same_v<T, std::vector<int64_t>>, testing::AssertionResult>
holds(const Tensor &tensor, llvm::ArrayRef<int64_t> shape, const T &values) {
  if (llvm::ArrayRef<int64_t>(tensor.shape) != shape || tensor.integers != values)
    return testing::AssertionFailure()
           << "shape is " << showShape(tensor.shape) << ", values " << showShape(tensor.integers);
  return testing::AssertionSuccess();
}

} // namespace heed
