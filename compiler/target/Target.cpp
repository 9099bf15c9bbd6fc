// The targets, and what is chosen by them; see Target.h.
#include "compiler/target/Target.h"

#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

namespace heed {

using namespace llvm;

/// Short names. Chosen by name, never by the machine that compiles; a CPU of another name is TRIPLE:CPU.
static constexpr struct {
  StringLiteral name, triple, cpu;
} namedTargets[] = {
    {"x86-64", "x86_64-unknown-linux-gnu", "x86-64"},
    {"x86-64-v2", "x86_64-unknown-linux-gnu", "x86-64-v2"},
    {"x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3"},
    {"x86-64-v4", "x86_64-unknown-linux-gnu", "x86-64-v4"},
    {"aarch64", "aarch64-unknown-linux-gnu", "generic"},
};

/// The first row whose features (LLVM's names) the CPU has is taken. A register tile keeps in registers its
/// sums, a row of the panel and a broadcast: (rows + 1) · cols / lanes + 1 ≤ registers, save AVX-512, which
/// broadcasts from memory, and SSE, whose multiply needs one more. Columns are the panel width, 16, or twice.
static constexpr struct {
  StringLiteral features;
  Tuning tuning;
} tunings[] = {
    // clang-format off
    // features              lanes regs matmul    queries keys asked L1       L2
    {"avx512f,avx512vl,fma", {16,  32,  {14, 32}, 112,    64,  28,   32 << 10, 1 << 20}},
    {"avx2,fma",             {8,   16,  {6, 16},  96,     64,  24,   32 << 10, 512 << 10}},
    {"neon",                 {4,   32,  {6, 16},  96,     64,  24,   32 << 10, 512 << 10}},
    {"sse2",                 {4,   16,  {2, 16},  48,     64,  12,   32 << 10, 256 << 10}},
    // clang-format on
};

static void initializeBackends() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo(), LLVMInitializeX86Target(), LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter(), LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo(), LLVMInitializeAArch64Target(), LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter(), LLVMInitializeAArch64AsmParser();
  });
}

static std::unique_ptr<MCSubtargetInfo> createSubtarget(StringRef triple, StringRef cpu, StringRef features) {
  initializeBackends();
  std::string error;
  Triple parsed(triple);
  const llvm::Target *backend = TargetRegistry::lookupTarget(parsed, error);
  if (!backend)
    return nullptr;
  return std::unique_ptr<MCSubtargetInfo>(backend->createMCSubtargetInfo(parsed, cpu, features));
}

static SmallVector<StringRef> splitFeatures(StringRef features) {
  SmallVector<StringRef> parts;
  features.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return parts;
}

static const SubtargetFeatureKV *findFeature(const MCSubtargetInfo &subtarget, StringRef name) {
  auto features = subtarget.getAllProcessorFeatures();
  const auto *found =
      find_if(features, [&](const SubtargetFeatureKV &feature) { return name == feature.Key; });
  return found == features.end() ? nullptr : found;
}

static bool hasAll(const MCSubtargetInfo &subtarget, StringRef features) {
  return all_of(splitFeatures(features), [&](StringRef name) {
    const SubtargetFeatureKV *feature = findFeature(subtarget, name);
    return feature && subtarget.getFeatureBits()[feature->Value];
  });
}

static Error unknownTarget(StringRef name) {
  std::string message;
  raw_string_ostream os(message);
  os << "expected target ";
  for (const auto &named : namedTargets)
    os << named.name << ", ";
  os << "native or TRIPLE:CPU, but got '" << name << "'";
  return createStringError(message);
}

/// This machine as TRIPLE:CPU with the features that differ from the CPU's own: hypervisors hide some.
static std::string describeHost() {
  std::string triple = Triple::normalize(sys::getProcessTriple()), cpu = sys::getHostCPUName().str();
  auto ofName = createSubtarget(triple, cpu, "");
  SmallVector<std::string> differing;
  for (const auto &[feature, present] : sys::getHostCPUFeatures())
    if (ofName && findFeature(*ofName, feature) && hasAll(*ofName, feature) != present)
      differing.push_back((present ? ",+" : ",-") + feature.str());
  llvm::sort(differing); // a StringMap has no order
  return triple + ":" + cpu + join(differing, "");
}

Expected<Target> Target::parse(StringRef name) {
  Target target;
  target.name = name == "native" ? describeHost() : name.str();
  const auto *named = find_if(namedTargets, [&](const auto &known) { return known.name == name; });
  if (named != std::end(namedTargets)) {
    target.triple = named->triple.str();
    target.cpu = named->cpu.str();
  } else {
    auto [triple, rest] = StringRef(target.name).split(':');
    auto [cpu, features] = rest.split(',');
    if (cpu.empty())
      return unknownTarget(name);
    target.triple = Triple::normalize(triple);
    target.cpu = cpu.str();
    target.features = features.str();
  }

  auto known = createSubtarget(target.triple, "", "");
  if (!known || !(target.isX86() || target.isAArch64()))
    return createStringError("expected a triple of x86_64 or aarch64, but got '" + target.triple + "'");
  if (!Triple(target.triple).isOSBinFormatELF())
    return createStringError("expected a triple whose objects are ELF, but got '" + target.triple + "'");
  if (!known->isCPUStringValid(target.cpu) ||
      (target.isX86() && !hasAll(*createSubtarget(target.triple, target.cpu, ""), "64bit")))
    return createStringError("expected a CPU of " + Triple(target.triple).getArchName() + ", but got '" +
                             target.cpu + "'");
  for (StringRef feature : splitFeatures(target.features))
    if (!StringRef("+-").contains(feature.front()) || !findFeature(*known, feature.drop_front()))
      return createStringError("expected a feature of " + Triple(target.triple).getArchName() +
                               " after + or -, but got '" + feature + "'");

  auto subtarget = createSubtarget(target.triple, target.cpu, target.features);
  const auto *tuning = find_if(tunings, [&](const auto &row) { return hasAll(*subtarget, row.features); });
  if (tuning == std::end(tunings))
    return createStringError("expected a CPU with vectors, but got '" + target.name + "'");
  target.tuning = tuning->tuning;
  bool arm = target.isAArch64();
  target.hasFma = arm || hasAll(*subtarget, "fma");
  target.hasRounding = arm || hasAll(*subtarget, "sse4.1");
  target.hasHalfCasts = arm || hasAll(*subtarget, "f16c");
  target.hasHalfMath = hasAll(*subtarget, arm ? "fullfp16" : "avx512fp16");
  target.hasBf16Casts = hasAll(*subtarget, arm ? "bf16" : "avx512bf16");
  return target;
}

mlir::FailureOr<Target> Target::of(mlir::Operation *op) {
  auto module = dyn_cast<mlir::ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<mlir::ModuleOp>();
  auto name = module ? module->getAttr(attributeName) : mlir::Attribute();
  if (name && !isa<mlir::StringAttr>(name))
    return module.emitError("expected ") << attributeName << " to be a string, but got " << name;
  Expected<Target> target = parse(name ? cast<mlir::StringAttr>(name).getValue() : StringRef(defaultName));
  if (!target)
    return module.emitError() << toString(target.takeError());
  return *target;
}

void Target::record(mlir::ModuleOp module) const {
  module->setAttr(attributeName, mlir::StringAttr::get(module.getContext(), name));
}

bool Target::isX86() const { return Triple(triple).getArch() == Triple::x86_64; }

bool Target::isAArch64() const { return Triple(triple).getArch() == Triple::aarch64; }

bool Target::has(StringRef feature) const { return hasAll(*createSubtarget(triple, cpu, features), feature); }

std::unique_ptr<TargetMachine> Target::createMachine() const {
  initializeBackends();
  std::string error;
  Triple parsed(triple);
  TargetOptions options;
  options.UniqueSectionNames = true;
  const llvm::Target *backend = TargetRegistry::lookupTarget(parsed, error);
  return std::unique_ptr<TargetMachine>(backend->createTargetMachine(
      parsed, cpu, features, options, Reloc::PIC_, CodeModel::Small, CodeGenOptLevel::Aggressive));
}

} // namespace heed
