// Optimized code from the llvm phase; see Object.h.
#include "compiler/target/Object.h"
#include "compiler/target/Versions.h"
#include "compiler/target/WatchVectors.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"
#include "llvm/Transforms/Instrumentation/MemorySanitizer.h"
#include "llvm/Transforms/Instrumentation/ThreadSanitizer.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopStrengthReduce.h"
#include "llvm/Transforms/Scalar/SeparateConstOffsetFromGEP.h"

namespace heed {

using namespace llvm;

static constexpr StringLiteral instrumentNames[] = {"none", "address", "memory", "thread"};

StringRef instrumentName(Instrument instrument) { return instrumentNames[static_cast<int>(instrument)]; }

std::optional<Instrument> parseInstrument(StringRef name) {
  const auto *found = find(instrumentNames, name);
  if (found == std::end(instrumentNames))
    return std::nullopt;
  return static_cast<Instrument>(found - std::begin(instrumentNames));
}

/// Gives functions debug scopes, so that their locations reach the code, under the model's file name alone:
/// objects made in two folders are the same.
static mlir::LogicalResult addLines(mlir::ModuleOp module) {
  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement([](mlir::FileLineColLoc location) -> mlir::Attribute {
    return mlir::FileLineColLoc::get(location.getContext(), sys::path::filename(location.getFilename()),
                                     location.getLine(), location.getColumn());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false, /*replaceLocs=*/true);
  mlir::PassManager pm(module.getContext());
  pm.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass());
  return pm.run(module);
}

/// What every function of the module says to the code generator.
static void annotate(Function &function, const Target &target, Instrument instrument) {
  if (!function.hasFnAttribute("target-cpu")) { // else it runs before the CPU has been checked
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    // Some CPUs prefer half of their vectors; the tiles were chosen for whole ones.
    std::string bits = std::to_string(target.tuning.lanes * 32);
    function.addFnAttr("prefer-vector-width", bits);
    function.addFnAttr("min-legal-vector-width", bits);
  }
  function.addFnAttr(Attribute::NoUnwind);
  switch (instrument) {
  case Instrument::None:
    return;
  case Instrument::Address:
    function.addFnAttr(Attribute::SanitizeAddress);
    break;
  case Instrument::Memory:
    function.addFnAttr(Attribute::SanitizeMemory);
    break;
  case Instrument::Thread:
    function.addFnAttr(Attribute::SanitizeThread);
    break;
  }
  function.addFnAttr("frame-pointer", "all"); // reports unwind by it
}

static void addSanitizer(ModulePassManager &passes, Instrument instrument) {
  switch (instrument) {
  case Instrument::None:
    break;
  case Instrument::Address:
    passes.addPass(AddressSanitizerPass(AddressSanitizerOptions()));
    break;
  case Instrument::Memory:
    passes.addPass(MemorySanitizerPass(MemorySanitizerOptions()));
    break;
  case Instrument::Thread:
    passes.addPass(ModuleThreadSanitizerPass());
    passes.addPass(createModuleToFunctionPassAdaptor(WatchVectorsPass()));
    passes.addPass(createModuleToFunctionPassAdaptor(ThreadSanitizerPass()));
    break;
  }
}

namespace {
/// Strength reduction where it pays. Its time grows faster than a function, and in one of many loops
/// it took half of the time of generating code; but those are attention's, whose tiles step by constants
/// anyhow. Matrix products, whose rows may have any stride, are 5 % faster for it at 16 rows.
struct ReduceStrength : PassInfoMixin<ReduceStrength> {
  static constexpr size_t mostBlocks = 64;

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    if (function.size() > mostBlocks)
      return PreservedAnalyses::all();
    return createFunctionToLoopPassAdaptor(LoopStrengthReducePass()).run(function, analyses);
  }
};
} // namespace

/// Keeps code generation from reducing strength once more.
static void forgoLateStrengthReduction() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char *arguments[] = {"heed", "-disable-lsr"};
    cl::ParseCommandLineOptions(2, arguments);
  });
}

static void optimize(llvm::Module &module, TargetMachine &machine, Instrument instrument) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = true;
  tuning.LoopUnrolling = false; // loops come unrolled where it pays
  PassBuilder builder(&machine, tuning);
  builder.registerOptimizerLastEPCallback(
      [=](ModulePassManager &passes, OptimizationLevel, ThinOrFullLTOPhase) {
        addSanitizer(passes, instrument);
        FunctionPassManager addresses; // the steps of an unrolled loop share one, their constants split off
        addresses.addPass(SeparateConstOffsetFromGEPPass());
        addresses.addPass(EarlyCSEPass());
        addresses.addPass(ReduceStrength());
        passes.addPass(createModuleToFunctionPassAdaptor(std::move(addresses)));
      });

  // Emitted code may call these three and nothing else, so loops may become no other function either.
  TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  for (LibFunc allowed : {LibFunc_memcpy, LibFunc_memmove, LibFunc_memset})
    library.setAvailable(allowed);

  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3).run(module, modules);
}

/// Takes the file in when assembling: gigabytes of parameters are never IR.
static void embed(llvm::Module &module, const Target &target, const ObjectOptions &options) {
  std::string text;
  raw_string_ostream os(text);
  // Large sections lie apart on x86, so that they do not push code and data out of each other's reach.
  os << (target.isX86() ? ".section .lrodata,\"al\",@progbits\n" : ".section .rodata,\"a\",@progbits\n")
     << ".p2align 12\n.hidden " << options.embedSymbol << "\n.globl " << options.embedSymbol << "\n"
     << options.embedSymbol << ":\n.incbin \"";
  for (char c : options.embedFile)
    os << (StringRef("\\\"").contains(c) ? "\\" : "") << c;
  os << "\"\n.size " << options.embedSymbol << ", . - " << options.embedSymbol << "\n.text\n";
  module.appendModuleInlineAsm(text);
}

/// Translates a version, without optimizing it. Null after an error.
static std::unique_ptr<llvm::Module> translate(const Version &version, TargetMachine &machine,
                                               LLVMContext &context, const ObjectOptions &options) {
  mlir::ModuleOp source = version.module;
  if (options.lines && failed(addLines(source)))
    return nullptr;
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  source.getContext()->appendDialectRegistry(registry);
  StringRef name = source.getName().value_or("module");
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(source, context, name);
  if (!module)
    return nullptr;
  module->setSourceFileName(name);
  module->setDataLayout(machine.createDataLayout());
  module->setTargetTriple(machine.getTargetTriple());
  module->setPICLevel(PICLevel::BigPIC);
  for (Function &function : *module)
    if (!function.isDeclaration())
      annotate(function, *version.target, options.instrument);
  return module;
}

mlir::FailureOr<Object> Object::build(ArrayRef<Version> versions, const ObjectOptions &options) {
  Object object;
  object.reports = std::make_unique<Reports>();
  object.context = std::make_unique<LLVMContext>();
  object.context->setDiagnosticHandlerCallBack(
      [](const DiagnosticInfo *info, void *data) {
        auto *reports = static_cast<Reports *>(data);
        if (auto *frame = dyn_cast<DiagnosticInfoStackSize>(info))
          reports->stack.record(*frame);
        if (info->getSeverity() != DS_Error)
          return;
        raw_string_ostream os(reports->problem);
        DiagnosticPrinterRawOStream printer(os);
        info->print(printer);
      },
      object.reports.get());

  mlir::ModuleOp source = versions.front().module;
  const Target &target = *versions.front().target;
  object.machine = target.createMachine();
  std::vector<std::unique_ptr<llvm::Module>> modules;
  for (const Version &version : versions) {
    modules.push_back(translate(version, *object.machine, *object.context, options));
    if (!modules.back())
      return mlir::failure();
  }
  object.module = std::move(modules.front());
  modules.erase(modules.begin());
  if (!modules.empty())
    if (Error error = addVersions(*object.module, std::move(modules)))
      return source.emitError(toString(std::move(error)));
  if (!options.queryAlias.empty())
    if (Function *query =
            object.module->getFunction((source.getName().value_or("module") + "_module_query").str()))
      GlobalAlias::create(options.queryAlias, query);
  if (!options.embedFile.empty())
    embed(*object.module, target, options);

  optimize(*object.module, *object.machine, options.instrument);
  if (!object.reports->problem.empty())
    return source.emitError(object.reports->problem);
  return object;
}

void Object::writeLLVM(raw_ostream &os) { module->print(os, nullptr); }

Error Object::writeAssembly(raw_pwrite_stream &os) { return generate(os, CodeGenFileType::AssemblyFile); }

Error Object::writeObject(raw_pwrite_stream &os) { return generate(os, CodeGenFileType::ObjectFile); }

Error Object::generate(raw_pwrite_stream &os, CodeGenFileType type) {
  forgoLateStrengthReduction();
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr, type))
    return createStringError("expected a target that writes this kind of file");
  reports->stack.watch(*module);
  passes.run(*module);
  if (!reports->problem.empty())
    return createStringError(reports->problem);
  return Error::success();
}

} // namespace heed
