// heed verify: compiles a model, runs it, and compares it with the interpreter.
#include "compiler/driver/Build.h"
#include "compiler/driver/HostTensors.h"

#include "compiler/import/ParameterImage.h"
#include "compiler/import/ParameterSources.h"
#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/Inputs.h"
#include "compiler/interpreter/Interpreter.h"
#include "compiler/passes/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <random>

using namespace llvm;

namespace heed::driver {

namespace {

/// How close one output of an entry came to its bound over all cases.
struct Closest {
  Comparison comparison;
  std::string caseName;
  int64_t cases = 0;
};

struct VerifyOptions {
  std::string model;
  BuildOptions build;
  std::optional<uint64_t> seed;
  int64_t maxSize = 65;
  unsigned runs = 0;
  int32_t threads = 2;
  bool json = false;
};

class Verify {
public:
  explicit Verify(const VerifyOptions &options)
      : options(options), model(options.model), seed(options.seed ? *options.seed : std::random_device()()) {}
  void run();

private:
  void verifyEntry(const EntryInterface &entry, const LoadedModule &compiled);
  void verifyCase(const EntryInterface &entry, const LoadedModule &compiled, const InputCase &one);
  void loadParameters(Build &build, const ScratchFolder &scratch);
  Expected<Tensor> findParameter(StringRef name);
  void print() const;

  const VerifyOptions &options;
  const std::string &model;
  uint64_t seed;
  Context context;
  Progress progress{"verify"};
  mlir::OwningOpRef<mlir::ModuleOp> graph; ///< what the interpreter runs
  std::optional<SafetensorsFile> parameters;
  std::unique_ptr<Interpreter> oracle;
  std::map<std::pair<std::string, std::string>, Closest> closest; ///< by entry and output
  int64_t cases = 0;
};

} // namespace

void Verify::run() {
  ScratchFolder scratch;
  Build build(context, model, options.build, progress);
  if (build.getPhase() > Phase::Tiled)
    fail(model,
         "expected a module in phase graph, fused or tiled, which the interpreter runs, but it is in " +
             phaseName(build.getPhase()));
  graph = build.getModule().clone();
  if (build.getPhase() == Phase::Graph) { // so that both take arguments of the same shapes
    mlir::PassManager pm(&*context);
    pm.addPass(createPackArguments());
    if (failed(pm.run(*graph)))
      context.fail();
  }
  loadParameters(build, scratch);
  std::string library = scratch.path("module.so");
  build.write(Kind::SharedLibrary, library);
  auto interface = ModuleInterface::get(build.getModule());
  if (failed(interface))
    context.fail();

  oracle = std::make_unique<Interpreter>(*graph, [this](StringRef name) { return findParameter(name); });
  LoadedModule compiled(library, "", options.threads);
  for (const EntryInterface &entry : interface->entries)
    verifyEntry(entry, compiled);
  print();
}

/// The oracle reads logical tensors: an image of its own phase, without the panels of the compiled one.
void Verify::loadParameters(Build &build, const ScratchFolder &scratch) {
  mlir::OwningOpRef<mlir::ModuleOp> described(graph->clone());
  mlir::PassManager pm(&*context);
  if (build.getPhase() == Phase::Graph)
    pm.addPass(createDescribeInterface());
  pm.addPass(createLayOutParameters());
  if (failed(pm.run(*described)))
    context.fail();
  auto interface = ModuleInterface::get(*described);
  if (failed(interface))
    context.fail();
  if (interface->parameters.empty())
    return;
  std::string path = scratch.path("oracle.safetensors");
  Checkpoint source = unwrap(model, openParameters(*described, build.getFolder()));
  Outputs outputs;
  check(model, writeParameterImage(*described, source, outputs.open(path)));
  outputs.commit();
  parameters = unwrap(SafetensorsFile::open(path));
}

Expected<Tensor> Verify::findParameter(StringRef name) {
  const StoredTensor *stored = parameters ? parameters->find(name) : nullptr;
  if (!stored)
    return createStringError("expected a parameter " + name + ", but there is none");
  return readTensor(&*context, stored->type, stored->shape, parameters->getData(*stored).data());
}

void Verify::verifyEntry(const EntryInterface &entry, const LoadedModule &compiled) {
  InputOptions inputs;
  inputs.seed = seed;
  inputs.maxSize = options.maxSize;
  inputs.count = options.runs;
  std::vector<InputCase> all = makeInputCases(entry, inputs);
  if (all.empty())
    fail(model, "expected sizes up to " + Twine(options.maxSize) + " that obey what " + entry.name +
                    " requires, but there are none");
  for (const auto &[number, one] : llvm::enumerate(all)) {
    progress.step(entry.name + ", case " + Twine(number + 1) + " of " + Twine(all.size()) + ": " + one.name);
    verifyCase(entry, compiled, one);
  }
}

void Verify::verifyCase(const EntryInterface &entry, const LoadedModule &compiled, const InputCase &one) {
  auto function = graph->lookupSymbol<mlir::func::FuncOp>(entry.name);
  auto expected = oracle->run(function, one.inputs);
  if (failed(expected))
    context.fail();

  // A state is both: it comes last among the inputs, and its new value is the result it is tied to.
  std::map<std::string, HostTensor> inputs;
  std::map<unsigned, std::string> stateOfResult;
  for (const auto &[number, tensor] : llvm::enumerate(one.inputs)) {
    const ArgumentInterface &argument = entry.arguments[number];
    if (!one.absent[number])
      inputs.emplace(argument.name, toHost(tensor));
    if (auto tied = function.getArgAttrOfType<mlir::IntegerAttr>(number, "attn.state"))
      stateOfResult[tied.getInt()] = argument.name;
  }
  const heed_entry &found = compiled.findEntry(entry.name);
  Call call(compiled, found, std::move(inputs), one.sizes);
  call.run(compiled.context());
  ++cases;

  bool isWide = false;
  auto compareWith = [&](const Tensor &tensor, const Tensor &computed) {
    Comparison comparison = compare(tensor, computed);
    if (comparison.ok || isWide)
      return comparison;
    // Before something is called wrong, errors that several elements share are counted as such.
    progress.step(entry.name + ": the oracle again, with its roundings perturbed");
    if (failed(oracle->widen(function, one.inputs, *expected, seed)))
      context.fail();
    isWide = true;
    return compare(tensor, computed);
  };
  int32_t output = one.inputs.size();
  for (const auto &[number, tensor] : llvm::enumerate(*expected)) {
    auto state = stateOfResult.find(number);
    int32_t argument =
        state == stateOfResult.end() ? output++ : heed_find_argument(&found, state->second.c_str());
    Tensor computed = fromHost(tensor.elementType, *call.argument(argument));
    Comparison comparison = compareWith(tensor, computed);
    std::string name = found.arguments[argument]->name;
    if (!comparison.ok)
      fail(model,
           entry.name + ": " + name + ", " + one.name + ", seed " + Twine(seed) + ": " + comparison.message);
    Closest &best = closest[{entry.name, name}];
    ++best.cases;
    auto ratio = [](const Comparison &c) { return c.bound > 0 ? c.error / c.bound : 0; };
    if (best.cases == 1 || ratio(comparison) > ratio(best.comparison)) {
      best.comparison = comparison;
      best.caseName = one.name;
    }
  }
}

void Verify::print() const {
  if (options.json) {
    nlohmann::ordered_json root = {{"seed", seed}, {"cases", cases}};
    for (const auto &[key, best] : closest)
      root["outputs"].push_back({{"entry", key.first},
                                 {"name", key.second},
                                 {"error", best.comparison.error},
                                 {"bound", best.comparison.bound},
                                 {"case", best.caseName}});
    fmt::print("{}\n", root.dump(2));
    return;
  }
  for (const auto &[key, best] : closest)
    fmt::print("{}.{}: error {:.3g} within {:.3g}, closest of {} cases: {}\n", key.first, key.second,
               best.comparison.error, best.comparison.bound, best.cases, best.caseName);
  fmt::print("verified {} cases, seed {}\n", cases, seed);
}

void addVerify(CLI::App &app) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App *command = app.add_subcommand("verify", "Compile a model and compare it with the interpreter");
  command->add_option("MODEL", options->model, "An .mlir file or a Hugging Face folder")->required();
  options->build.addFlags(*command, /*artifact=*/false);
  command->add_option("--seed", options->seed, "Of the inputs [another one each time]");
  command->add_option("--runs", options->runs, "At most this many cases an entry [all]");
  command->add_option("--max-size", options->maxSize, "No dynamic size is larger [65]")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--threads", options->threads, "Threads of the compiled code [2]")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example:\n  heed verify attention.mlir --target=native --seed 1");
  command->callback([options] { Verify(*options).run(); });
}

} // namespace heed::driver
