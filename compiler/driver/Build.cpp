// From a model to an artifact; see Build.h.
#include "compiler/driver/Build.h"

#include "compiler/import/Safetensors.h"
#include "runtime/heed_kernel.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heed::driver {

void BuildOptions::addFlags(CLI::App &command, bool artifact) {
  command.add_option(
      "--target", target,
      "x86-64, x86-64-v2, x86-64-v3, x86-64-v4, aarch64, native or TRIPLE:CPU [x86-64-v3]; or several "
      "of one architecture, comma between: a machine takes the last that it can run");
  command.add_option("--entry", entries, "Keep only this entry; may be repeated");
  command.add_option("--params", parameterFiles, "Take weights from this file instead of the model's")
      ->type_name("FILE");
  command.add_option("--contracts", contracts, "on, or off for callers who checked sizes and data [on]");
  command.add_option("--instrument", instrument,
                     "address, memory or thread: a sanitizer watches emitted code [none]");
  command.add_flag("-g", lines, "Map instructions to lines of the model");
  command.add_option("--load-dialect-plugin", dialectPlugins, "Load operations of your own; may be repeated")
      ->type_name("FILE");
  command.add_option("--load-pass-plugin", passPlugins, "Load passes of your own; may be repeated")
      ->type_name("FILE");
  command.add_option("--insert", insertions, "Run these passes as the last that lead to a phase")
      ->type_name("PHASE:PASSES");
  if (!artifact)
    return;
  command.add_flag("--embed-params", embedParameters, "Make the parameters part of the code");
  limits.addFlags(command);
}

/// The targets of a list. A part that begins with + or − is a feature of the target before it.
static std::vector<std::string> splitTargets(StringRef list) {
  std::vector<std::string> targets;
  for (StringRef part : split(list, ','))
    if (!targets.empty() && (part.starts_with("+") || part.starts_with("-")))
      targets.back() += ("," + part).str();
    else
      targets.push_back(part.str());
  return targets;
}

/// Makes operations and passes of others known, and heed's passes by name.
static void loadPlugins(Context &context, const BuildOptions &options) {
  for (const std::string &path : options.dialectPlugins) {
    mlir::DialectPlugin plugin = unwrap(mlir::DialectPlugin::load(path));
    mlir::DialectRegistry registry;
    plugin.registerDialectRegistryCallbacks(registry);
    (*context).appendDialectRegistry(registry);
  }
  for (const std::string &path : options.passPlugins)
    unwrap(mlir::PassPlugin::load(path)).registerPassRegistryCallbacks();
  registerPasses();
  mlir::registerTransformsPasses();
}

Build::Build(Context &context, StringRef model, BuildOptions given, Progress &progress)
    : context(context), file(model), options(std::move(given)), progress(progress) {
  std::vector<std::string> targets = splitTargets(options.target.value_or(""));
  if (targets.size() > 1)
    options.target = targets.front();
  loadPlugins(context, options);
  progress.step("reading " + model);
  module = loadModel(context, model);
  folder = sys::fs::is_directory(model) ? model.str() : sys::path::parent_path(model).str();
  if (!options.parameterFiles.empty()) {
    SmallVector<mlir::Attribute> names;
    for (const std::string &name : options.parameterFiles)
      names.push_back(mlir::StringAttr::get(&*context, relativePath(name, folder)));
    (*module)->setAttr("heed.params", mlir::ArrayAttr::get(&*context, names));
  }
  settle();
  settleInsertions();
  if (!options.entries.empty())
    keepEntries();
  for (const std::string &target : ArrayRef(targets).drop_front())
    addVersion(target);
}

void Build::addVersion(const std::string &name) {
  BuildOptions other = options;
  other.target = name;
  other.remarks = false;        // said once
  other.dialectPlugins.clear(); // loaded once
  other.passPlugins.clear();
  versions.push_back(std::make_unique<Build>(context, file, std::move(other), progress));
  const Target &added = versions.back()->target;
  if (added.triple != target.triple)
    fail("--target", "expected targets of one architecture, but got " + target.name + " and " + added.name);
  auto recorded = dyn_cast_or_null<mlir::StringAttr>((*module)->getAttr(Target::versionsName));
  std::string names = (recorded ? recorded.str() : target.name) + "," + added.name;
  (*module)->setAttr(Target::versionsName, mlir::StringAttr::get(&*context, names));
}

Build::Build(const Build &like, mlir::OwningOpRef<mlir::ModuleOp> module, Phase phase, Progress &progress)
    : context(like.context), file(like.file), folder(like.folder), options(like.options), progress(progress),
      module(std::move(module)), target(like.target), instrument(like.instrument),
      insertions(like.insertions) {
  settle(); // a copy may have lost what was settled
  this->phase = phase;
}

/// The value of a flag: what the module was made with, which the flag may only repeat, or what was given.
static std::string agree(mlir::ModuleOp module, StringRef file, StringRef flag,
                         const std::optional<std::string> &given, StringRef fallback) {
  std::string attribute = ("heed." + flag).str();
  std::string value = given.value_or(fallback.str());
  if (mlir::Attribute recorded = module->getAttr(attribute)) {
    auto text = dyn_cast<mlir::StringAttr>(recorded);
    if (!text)
      fail(file, "expected " + attribute + " to be a string");
    if (given && *given != text.getValue())
      fail(file, "expected --" + flag + "=" + text.getValue() +
                     ", with which this module was made, but got --" + flag + "=" + *given);
    value = text.str();
  }
  module->setAttr(attribute, mlir::StringAttr::get(module.getContext(), value));
  return value;
}

void Build::settle() {
  mlir::MLIRContext *mlir = &*context;
  if (auto recorded = (*module)->getAttr("heed.phase")) {
    auto text = dyn_cast<mlir::StringAttr>(recorded);
    std::optional<Phase> known = text ? parsePhase(text) : std::nullopt;
    if (!known)
      fail(file, "expected heed.phase to name a phase");
    phase = *known;
  }
  auto abi = mlir::IntegerAttr::get(mlir::IntegerType::get(mlir, 64), HEED_ABI_VERSION);
  if (auto recorded = (*module)->getAttr("heed.abi"); recorded && recorded != abi)
    fail(file,
         "expected heed.abi = " + Twine(HEED_ABI_VERSION) + ", but this module was made by another heed");
  (*module)->setAttr("heed.abi", abi);

  std::optional<std::string> given = options.target;
  if (given)
    given = unwrap("--target", Target::parse(*given)).name; // native under its own name
  target = unwrap(file, Target::parse(agree(*module, file, "target", given, Target::defaultName)));

  std::string contracts = agree(*module, file, "contracts", options.contracts, "on");
  if (contracts != "on" && contracts != "off")
    fail("--contracts", "expected on or off, but got " + contracts);
  std::string name = agree(*module, file, "instrument", options.instrument, "none");
  if (std::optional<Instrument> known = parseInstrument(name))
    instrument = *known;
  else
    fail("--instrument", "expected address, memory, thread or none, but got " + name);
  if (options.embedParameters)
    (*module)->setAttr("heed.embed_params", mlir::UnitAttr::get(mlir));
}

void Build::settleInsertions() {
  for (StringRef insertion : options.insertions) {
    auto [name, passes] = insertion.split(':');
    std::optional<Phase> where = parsePhase(name);
    if (!where || *where <= phase)
      fail("--insert", "expected a phase after " + phaseName(phase) +
                           ", where this module is, and its passes, "
                           "as in buffer:canonicalize, but got " +
                           insertion);
    std::string problem;
    raw_string_ostream os(problem);
    mlir::PassManager pm(&*context, mlir::ModuleOp::getOperationName(), mlir::PassManager::Nesting::Implicit);
    if (failed(mlir::parsePassPipeline(passes, pm, os)))
      fail("--insert=" + insertion, "expected passes, but got: " + problem);
    insertions.emplace_back(*where, passes);
  }
}

/// The other entries become private, so that what only they use is dropped.
void Build::keepEntries() {
  if (phase != Phase::Graph)
    fail(file, "expected --entry with a module in phase graph, but it is in phase " + phaseName(phase));
  SmallVector<StringRef> found;
  for (auto function : module->getOps<mlir::FunctionOpInterface>()) {
    if (!function.isPublic())
      continue;
    found.push_back(function.getName());
    if (!is_contained(options.entries, function.getName()))
      function.setPrivate();
  }
  for (const std::string &entry : options.entries)
    if (!is_contained(found, StringRef(entry)))
      fail(file, "expected --entry to be one of " + join(found, ", ") + ", but got " + entry);
  mlir::PassManager pm(&*context);
  pm.addPass(mlir::createSymbolDCEPass());
  if (failed(pm.run(*module)))
    context.fail();
}

void Build::addPasses(mlir::OpPassManager &pm, Phase to) const {
  PipelineOptions pipeline;
  pipeline.contracts = cast<mlir::StringAttr>((*module)->getAttr("heed.contracts")) == "on";
  pipeline.redZones = instrument == Instrument::Address;
  pipeline.remarks = options.remarks;
  buildPipeline(pm, static_cast<Phase>(static_cast<int>(to) - 1), to, pipeline);
  for (const auto &[where, passes] : insertions)
    if (where == to)
      (void)mlir::parsePassPipeline(passes, pm); // settled before
}

void Build::lower(Phase to) {
  if (to < phase)
    fail(file,
         "expected a phase from " + phaseName(phase) + " on, where this module is, but got " + phaseName(to));
  while (true) {
    if (options.limits.workspace && !isWithinWorkspace)
      isWithinWorkspace = options.limits.checkWorkspace(*module);
    if (phase == to)
      break;
    Phase next = static_cast<Phase>(static_cast<int>(phase) + 1);
    progress.step("phase " + phaseName(next));
    mlir::PassManager pm(&*context, mlir::ModuleOp::getOperationName(), mlir::PassManager::Nesting::Implicit);
    addPasses(pm, next);
    // Between our own passes the verifier would take as long as they do; tests run them with it.
    pm.enableVerifier(!insertions.empty());
    if (failed(pm.run(*module)) || failed(mlir::verify(*module)))
      context.fail();
    phase = next;
  }
  (*module)->setAttr("heed.phase", mlir::StringAttr::get(&*context, phaseName(phase)));
}

} // namespace heed::driver
