// Code that runs on any CPU of an architecture; see CpuCheck.h.
#include "compiler/target/CpuCheck.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace heed {

static StringRef baselineCpu(const Target &target) { return target.isX86() ? "x86-64" : "generic"; }
static StringRef baselineFeatures(const Target &target) { return target.isX86() ? "+sse2" : "+neon"; }

LLVM::LLVMFuncOp createBaselineFunction(ModuleOp module, const Target &target, StringRef name, Type result,
                                        ArrayRef<Type> arguments, bool exported) {
  auto b = OpBuilder::atBlockEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(result, arguments);
  auto function = LLVM::LLVMFuncOp::create(b, module.getLoc(), name, type,
                                           exported ? LLVM::Linkage::External : LLVM::Linkage::Internal);
  function.setTargetCpu(baselineCpu(target));
  function.setTargetFeaturesAttr(
      LLVM::TargetFeaturesAttr::get(module.getContext(), baselineFeatures(target)));
  function.addEntryBlock(b);
  return function;
}

ArrayAttr baselinePassthrough(MLIRContext *context, const Target &target) {
  Builder b(context);
  return b.getArrayAttr({b.getStrArrayAttr({"target-cpu", baselineCpu(target)}),
                         b.getStrArrayAttr({"target-features", baselineFeatures(target)})});
}

//===--- x86-64
//-------------------------------------------------------------------------------------------===//

/// Where CPUID reports a feature: Intel SDM vol. 2A, CPUID; AMD APM vol. 3, appendix E.
namespace {
enum Register { EAX, EBX, ECX, EDX };
struct CpuidBit {
  StringLiteral feature; ///< LLVM's name
  uint32_t leaf, subleaf;
  Register reg;
  unsigned bit;
};
/// State that the operating system must keep, as bits of XCR0.
struct StateBits {
  StringLiteral feature;
  uint32_t mask;
};
} // namespace

static constexpr CpuidBit cpuidBits[] = {
    {"sse3", 1, 0, ECX, 0},
    {"pclmul", 1, 0, ECX, 1},
    {"ssse3", 1, 0, ECX, 9},
    {"fma", 1, 0, ECX, 12},
    {"cx16", 1, 0, ECX, 13},
    {"sse4.1", 1, 0, ECX, 19},
    {"sse4.2", 1, 0, ECX, 20},
    {"movbe", 1, 0, ECX, 22},
    {"popcnt", 1, 0, ECX, 23},
    {"aes", 1, 0, ECX, 25},
    {"avx", 1, 0, ECX, 28},
    {"f16c", 1, 0, ECX, 29},
    {"bmi", 7, 0, EBX, 3},
    {"avx2", 7, 0, EBX, 5},
    {"bmi2", 7, 0, EBX, 8},
    {"avx512f", 7, 0, EBX, 16},
    {"avx512dq", 7, 0, EBX, 17},
    {"adx", 7, 0, EBX, 19},
    {"avx512ifma", 7, 0, EBX, 21},
    {"avx512cd", 7, 0, EBX, 28},
    {"sha", 7, 0, EBX, 29},
    {"avx512bw", 7, 0, EBX, 30},
    {"avx512vl", 7, 0, EBX, 31},
    {"avx512vbmi", 7, 0, ECX, 1},
    {"avx512vbmi2", 7, 0, ECX, 6},
    {"gfni", 7, 0, ECX, 8},
    {"vaes", 7, 0, ECX, 9},
    {"vpclmulqdq", 7, 0, ECX, 10},
    {"avx512vnni", 7, 0, ECX, 11},
    {"avx512bitalg", 7, 0, ECX, 12},
    {"avx512vpopcntdq", 7, 0, ECX, 14},
    {"avx512vp2intersect", 7, 0, EDX, 8},
    {"amx-bf16", 7, 0, EDX, 22},
    {"avx512fp16", 7, 0, EDX, 23},
    {"amx-tile", 7, 0, EDX, 24},
    {"amx-int8", 7, 0, EDX, 25},
    {"avxvnni", 7, 1, EAX, 4},
    {"avx512bf16", 7, 1, EAX, 5},
    {"amx-fp16", 7, 1, EAX, 21},
    {"avxifma", 7, 1, EAX, 23},
    {"avxvnniint8", 7, 1, EDX, 4},
    {"avxneconvert", 7, 1, EDX, 5},
    {"sahf", 0x80000001, 0, ECX, 0},
    {"lzcnt", 0x80000001, 0, ECX, 5},
    {"sse4a", 0x80000001, 0, ECX, 6},
    {"xop", 0x80000001, 0, ECX, 11},
    {"fma4", 0x80000001, 0, ECX, 16},
    {"tbm", 0x80000001, 0, ECX, 21},
};
static constexpr StateBits stateBits[] = {{"avx", 0x6}, {"avx512f", 0xe6}, {"amx-tile", 0x60000}};

//===--- AArch64
//------------------------------------------------------------------------------------------===//

/// Where the identification registers report what ordinary code may come to use: Arm Architecture Reference
/// Manual for A-profile, D24.2. (A feature for cryptography or tagged memory, which many a CPU of a name
/// lacks, is no reason to refuse it.) A program may not read these registers; Linux from 4.11 on and FreeBSD
/// answer in their place, without what they do not keep. The auxiliary vector says the same, but takes a C
/// library.
namespace {
struct IdField {
  StringLiteral feature; ///< LLVM's name
  StringLiteral reg;     ///< as the assembler names any register
  unsigned shift, least; ///< where its four bits lie, and the value from which on it is there
};
} // namespace

static constexpr StringLiteral pfr0 = "S3_0_C0_C4_0", zfr0 = "S3_0_C0_C4_4", isar0 = "S3_0_C0_C6_0",
                               isar1 = "S3_0_C0_C6_1", isar2 = "S3_0_C0_C6_2", mmfr2 = "S3_0_C0_C7_2";
static constexpr IdField idFields[] = {
    {"fullfp16", pfr0, 20, 1},   {"sve", pfr0, 32, 1},        {"sve2", zfr0, 0, 1},
    {"sve2p1", zfr0, 0, 2},      {"f32mm", zfr0, 52, 1},      {"f64mm", zfr0, 56, 1},
    {"crc", isar0, 16, 1},       {"lse", isar0, 20, 2},       {"lse128", isar0, 20, 3},
    {"rdm", isar0, 28, 1},       {"sha3", isar0, 32, 1},      {"dotprod", isar0, 44, 1},
    {"fp16fml", isar0, 48, 1},   {"flagm", isar0, 52, 1},     {"altnzcv", isar0, 52, 2},
    {"jsconv", isar1, 12, 1},    {"complxnum", isar1, 16, 1}, {"rcpc", isar1, 20, 1},
    {"rcpc-immo", isar1, 20, 2}, {"rcpc3", isar1, 20, 3},     {"fptoint", isar1, 32, 1},
    {"bf16", isar1, 44, 1},      {"i8mm", isar1, 52, 1},      {"mops", isar2, 16, 1},
    {"cssc", isar2, 52, 1},      {"lse2", mmfr2, 32, 1},
};

//===--- The check
//----------------------------------------------------------------------------------------===//

static bool needsCheck(const Target &target) {
  auto isUsed = [&](const auto &row) { return target.has(row.feature); };
  return target.isX86() ? llvm::any_of(cpuidBits, isUsed) : llvm::any_of(idFields, isUsed);
}

namespace {

/// Builds `<module>.has_cpu`: a chain of tests that each may end in "no".
class CheckBuilder {
public:
  CheckBuilder(ModuleOp module, LLVM::LLVMFuncOp function)
      : b(module.getLoc(), OpBuilder::atBlockBegin(&function.getBody().front())), i32(b.getI32Type()),
        function(function) {
    exit = &function.getBody().emplaceBlock();
    exit->addArgument(i32, module.getLoc());
  }

  void build(StringRef word, const Target &target) {
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value address = LLVM::AddressOfOp::create(b, pointer, word);
    auto load =
        LLVM::LoadOp::create(b, i32, address, 4, false, false, false, false, LLVM::AtomicOrdering::monotonic);
    Value isKnown = compare(LLVM::ICmpPredicate::ne, load, number(unknown));
    Block *detect = createBlock();
    LLVM::CondBrOp::create(b, isKnown, exit, ValueRange(load), detect, ValueRange());
    b.setInsertionPointToStart(detect);

    if (target.isX86())
      requireCpuid(target);
    else
      requireIdFields(target);
    store(address, enough);
    LLVM::BrOp::create(b, ValueRange(number(enough)), exit);

    b.setInsertionPointToStart(&refuse());
    store(address, tooLow);
    LLVM::BrOp::create(b, ValueRange(number(tooLow)), exit);
    b.setInsertionPointToStart(exit);
    LLVM::ReturnOp::create(b, compare(LLVM::ICmpPredicate::eq, exit->getArgument(0), number(enough)));
  }

private:
  enum Level { unknown = 0, tooLow = 1, enough = 2 };

  void requireCpuid(const Target &target) {
    for (size_t i = 0; i < std::size(cpuidBits);) {
      auto [feature, leaf, subleaf, reg, bit] = cpuidBits[i];
      uint32_t masks[4] = {};
      for (; i < std::size(cpuidBits) && cpuidBits[i].leaf == leaf && cpuidBits[i].subleaf == subleaf; ++i)
        if (target.has(cpuidBits[i].feature))
          masks[cpuidBits[i].reg] |= 1u << cpuidBits[i].bit;
      bool usesState = leaf == 1 && target.has("avx");
      if (usesState)
        masks[ECX] |= 1u << 27; // OSXSAVE: XGETBV may be executed
      if (llvm::all_of(masks, [](uint32_t mask) { return mask == 0; }))
        continue;
      requireLeaf(leaf, subleaf);
      Value registers = cpuid(leaf, subleaf);
      for (Register reg : {EAX, EBX, ECX, EDX})
        requireBits(extract(registers, reg), masks[reg]);
      if (usesState)
        requireState(target);
    }
  }

  void requireIdFields(const Target &target) {
    Type i64 = b.getI64Type();
    auto wide = [&](int64_t value) { return LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(value)); };
    StringRef last;
    Value value;
    for (const auto &[feature, reg, shift, least] : idFields) {
      if (!target.has(feature))
        continue;
      if (reg != last)
        value = assembly(i64, {}, ("mrs $0, " + reg).str(), "=r");
      last = reg;
      Value field = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, value, wide(shift)), wide(15));
      require(compare(LLVM::ICmpPredicate::uge, field, wide(least)));
    }
  }

  Value number(uint32_t value) {
    return LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value compare(LLVM::ICmpPredicate predicate, Value left, Value right) {
    return LLVM::ICmpOp::create(b, predicate, left, right);
  }
  Value extract(Value registers, int64_t index) { return LLVM::ExtractValueOp::create(b, registers, index); }
  void store(Value address, Level level) {
    LLVM::StoreOp::create(b, number(level), address, 4, false, false, false, LLVM::AtomicOrdering::monotonic);
  }

  Value cpuid(uint32_t leaf, uint32_t subleaf) {
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, i32, i32});
    return assembly(type, {number(leaf), number(subleaf)}, "cpuid", "={ax},={bx},={cx},={dx},0,2");
  }
  Value assembly(Type type, ValueRange operands, StringRef text, StringRef constraints) {
    return LLVM::InlineAsmOp::create(b, type, operands, text, constraints, /*has_side_effects=*/true,
                                     /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                     LLVM::AsmDialectAttr(), ArrayAttr())
        .getRes();
  }

  /// A CPU answers beyond its last leaf with another one's.
  void requireLeaf(uint32_t leaf, uint32_t subleaf) {
    if (leaf == 1)
      return;
    Value last = extract(cpuid(leaf & 0x80000000, 0), EAX);
    require(compare(LLVM::ICmpPredicate::uge, last, number(leaf)));
    if (subleaf)
      require(compare(LLVM::ICmpPredicate::uge, extract(cpuid(leaf, 0), EAX), number(subleaf)));
  }
  void requireState(const Target &target) {
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32});
    uint32_t mask = 0;
    for (const StateBits &state : stateBits)
      if (target.has(state.feature))
        mask |= state.mask;
    requireBits(extract(assembly(type, {number(0)}, "xgetbv", "={ax},={dx},{cx}"), 0), mask);
  }
  void requireBits(Value value, uint32_t mask) {
    if (mask)
      require(compare(LLVM::ICmpPredicate::eq, LLVM::AndOp::create(b, value, number(mask)), number(mask)));
  }
  void require(Value condition) {
    Block *next = createBlock();
    LLVM::CondBrOp::create(b, condition, next, ValueRange(), &refuse(), ValueRange());
    b.setInsertionPointToStart(next);
  }

  Block *createBlock() {
    auto *block = new Block;
    function.getBody().getBlocks().insert(exit->getIterator(), block);
    return block;
  }
  Block &refuse() {
    if (!refuseBlock)
      refuseBlock = createBlock();
    return *refuseBlock;
  }

  ImplicitLocOpBuilder b;
  Type i32;
  LLVM::LLVMFuncOp function;
  Block *exit, *refuseBlock = nullptr;
};

} // namespace

LLVM::LLVMFuncOp emitCpuCheck(ModuleOp module, const Target &target) {
  if (!needsCheck(target))
    return nullptr;
  std::string name = module.getSymName()->str(), word = name + "_cpu_level";
  auto b = OpBuilder::atBlockEnd(module.getBody());
  LLVM::GlobalOp::create(b, module.getLoc(), b.getI32Type(), /*isConstant=*/false, LLVM::Linkage::Internal,
                         word, b.getI32IntegerAttr(0));
  auto function =
      createBaselineFunction(module, target, name + ".has_cpu", b.getI1Type(), {}, /*exported=*/false);
  CheckBuilder(module, function).build(word, target);
  return function;
}

} // namespace heed
