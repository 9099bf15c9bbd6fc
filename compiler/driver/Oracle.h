// The interpreter of one module, with its parameters and inputs, as verify needs it.
#pragma once

#include "compiler/driver/Driver.h"
#include "compiler/import/Safetensors.h"
#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/Inputs.h"
#include "compiler/interpreter/Interpreter.h"

#include "mlir/IR/Diagnostics.h"

#include <memory>
#include <optional>

namespace heed::driver {

/// What an entry should give for one case.
struct Answer {
  std::vector<Tensor> results;
  bool isWide = false; ///< its bounds count errors that elements share
};

/// How close results came to their bounds over several cases.
struct Closest {
  Comparison comparison;
  std::string caseName;
  int64_t cases = 0;

  void add(const Comparison &other, llvm::StringRef name);
};

/// Cases for an entry; that there are none is a failure.
std::vector<InputCase> makeCases(llvm::StringRef file, const EntryInterface &entry,
                                 const InputOptions &options);

/// Runs a module that the interpreter knows.
class Oracle {
public:
  /// `module` is copied. `folder`: what its names of weights are relative to. `like`: an oracle of the same
  /// model, whose parameters are taken where it has them all.
  Oracle(Context &context, llvm::StringRef file, mlir::ModuleOp module, llvm::StringRef folder,
         const Oracle *like = nullptr);
  ~Oracle();

  const ModuleInterface &getInterface() const { return interface; }
  mlir::func::FuncOp getFunction(const EntryInterface &entry);

  /// Errors are reported as the interpreter does.
  mlir::FailureOr<Answer> run(const EntryInterface &entry, const InputCase &one);
  /// Compares one result of other code with `answer`, which `run` gave for `one`. Before something is called
  /// wrong, errors that several elements share are counted as such, for which `rerun` is told.
  Comparison compare(
      const EntryInterface &entry, const InputCase &one, Answer &answer, unsigned result,
      const Tensor &computed, uint64_t seed, llvm::function_ref<void()> rerun = [] {});

private:
  struct Parameters;

  llvm::Expected<Tensor> findParameter(llvm::StringRef name);

  Context &context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ModuleInterface interface;
  std::shared_ptr<Parameters> parameters; ///< null: none
  Interpreter interpreter;
};

/// A result of a case that is not as it should be.
struct Finding {
  unsigned number, result; ///< of the case, and of the result among its entry's
  std::string message;
};

/// The answers of a module to all its cases, with which other code is compared.
struct Reference {
  struct Case {
    EntryInterface entry;
    InputCase inputs;
  };
  using Run = llvm::function_ref<llvm::Expected<std::vector<Tensor>>(const Case &)>;

  /// `only`: the case of this number, as far as there are so many.
  Reference(Context &context, llvm::StringRef file, mlir::ModuleOp module, llvm::StringRef folder,
            const InputOptions &options, std::optional<unsigned> only = std::nullopt,
            const Oracle *like = nullptr);
  /// The first result of `run` that is not as it should be.
  std::optional<Finding> compare(Run run, Closest &closest);

  std::unique_ptr<Oracle> oracle;
  uint64_t seed;
  std::vector<Case> cases;
  std::vector<Answer> answers; ///< one for each case
};

/// While it lives, errors are not printed but kept.
class ErrorTaker {
public:
  explicit ErrorTaker(mlir::MLIRContext *context);
  /// The first one; empty: none.
  const std::string &get() const { return *first; }

private:
  std::shared_ptr<std::string> first = std::make_shared<std::string>();
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace heed::driver
