#include "tests/numerics/MathKernels.h"

#include "compiler/passes/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace heed {

using namespace mlir;

namespace {

/// The kernel as a function of values, in MLIR: `kernel` loads, applies the operation, stores.
std::string print(const Kernel &kernel) {
  auto typed = [&](const std::string &element) {
    return kernel.lanes == 1 ? element : "vector<" + std::to_string(kernel.lanes) + "x" + element + ">";
  };
  std::string from = typed(kernel.from), to = typed(kernel.to), text = "llvm.func @f(";
  for (unsigned i = 0; i < 3; ++i)
    text += "%p" + std::to_string(i) + ": !llvm.ptr, ";
  text += "%r: !llvm.ptr) {\n";
  std::string operands;
  for (unsigned i = 0; i < kernel.operands; ++i) {
    std::string n = std::to_string(i);
    text += "  %" + n + " = llvm.load %p" + n + " {alignment = 1 : i64} : !llvm.ptr -> " + from + "\n";
    operands += (i ? ", %" : "%") + n;
  }
  bool converts = kernel.from != kernel.to && kernel.to != "i1";
  text += "  %v = " + kernel.op + " " + kernel.extra + operands + " : " + from +
          (converts ? " to " + to : "") + "\n";
  text += "  llvm.store %v, %r {alignment = 1 : i64} : " + to + ", !llvm.ptr\n  llvm.return\n}\n";
  return text;
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

[[noreturn]] void fail(const Kernel &kernel, const Target &target, llvm::StringRef what) {
  llvm::report_fatal_error(llvm::Twine(kernel.op) + " on " + kernel.from + " for " + target.name + ": " +
                           what);
}

} // namespace

llvm::orc::ThreadSafeModule compileKernel(const Kernel &kernel, const Target &target) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, math::MathDialect, LLVM::LLVMDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext mlir(registry);
  mlir.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(print(kernel), &mlir);
  if (!module)
    fail(kernel, target, print(kernel));
  target.record(*module);

  PassManager passes(&mlir);
  passes.addPass(createExpandMath());
  passes.addPass(createExpandHalf());
  passes.addPass(createCSEPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(*module)))
    fail(kernel, target, "passes failed");

  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(*module, *context);
  std::unique_ptr<llvm::TargetMachine> machine = target.createMachine();
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  optimize(*code, *machine);
  return {std::move(code), std::move(context)};
}

std::unique_ptr<llvm::MemoryBuffer> compileObject(const Kernel &kernel, const Target &target) {
  llvm::orc::ThreadSafeModule module = compileKernel(kernel, target);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  std::unique_ptr<llvm::TargetMachine> machine = target.createMachine();
  llvm::legacy::PassManager emit;
  if (machine->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    fail(kernel, target, "no object files");
  module.withModuleDo([&](llvm::Module &code) { emit.run(code); });
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), false);
}

LoadedKernel::LoadedKernel(const Kernel &kernel, const Target &target) {
  llvm::orc::JITTargetMachineBuilder machine{llvm::Triple(target.triple)};
  machine.setCPU(target.cpu);
  machine.addFeatures({target.features});
  machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  llvm::orc::ThreadSafeModule module = compileKernel(kernel, target);
  jit = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(machine).create());
  llvm::cantFail(jit->addIRModule(std::move(module)));
  function = llvm::cantFail(jit->lookup("f")).toPtr<KernelFunction>();
}

bool isRunnable(const Target &target) {
  if (llvm::Triple(target.triple).getArch() != llvm::Triple(llvm::sys::getProcessTriple()).getArch())
    return false;
  if (target.cpu == "x86-64-v4")
    return llvm::sys::getHostCPUFeatures().lookup("avx512dq");
  return target.cpu != "x86-64-v3" || llvm::sys::getHostCPUFeatures().lookup("avx2");
}

} // namespace heed
