// The oracle: evaluates a module in double precision, op by op, from the formulas.
//
// It shares nothing with the lowering, so that each can find the other's mistakes. Values are kept in double
// between ops whatever the tensor type: an intermediate may be wider than its type, so only casts round.
// Where one leaves its type's range, all is evaluated again with such as infinite (Tensor::overflown), and
// where NaN meets −inf or a weight of 0, with such pairs left out (Tensor::leftOut). Two things of f32 are
// kept, because they are meaning and not precision: what exceeds its range is infinite, and a NaN propagates
// from every pair that is kept and from none that is not. Beside each value runs the variance of what f32
// code may differ from it (Real.h); Compare.h turns it into a bound.
#pragma once

#include "compiler/interpreter/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <functional>

namespace heed {

/// Gives the tensor of a name, of logical shape, or says why it cannot.
using ParameterSource = std::function<llvm::Expected<Tensor>(llvm::StringRef name)>;

/// The first operation of `module` that the interpreter does not know, or that works on something else than
/// tensors and numbers; null where it can run the module.
mlir::Operation *findUnknown(mlir::ModuleOp module);

class Session;

/// Runs functions of one module in its graph, fused or tiled phase.
class Interpreter {
public:
  /// `parameters` is asked once per name. The module must outlive the interpreter and not change.
  explicit Interpreter(mlir::ModuleOp module, ParameterSource parameters = nullptr);
  ~Interpreter();

  /// Results of `function` on `inputs`, one tensor per argument; scalars are tensors of rank 0. Bad data,
  /// such as an id outside its table or sizes that do not agree, is a diagnostic at the op that meets it, and
  /// failure.
  mlir::FailureOr<std::vector<Tensor>> run(mlir::func::FuncOp function, const std::vector<Tensor> &inputs);
  mlir::FailureOr<std::vector<Tensor>> run(llvm::StringRef function, const std::vector<Tensor> &inputs);

  /// Makes the variances of `results`, which `run` gave for `inputs`, at least those of runs in which every
  /// rounding error is made at random. Errors count as independent where variances are added up; but one of
  /// an attention weight moves a whole row in one direction, to which the weights of a trained model may
  /// listen.
  mlir::LogicalResult widen(mlir::func::FuncOp function, const std::vector<Tensor> &inputs,
                            std::vector<Tensor> &results, uint64_t seed);

  /// Pairs of a query and a key whose score the runs so far computed in tiles.
  int64_t getVisitedPairs() const;

private:
  mlir::FailureOr<std::vector<Tensor>> evaluate(mlir::func::FuncOp function, std::vector<Tensor> inputs);

  std::unique_ptr<Session> session;
};

} // namespace heed
