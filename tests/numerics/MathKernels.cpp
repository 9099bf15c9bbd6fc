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

#include <algorithm>
#include <cmath>

namespace heed {

using namespace mlir;

namespace {

/// A function in MLIR that loads, applies the operation, stores.
std::string print(const Kernel &kernel, unsigned number) {
  auto typed = [&](const std::string &element) {
    return kernel.lanes == 1 ? element : "vector<" + std::to_string(kernel.lanes) + "x" + element + ">";
  };
  std::string from = typed(kernel.from), to = typed(kernel.to),
              text = "llvm.func @f" + std::to_string(number) + "(";
  for (unsigned i = 0; i < 3; ++i)
    text += "%p" + std::to_string(i) + ": !llvm.ptr, ";
  text += "%r: !llvm.ptr) {\n";
  std::string operands;
  for (unsigned i = 0; i < kernel.operands; ++i) {
    std::string n = std::to_string(i);
    text += "  %" + n + " = llvm.load %p" + n + " {alignment = 1 : i64} : !llvm.ptr -> " + from + "\n";
    operands += (i ? ", %" : "%") + n;
  }
  bool converts = kernel.from != kernel.to && kernel.op != "arith.cmpf";
  text += "  %v = " + kernel.op + " " + kernel.extra + operands + " " + kernel.flags + " : " + from +
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

[[noreturn]] void fail(llvm::ArrayRef<Kernel> kernels, const Target &target, llvm::StringRef what) {
  llvm::report_fatal_error(llvm::Twine(kernels[0].op) + " on " + kernels[0].from + " for " + target.name +
                           ": " + what);
}

/// LLVM IR of the kernels, optimized for `target`.
llvm::orc::ThreadSafeModule compile(llvm::ArrayRef<Kernel> kernels, const Target &target) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, math::MathDialect, LLVM::LLVMDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext mlir(registry);
  mlir.loadAllAvailableDialects();
  std::string text;
  for (auto [number, kernel] : llvm::enumerate(kernels))
    text += print(kernel, number);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &mlir);
  if (!module)
    fail(kernels, target, text);
  target.record(*module);

  PassManager passes(&mlir);
  passes.addPass(createExpandMath());
  passes.addPass(createExpandHalf());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createCSEPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(*module)))
    fail(kernels, target, "passes failed");

  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(*module, *context);
  std::unique_ptr<llvm::TargetMachine> machine = target.createMachine();
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  optimize(*code, *machine);
  return {std::move(code), std::move(context)};
}

} // namespace

std::unique_ptr<llvm::MemoryBuffer> compileObject(llvm::ArrayRef<Kernel> kernels, const Target &target) {
  llvm::orc::ThreadSafeModule module = compile(kernels, target);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  std::unique_ptr<llvm::TargetMachine> machine = target.createMachine();
  llvm::legacy::PassManager emit;
  if (machine->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    fail(kernels, target, "no object files");
  module.withModuleDo([&](llvm::Module &code) { emit.run(code); });
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), false);
}

LoadedKernel::LoadedKernel(const Kernel &kernel, const Target &target) {
  llvm::orc::JITTargetMachineBuilder machine{llvm::Triple(target.triple)};
  machine.setCPU(target.cpu);
  machine.addFeatures({target.features});
  machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  llvm::orc::ThreadSafeModule module = compile(kernel, target);
  jit = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(machine).create());
  llvm::cantFail(jit->addIRModule(std::move(module)));
  function = llvm::cantFail(jit->lookup("f0")).toPtr<KernelFunction>();
}

bool isRunnable(const Target &target) {
  if (llvm::Triple(target.triple).getArch() != llvm::Triple(llvm::sys::getProcessTriple()).getArch())
    return false;
  if (target.cpu == "x86-64-v4")
    return llvm::sys::getHostCPUFeatures().lookup("avx512dq");
  return target.cpu != "x86-64-v3" || llvm::sys::getHostCPUFeatures().lookup("avx2");
}

double ulps(float got, double expected) {
  float nearest = static_cast<float>(expected);
  if (std::isnan(got) || std::isnan(nearest))
    return std::isnan(got) && std::isnan(nearest) ? 0 : NAN;
  if (got == 0 && expected == 0)
    return std::signbit(got) == std::signbit(expected) ? 0 : NAN;
  // Infinity counts as the number after the largest finite one.
  auto bounded = [](double x) { return std::clamp(x, -0x1p128, 0x1p128); };
  int exponent = expected == 0 ? -126 : std::clamp(std::ilogb(bounded(expected)), -126, 127);
  return std::abs(bounded(got) - bounded(expected)) / std::ldexp(1.0, exponent - 23);
}

std::vector<float> edges32() {
  std::vector<float> edges;
  for (uint32_t exponent = 0; exponent < 512; ++exponent) // with the sign in front
    for (uint32_t mantissa : {0u, 1u, 2u, 0x3504f3u, 0x3fffffu, 0x400000u, 0x7ffffeu, 0x7fffffu})
      edges.push_back(bitCast<float>(exponent << 23 | mantissa));
  return edges;
}

std::vector<double> edges64() {
  std::vector<double> edges;
  for (uint64_t exponent = 0; exponent < 4096; ++exponent)
    for (uint64_t mantissa : {uint64_t(0), uint64_t(1), (uint64_t(1) << 51) + 1, (uint64_t(1) << 52) - 1})
      edges.push_back(bitCast<double>(exponent << 52 | mantissa));
  return edges;
}

} // namespace heed
