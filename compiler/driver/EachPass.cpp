// heed verify --each-pass: which pass is wrong; see EachPass.h.
#include "compiler/driver/EachPass.h"

#include "compiler/driver/Child.h"
#include "compiler/driver/HostTensors.h"
#include "compiler/driver/Oracle.h"
#include "compiler/driver/Reduce.h"
#include "compiler/driver/Stage.h"
#include "compiler/passes/Passes.h"

#include "mlir/Pass/PassRegistry.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace llvm;
using nlohmann::ordered_json;

namespace heed::driver {

namespace {

using ModuleRef = mlir::OwningOpRef<mlir::ModuleOp>;

/// A pass by the numbers of its stage and of itself there.
struct Place {
  unsigned stage, pass;
  bool operator==(const Place &other) const { return stage == other.stage && pass == other.pass; }
};

class EachPass {
public:
  EachPass(Context &context, StringRef file, Build &build, const EachPassOptions &options, Progress &progress)
      : context(context), file(file), build(build), options(options), progress(progress) {}
  void run();

private:
  void begin();
  void runStage(std::unique_ptr<Stage> stage, mlir::ModuleOp module);
  void check(Place place, ModuleRef snapshot);
  void checkCompiled();
  std::optional<Finding> compile(std::optional<Place> without, Closest &closest);
  std::optional<Finding> compileModule(const Build &model, Reference &expected, Closest &closest);
  using Find = function_ref<std::optional<Finding>(mlir::ModuleOp, function_ref<Reference()> interpreted)>;
  ModuleRef reduceWhere(mlir::ModuleOp whole, const Finding &finding, unsigned attempts, Find find);
  ModuleRef reducePasses(const Finding &finding);
  ModuleRef reduceModel(const Finding &finding);
  [[noreturn]] void blame(ArrayRef<Place> places, const Finding &finding, mlir::ModuleOp least,
                          StringRef flags);
  void report(StringRef how, const Closest &closest);
  std::string list(ArrayRef<Place> places);

  Context &context;
  std::string file;
  Build &build;
  const EachPassOptions &options;
  Progress &progress;

  std::vector<std::unique_ptr<Stage>> stages;
  std::vector<ModuleRef> starts; ///< of stages
  ModuleRef good;                ///< what was right last
  std::optional<Reference> reference;
  std::vector<Place> suspects; ///< what changed the module since
  unsigned unchanged = 0;
  ordered_json told = ordered_json::array();
};

} // namespace

/// Whether both modules have the same entries, and the interpreter runs `module` as it does the other.
static bool isComparable(mlir::ModuleOp module, Oracle &like) {
  return !findUnknown(module) && all_of(like.getInterface().entries, [&](const EntryInterface &entry) {
    auto function = module.lookupSymbol<mlir::func::FuncOp>(entry.name);
    return function && function.getFunctionType() == like.getFunction(entry).getFunctionType();
  });
}

/// Runs a case, with what goes wrong as an error and not on the terminal.
static Expected<Answer> interpret(Context &context, Oracle &oracle, const Reference::Case &one) {
  ErrorTaker errors(&*context);
  auto answer = oracle.run(one.entry, one.inputs);
  if (failed(answer))
    return createStringError(errors.get());
  return std::move(*answer);
}

//===--- Passes that the interpreter follows
//------------------------------------------------------------------------------------------===//

void EachPass::begin() {
  if (build.getModule()->hasAttr(Target::versionsName))
    fail("--target", "expected one target to follow through the passes, but got several");
  (*context).disableMultithreading(); // children have one thread
  good = build.getModule().clone();
  if (build.getPhase() == Phase::Graph && options.passes.empty()) { // arguments are the compiled code's
    mlir::PassManager pm(&*context);
    pm.addPass(createPackArguments());
    if (failed(pm.run(*good)))
      context.fail();
  }
  if (mlir::Operation *unknown = findUnknown(*good))
    fail(file,
         "expected operations that the interpreter knows, but got " + unknown->getName().getStringRef());
  progress.step("interpreting the model");
  reference.emplace(context, file, *good, build.getFolder(), options.inputs);
}

void EachPass::runStage(std::unique_ptr<Stage> next, mlir::ModuleOp module) {
  Stage &stage = *next;
  unsigned index = stages.size();
  stages.push_back(std::move(next));
  starts.emplace_back(module.clone());
  progress.step("phase " + stage.getName());
  mlir::OperationFingerPrint last(module);
  std::vector<std::pair<unsigned, ModuleRef>> snapshots;
  auto take = [&](unsigned pass) {
    mlir::OperationFingerPrint now(module);
    if (now == last)
      ++unchanged;
    else
      snapshots.emplace_back(pass, module.clone());
    last = now;
  };
  if (failed(stage.run(module, [](unsigned) { return true; }, take))) {
    errs() << "note: in pass " << stage.nameOf(stage.getLast()) << "\n";
    context.fail();
  }
  for (auto &[pass, snapshot] : snapshots)
    check({index, pass}, std::move(snapshot));
}

void EachPass::check(Place place, ModuleRef snapshot) {
  suspects.push_back(place);
  if (!isComparable(*snapshot, *reference->oracle))
    return;
  progress.step("interpreting after " + list(place));
  auto next = std::make_unique<Oracle>(context, file, *snapshot, build.getFolder(), reference->oracle.get());
  std::vector<Answer> answers;
  Closest closest;
  auto run = [&](const Reference::Case &one) -> Expected<std::vector<Tensor>> {
    Expected<Answer> answer = interpret(context, *next, one);
    if (!answer)
      return answer.takeError();
    answers.push_back(*answer);
    return std::move(answer->results);
  };
  if (std::optional<Finding> finding = reference->compare(run, closest)) {
    std::string pipeline;
    for (Place suspect : suspects)
      pipeline += (pipeline.empty() ? "" : ",") + stages[suspect.stage]->pipelineOf(suspect.pass);
    ModuleRef least = reducePasses(*finding);
    blame(suspects, *finding, least ? *least : *good, "--passes='" + pipeline + "' " + options.plugins);
  }
  report("interpreted", closest);
  good = std::move(snapshot);
  reference->oracle = std::move(next);
  reference->answers = std::move(answers);
}

/// The least of `whole` in which `find` finds something wrong, in at most `attempts`. It gets a candidate
/// and, once it is known, the number of the case that shows it; a failure says that there is nothing to find.
ModuleRef EachPass::reduceWhere(mlir::ModuleOp whole, const Finding &finding, unsigned attempts, Find find) {
  std::optional<unsigned> number;
  auto interpretOne = [&](mlir::ModuleOp candidate) {
    return Reference(context, file, candidate, build.getFolder(), options.inputs, number,
                     reference->oracle.get());
  };
  auto shows = [&](mlir::ModuleOp candidate) {
    try {
      std::optional<Finding> found = find(candidate, [&] { return interpretOne(candidate); });
      if (found && !number)
        number = found->number;
      return found.has_value();
    } catch (const Failure &) {
      return false;
    }
  };
  auto evaluate = [&](mlir::ModuleOp candidate) -> std::optional<std::vector<Tensor>> {
    try {
      return std::move(interpretOne(candidate).answers.front().results);
    } catch (const Failure &) {
      return std::nullopt;
    }
  };
  const Reference::Case &one = reference->cases[finding.number];
  return reduce(whole, one.entry, one.inputs, finding.result,
                reference->answers[finding.number].results[finding.result], {shows, evaluate, attempts});
}

/// The least that the suspects change: what was right last, reduced. They must be of one stage.
ModuleRef EachPass::reducePasses(const Finding &finding) {
  if (suspects.front().stage != suspects.back().stage)
    return nullptr;
  progress.step("reducing what " + list(suspects) + " changes");
  Stage &stage = *stages[suspects.front().stage];
  auto isSuspect = [&](unsigned pass) {
    return pass >= suspects.front().pass && pass <= suspects.back().pass;
  };
  return reduceWhere(*good, finding, 500,
                     [&](mlir::ModuleOp candidate, auto interpreted) -> std::optional<Finding> {
                       ModuleRef changed(candidate.clone());
                       if (findUnknown(candidate) || failed(stage.run(*changed, isSuspect)))
                         return std::nullopt;
                       Reference before = interpreted();
                       if (!isComparable(*changed, *before.oracle))
                         return std::nullopt;
                       Oracle after(context, file, *changed, build.getFolder(), before.oracle.get());
                       Closest closest;
                       return before.compare(
                           [&](const Reference::Case &one) -> Expected<std::vector<Tensor>> {
                             Expected<Answer> answer = interpret(context, after, one);
                             if (!answer)
                               return answer.takeError();
                             return std::move(answer->results);
                           },
                           closest);
                     });
}

//===--- Passes that are compiled
//------------------------------------------------------------------------------------------===//

/// Runs the compiled form of `model`, whose module is consumed.
static std::string runCompiled(Build &model, Reference &expected, int32_t threads) {
  ScratchFolder scratch;
  std::string library = scratch.path("module.so");
  model.write(Kind::SharedLibrary, library);
  LoadedModule compiled(library, "", threads);
  Closest closest;
  auto run = [&](const Reference::Case &one) -> Expected<std::vector<Tensor>> {
    std::vector<Tensor> results;
    for (auto &[name, tensor] :
         callCompiled(compiled, one.entry, expected.oracle->getFunction(one.entry), one.inputs))
      results.push_back(std::move(tensor));
    return results;
  };
  if (std::optional<Finding> finding = expected.compare(run, closest))
    return ordered_json{
        {"number", finding->number}, {"result", finding->result}, {"message", finding->message}}
        .dump();
  return ordered_json{
      {"error", closest.comparison.error}, {"bound", closest.comparison.bound}, {"case", closest.caseName}}
      .dump();
}

/// What a child found, where it did not only fail.
static std::optional<Finding> readFinding(const std::optional<std::string> &line, Closest &closest) {
  if (!line)
    throw Failure("");
  if (StringRef(*line).starts_with("SIGNAL"))
    return Finding{0, 0, "the compiled code ended: " + line->substr(7)};
  ordered_json found = ordered_json::parse(*line);
  if (found.contains("message"))
    return Finding{found["number"], found["result"], found["message"]};
  closest.comparison.error = found["error"];
  closest.comparison.bound = found["bound"];
  closest.caseName = found["case"];
  return std::nullopt;
}

/// Goes on from where the stage of the first suspect began. That it does not compile is a failure.
std::optional<Finding> EachPass::compile(std::optional<Place> without, Closest &closest) {
  auto line = inChild(/*quiet=*/without.has_value(), [&] {
    unsigned first = suspects.front().stage;
    ModuleRef module(starts[first]->clone());
    for (unsigned stage = first; stage < stages.size(); ++stage)
      if (failed(stages[stage]->run(
              *module, [&](unsigned pass) { return !without || !(*without == Place{stage, pass}); })))
        throw Failure("");
    Progress quiet("verify");
    Build compiled(build, std::move(module), Phase::LLVM, quiet);
    return runCompiled(compiled, *reference, options.threads);
  });
  return readFinding(line, closest);
}

void EachPass::checkCompiled() {
  progress.step("running what was compiled");
  Closest closest;
  std::optional<Finding> finding = compile(std::nullopt, closest);
  if (!finding) {
    report("compiled", closest);
    return;
  }
  std::vector<Place> culprits;
  for (Place suspect : suspects)
    try {
      progress.step("leaving out " + list(suspect));
      if (!compile(suspect, closest))
        culprits.push_back(suspect);
    } catch (const Failure &) { // what follows cannot do without it
    }
  ModuleRef least = reduceModel(*finding);
  blame(culprits.empty() ? suspects : culprits, *finding, least ? *least : build.getModule(),
        options.plugins + options.insertions);
}

/// The least of the whole model that is compiled wrongly.
ModuleRef EachPass::reduceModel(const Finding &finding) {
  progress.step("reducing the model");
  return reduceWhere(build.getModule(), finding, 60, [&](mlir::ModuleOp candidate, auto interpreted) {
    Reference expected = interpreted();
    Closest closest;
    auto line = inChild(/*quiet=*/true, [&] {
      Progress quiet("verify");
      Build compiled(build, candidate.clone(), build.getPhase(), quiet);
      return runCompiled(compiled, expected, options.threads);
    });
    return readFinding(line, closest);
  });
}

//===--- What is said
//------------------------------------------------------------------------------------------===//

std::string EachPass::list(ArrayRef<Place> places) {
  auto names = map_range(places, [&](Place place) { return stages[place.stage]->nameOf(place.pass); });
  return join(names, ", ");
}

/// Of the suspects: they are none.
void EachPass::report(StringRef how, const Closest &closest) {
  for (Place place : suspects)
    told.push_back({{"phase", stages[place.stage]->getName()},
                    {"pass", stages[place.stage]->nameOf(place.pass)},
                    {"checked", how.str()},
                    {"with", suspects.size() - 1},
                    {"error", closest.comparison.error},
                    {"bound", closest.comparison.bound}});
  if (!options.json)
    for (Place place : suspects)
      fmt::print("{:<8}{:<40} {}{}\n", stages[place.stage]->getName(),
                 stages[place.stage]->nameOf(place.pass), how.str(),
                 place == suspects.back() ? fmt::format(": error {:.3g} within {:.3g}",
                                                        closest.comparison.error, closest.comparison.bound)
                                          : "");
  suspects.clear();
}

void EachPass::blame(ArrayRef<Place> places, const Finding &finding, mlir::ModuleOp least, StringRef flags) {
  const Reference::Case &one = reference->cases[finding.number];
  std::string path = options.reproducer;
  if (path.empty())
    path = (sys::path::stem(file) + ".wrong.mlir").str();
  std::string text;
  raw_string_ostream os(text);
  os << "// " << (places.size() == 1 ? "" : "One of ") << list(places) << " is wrong here.\n//   heed verify "
     << path << " " << flags << "--seed " << options.inputs.seed << "\n";
  least.print(os);
  os << "\n";
  Outputs outputs;
  outputs.open(path) << text;
  outputs.commit();
  if (!options.json)
    fmt::print("\n{}", text);
  std::fflush(stdout);
  fail(file, (places.size() == 1 ? "" : "one of ") + list(places) + " is wrong: " + one.entry.name + ", " +
                 one.inputs.name + ", seed " + Twine(options.inputs.seed) + ": " + finding.message +
                 "; the least that shows it is in " + path);
}

void EachPass::run() {
  begin();
  ModuleRef module(build.getModule().clone());
  if (!options.passes.empty()) {
    auto add = [&](mlir::OpPassManager &pm) {
      std::string problem;
      raw_string_ostream os(problem);
      if (failed(mlir::parsePassPipeline(options.passes, pm, os)))
        fail("--passes", problem);
    };
    runStage(std::make_unique<Stage>(&*context, "", add), *module);
    if (!suspects.empty())
      fail("--passes",
           "expected passes that end where the interpreter can follow, but cannot after " + list(suspects));
  } else {
    for (unsigned next = static_cast<unsigned>(build.getPhase()) + 1;
         next <= static_cast<unsigned>(Phase::LLVM); ++next) {
      auto phase = static_cast<Phase>(next);
      auto add = [&](mlir::OpPassManager &pm) { build.addPasses(pm, phase); };
      runStage(std::make_unique<Stage>(&*context, phaseName(phase).str(), add), *module);
    }
    checkCompiled();
  }
  if (options.json)
    fmt::print("{}\n", ordered_json{{"seed", options.inputs.seed},
                                    {"cases", reference->cases.size()},
                                    {"passes", told},
                                    {"unchanged", unchanged}}
                           .dump(2));
  else
    fmt::print("verified {} passes on {} cases, seed {}; {} others changed nothing\n", told.size(),
               reference->cases.size(), options.inputs.seed, unchanged);
}

void verifyEachPass(Context &context, StringRef file, Build &build, const EachPassOptions &options,
                    Progress &progress) {
  EachPass(context, file, build, options, progress).run();
}

} // namespace heed::driver
