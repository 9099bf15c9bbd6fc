// heed verify: compiles a model, runs it, and compares it with the interpreter.
#include "compiler/driver/EachPass.h"
#include "compiler/driver/HostTensors.h"
#include "compiler/driver/Oracle.h"
#include "compiler/passes/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <random>

using namespace llvm;

namespace heed::driver {

namespace {

struct VerifyOptions {
  std::string model, passes, reproducer;
  BuildOptions build;
  std::optional<uint64_t> seed;
  int64_t maxSize = 65;
  unsigned runs = 0;
  int32_t threads = 2;
  bool eachPass = false;
  bool json = false;
};

class Verify {
public:
  explicit Verify(const VerifyOptions &options)
      : options(options), model(options.model), seed(options.seed ? *options.seed : std::random_device()()) {}
  void run();

private:
  void verifyEntry(Oracle &oracle, const EntryInterface &entry, const LoadedModule &compiled);
  void verifyCase(Oracle &oracle, const EntryInterface &entry, const LoadedModule &compiled,
                  const InputCase &one);
  void print() const;

  const VerifyOptions &options;
  const std::string &model;
  uint64_t seed;
  Context context;
  Progress progress{"verify"};
  InputOptions inputs;
  std::map<std::pair<std::string, std::string>, Closest> closest; ///< by entry and output
  int64_t cases = 0, unbounded = 0;
};

} // namespace

void Verify::run() {
  inputs.seed = seed;
  inputs.maxSize = options.maxSize;
  inputs.count = options.runs;
  Build build(context, model, options.build, progress);
  if (build.getPhase() > Phase::Tiled)
    fail(model,
         "expected a module in phase graph, fused or tiled, which the interpreter runs, but it is in " +
             phaseName(build.getPhase()));
  if (options.eachPass || !options.passes.empty()) {
    EachPassOptions each{inputs, options.threads, options.passes, options.reproducer, {}, {}, options.json};
    for (const std::string &plugin : options.build.dialectPlugins)
      each.plugins += "--load-dialect-plugin=" + plugin + " ";
    for (const std::string &plugin : options.build.passPlugins)
      each.plugins += "--load-pass-plugin=" + plugin + " ";
    for (const std::string &insertion : options.build.insertions)
      each.insertions += "--insert='" + insertion + "' ";
    verifyEachPass(context, model, build, each, progress);
    return;
  }
  mlir::OwningOpRef<mlir::ModuleOp> graph(build.getModule().clone());
  if (build.getPhase() == Phase::Graph) { // so that both take arguments of the same shapes
    mlir::PassManager pm(&*context);
    pm.addPass(createPackArguments());
    if (failed(pm.run(*graph)))
      context.fail();
  }
  Oracle oracle(context, model, *graph, build.getFolder());
  ScratchFolder scratch;
  std::string library = scratch.path("module.so");
  build.write(Kind::SharedLibrary, library);
  LoadedModule compiled(library, "", options.threads);
  for (const EntryInterface &entry : oracle.getInterface().entries)
    verifyEntry(oracle, entry, compiled);
  print();
}

void Verify::verifyEntry(Oracle &oracle, const EntryInterface &entry, const LoadedModule &compiled) {
  std::vector<InputCase> all = makeCases(model, entry, inputs);
  for (const auto &[number, one] : llvm::enumerate(all)) {
    progress.step(entry.name + ", case " + Twine(number + 1) + " of " + Twine(all.size()) + ": " + one.name);
    verifyCase(oracle, entry, compiled, one);
  }
}

void Verify::verifyCase(Oracle &oracle, const EntryInterface &entry, const LoadedModule &compiled,
                        const InputCase &one) {
  auto expected = oracle.run(entry, one);
  if (failed(expected))
    context.fail();
  auto computed = callCompiled(compiled, entry, oracle.getFunction(entry), one);
  ++cases;
  for (const auto &[number, result] : llvm::enumerate(computed)) {
    const auto &[name, tensor] = result;
    Comparison comparison = oracle.compare(entry, one, *expected, number, tensor, seed, [&] {
      progress.step(entry.name + ": the oracle again, with its roundings perturbed");
    });
    if (!comparison.ok)
      fail(model,
           entry.name + ": " + name + ", " + one.name + ", seed " + Twine(seed) + ": " + comparison.message);
    closest[{entry.name, name}].add(comparison, one.name);
    unbounded += comparison.unbounded;
  }
}

void Verify::print() const {
  if (options.json) {
    nlohmann::ordered_json root = {{"seed", seed}, {"cases", cases}, {"unbounded", unbounded}};
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
  fmt::print("verified {} cases, seed {}", cases, seed);
  if (unbounded)
    fmt::print("; {} elements not compared, for some order of summation overflows", unbounded);
  fmt::print("\n");
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
  command->add_flag(
      "--each-pass", options->eachPass,
      "Interpret the module before and after every pass, and compile it from where the interpreter "
      "does not know it; name the pass that is wrong");
  command->add_option("--passes", options->passes, "Interpret before and after these passes alone");
  command
      ->add_option("--reproducer", options->reproducer,
                   "Where the least that shows a wrong pass is left [MODEL.wrong.mlir]")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example:\n  heed verify attention.mlir --target=native --seed 1");
  command->callback([options] { Verify(*options).run(); });
}

} // namespace heed::driver
