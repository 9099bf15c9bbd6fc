// The interpreter of one module with its parameters; see Oracle.h.
#include "compiler/driver/Oracle.h"

#include "compiler/driver/HostTensors.h"
#include "compiler/import/ParameterImage.h"
#include "compiler/import/ParameterSources.h"
#include "compiler/passes/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace llvm;

namespace heed::driver {

void Closest::add(const Comparison &other, StringRef name) {
  auto ratio = [](const Comparison &c) { return c.bound > 0 ? c.error / c.bound : 0; };
  if (cases++ && ratio(other) <= ratio(comparison))
    return;
  comparison = other;
  caseName = name.str();
}

std::vector<InputCase> makeCases(StringRef file, const EntryInterface &entry, const InputOptions &options) {
  std::vector<InputCase> cases = makeInputCases(entry, options);
  if (cases.empty())
    fail(file, "expected sizes up to " + Twine(options.maxSize) + " that obey what " + entry.name +
                   " requires, but there are none");
  return cases;
}

/// An image of its own phase, with logical tensors where the compiled module has panels.
struct Oracle::Parameters {
  mlir::Attribute files, recipe;
  ScratchFolder scratch;
  std::optional<SafetensorsFile> image;
};

Oracle::Oracle(Context &context, StringRef file, mlir::ModuleOp original, StringRef folder,
               const Oracle *like)
    : context(context), module(original.clone()),
      interpreter(*module, [this](StringRef name) { return findParameter(name); }) {
  mlir::OwningOpRef<mlir::ModuleOp> described(original.clone());
  mlir::PassManager pm(&*context);
  if (!original->hasAttr(ModuleInterface::attributeName))
    pm.addPass(createDescribeInterface());
  pm.addPass(createLayOutParameters());
  if (failed(pm.run(*described)))
    context.fail();
  auto read = ModuleInterface::get(*described);
  if (failed(read))
    context.fail();
  interface = std::move(*read);
  if (interface.parameters.empty())
    return;

  mlir::Attribute files = (*described)->getAttr("heed.params"), recipe = (*described)->getAttr("heed.recipe");
  auto isThere = [&](const ParameterInterface &one) {
    const StoredTensor *stored = like->parameters->image->find(one.name);
    return stored && ArrayRef(stored->shape) == ArrayRef(one.shape) && stored->bytes == one.bytes;
  };
  if (like && like->parameters && like->parameters->files == files && like->parameters->recipe == recipe &&
      all_of(interface.parameters, isThere)) {
    parameters = like->parameters;
    return;
  }
  parameters = std::make_shared<Parameters>();
  parameters->files = files;
  parameters->recipe = recipe;
  std::string path = parameters->scratch.path("oracle.safetensors");
  Checkpoint source = unwrap(file, openParameters(*described, folder));
  Outputs outputs;
  check(file, writeParameterImage(*described, source, outputs.open(path)));
  outputs.commit();
  parameters->image = unwrap(SafetensorsFile::open(path));
}

Oracle::~Oracle() = default;

Expected<Tensor> Oracle::findParameter(StringRef name) {
  const StoredTensor *stored = parameters ? parameters->image->find(name) : nullptr;
  if (!stored)
    return createStringError("expected a parameter " + name + ", but there is none");
  return readTensor(&*context, stored->type, stored->shape, parameters->image->getData(*stored).data());
}

mlir::func::FuncOp Oracle::getFunction(const EntryInterface &entry) {
  return module->lookupSymbol<mlir::func::FuncOp>(entry.name);
}

mlir::FailureOr<Answer> Oracle::run(const EntryInterface &entry, const InputCase &one) {
  auto results = interpreter.run(getFunction(entry), one.inputs);
  if (failed(results))
    return mlir::failure();
  return Answer{std::move(*results)};
}

Comparison Oracle::compare(const EntryInterface &entry, const InputCase &one, Answer &answer, unsigned result,
                           const Tensor &computed, uint64_t seed, function_ref<void()> rerun) {
  Comparison comparison = heed::compare(answer.results[result], computed);
  if (comparison.ok || answer.isWide)
    return comparison;
  rerun();
  if (failed(interpreter.widen(getFunction(entry), one.inputs, answer.results, seed)))
    context.fail();
  answer.isWide = true;
  return heed::compare(answer.results[result], computed);
}

Reference::Reference(Context &context, StringRef file, mlir::ModuleOp module, StringRef folder,
                     const InputOptions &options, std::optional<unsigned> only, const Oracle *like)
    : oracle(std::make_unique<Oracle>(context, file, module, folder, like)), seed(options.seed) {
  for (const EntryInterface &entry : oracle->getInterface().entries)
    for (InputCase &one : makeCases(file, entry, options))
      cases.push_back({entry, std::move(one)});
  if (only) {
    std::swap(cases.front(), cases[std::min<size_t>(*only, cases.size() - 1)]);
    cases.resize(1);
  }
  for (const Case &one : cases) {
    auto answer = oracle->run(one.entry, one.inputs);
    if (failed(answer))
      context.fail();
    answers.push_back(std::move(*answer));
  }
}

std::optional<Finding> Reference::compare(Run run, Closest &closest) {
  for (unsigned number = 0; number < cases.size(); ++number) {
    const Case &one = cases[number];
    Expected<std::vector<Tensor>> results = run(one);
    if (!results)
      return Finding{number, 0, toString(results.takeError())};
    for (const auto &[result, tensor] : enumerate(*results)) {
      Comparison comparison = oracle->compare(one.entry, one.inputs, answers[number], result, tensor, seed);
      if (!comparison.ok)
        return Finding{number, unsigned(result), comparison.message};
      closest.add(comparison, one.inputs.name);
    }
  }
  return std::nullopt;
}

ErrorTaker::ErrorTaker(mlir::MLIRContext *context)
    : handler(context, [first = first](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && first->empty())
          *first = diagnostic.str();
        return mlir::success();
      }) {}

} // namespace heed::driver
