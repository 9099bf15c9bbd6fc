// Emitted code calls neither libm nor a compiler's runtime library, whatever operation, type and target; and
// what it computes for AArch64 is what it computes here.
#include "tests/numerics/MathKernels.h"

#include "gtest/gtest.h"

#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <cmath>
#include <fstream>

namespace heed {
namespace {

struct Operation {
  const char *name;
  unsigned operands;
  const char *extra = "";
};
const Operation operations[] = {
    {"arith.addf", 2},
    {"arith.subf", 2},
    {"arith.mulf", 2},
    {"arith.divf", 2},
    {"arith.remf", 2},
    {"arith.negf", 1},
    {"arith.maximumf", 2},
    {"arith.minimumf", 2},
    {"arith.maxnumf", 2},
    {"arith.minnumf", 2},
    {"math.absf", 1},
    {"math.ceil", 1},
    {"math.copysign", 2},
    {"math.cos", 1},
    {"math.erf", 1},
    {"math.exp", 1},
    {"math.exp2", 1},
    {"math.expm1", 1},
    {"math.floor", 1},
    {"math.fma", 3},
    {"math.log", 1},
    {"math.log1p", 1},
    {"math.log2", 1},
    {"math.powf", 2},
    {"math.round", 1},
    {"math.roundeven", 1},
    {"math.rsqrt", 1},
    {"math.sin", 1},
    {"math.sqrt", 1},
    {"math.tan", 1},
    {"math.tanh", 1},
    {"math.trunc", 1},
    {"math.sinh", 1},
    {"math.cosh", 1},
    {"arith.cmpf", 2, "olt, "},
};
/// Those that exist on f64 on every target.
const Operation wideOperations[] = {
    {"arith.maxnumf", 2},  {"arith.minnumf", 2}, {"arith.addf", 2},     {"arith.divf", 2},
    {"arith.maximumf", 2}, {"math.absf", 1},     {"math.ceil", 1},      {"math.floor", 1},
    {"math.round", 1},     {"math.sqrt", 1},     {"math.roundeven", 1}, {"math.trunc", 1},
};

std::vector<Kernel> allKernels() {
  std::vector<Kernel> kernels;
  for (unsigned lanes : {1u, 8u}) {
    auto result = [](const Operation &op, const char *type) {
      return llvm::StringRef(op.name) == "arith.cmpf" ? std::string("i1") : std::string(type);
    };
    for (const char *type : {"f32", "f16", "bf16"})
      for (const Operation &op : operations)
        kernels.push_back({op.name, op.operands, type, result(op, type), lanes, op.extra});
    for (const Operation &op : wideOperations)
      kernels.push_back({op.name, op.operands, "f64", "f64", lanes, ""});
    const std::pair<const char *, int> widths[] = {{"f16", 16}, {"bf16", 16}, {"f32", 32}, {"f64", 64}};
    for (auto [from, fromWidth] : widths) {
      for (auto [to, toWidth] : widths)
        if (fromWidth != toWidth)
          kernels.push_back({fromWidth < toWidth ? "arith.extf" : "arith.truncf", 1, from, to, lanes, ""});
      for (const char *integer : {"i1", "i8", "i32", "i64"}) {
        for (const char *op : {"arith.sitofp", "arith.uitofp"})
          kernels.push_back({op, 1, integer, from, lanes, ""});
        for (const char *op : {"arith.fptosi", "arith.fptoui"})
          kernels.push_back({op, 1, from, integer, lanes, ""});
      }
    }
  }
  return kernels;
}

class MathSymbolsTest : public testing::TestWithParam<const char *> {};

TEST_P(MathSymbolsTest, NothingIsUndefined) {
  std::unique_ptr<llvm::MemoryBuffer> file =
      compileObject(allKernels(), llvm::cantFail(Target::parse(GetParam())));
  auto object = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(*file));
  unsigned defined = 0;
  for (const llvm::object::SymbolRef &symbol : object->symbols()) {
    llvm::StringRef name = llvm::cantFail(symbol.getName());
    bool undefined = llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined;
    defined += !undefined && name.starts_with("f");
    EXPECT_FALSE(undefined && !name.empty() && name != "memcpy" && name != "memset" && name != "memmove")
        << name.str();
  }
  EXPECT_EQ(defined, allKernels().size());
}

INSTANTIATE_TEST_SUITE_P(, MathSymbolsTest,
                         testing::Values("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"));

/// Runs a program of `path`, which must succeed.
void run(llvm::StringRef program, std::vector<llvm::StringRef> arguments) {
  auto path = llvm::sys::findProgramByName(program);
  ASSERT_TRUE(bool(path)) << "expected " << program.str() << ", which tests/setup.sh installs";
  arguments.insert(arguments.begin(), *path);
  std::string error;
  ASSERT_EQ(llvm::sys::ExecuteAndWait(*path, arguments, std::nullopt, {}, 0, 0, &error), 0) << error;
}

TEST(MathSymbolsTestAArch64, ComputesTheSameBits) {
  Target here = llvm::cantFail(Target::parse("x86-64-v3")), there = llvm::cantFail(Target::parse("aarch64"));
  if (!isRunnable(here))
    GTEST_SKIP() << "this machine does not run " << here.name;
  std::vector<Kernel> kernels;
  for (const char *name :
       {"math.exp", "math.exp2", "math.expm1", "math.log", "math.log2", "math.log1p", "math.tanh", "math.erf",
        "math.sin", "math.cos", "math.rsqrt", "math.round", "math.floor"})
    kernels.push_back({name, 1, "f32", "f32", 8, ""});
  for (const char *name : {"math.powf", "arith.remf"})
    kernels.push_back({name, 2, "f32", "f32", 8, ""});

  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("heed-aarch64", folder));
  auto in = [&](const char *name) { return (folder + "/" + name).str(); };
  std::vector<float> numbers = edges32();
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 65537 * 3)
    numbers.push_back(bitCast<float>(uint32_t(bits)));
  numbers.resize(numbers.size() / 16 * 16);
  auto write = [&](const char *name, llvm::StringRef bytes) {
    std::ofstream(in(name), std::ios::binary) << bytes.str();
  };
  write("in", {reinterpret_cast<const char *>(numbers.data()), numbers.size() * 4});
  write("kernels.o", compileObject(kernels, there)->getBuffer());
  std::string count = std::to_string(kernels.size()), size = std::to_string(numbers.size()), table,
              declarations;
  for (size_t i = 0; i < kernels.size(); ++i) {
    declarations += "kernel f" + std::to_string(i) + ";\n";
    table += "f" + std::to_string(i) + ", ";
  }
  write("main.c",
        "#include <stdio.h>\ntypedef void kernel(const void *, const void *, const void *, void *);\n" +
            declarations + "static float in[" + size + "], out[8];\nint main(void) {\n  kernel *all[] = {" +
            table + "};\n  if (fread(in, sizeof in, 1, stdin) != 1)\n    return 1;\n  for (int k = 0; k < " +
            count + "; ++k)\n    for (int i = 0; i < " + size +
            "; i += 8) {\n      all[k](in + i, in + (i + " + size + " / 2) % " + size +
            ", 0, out);\n      if (fwrite(out, sizeof out, 1, stdout) != 1)\n        return 1;\n    }\n"
            "  return 0;\n}\n");
  std::string program = in("program"), source = in("main.c"), object = in("kernels.o");
  run("aarch64-linux-gnu-gcc", {"-static", "-O1", source, object, "-o", program});
  run("sh", {"-c", "exec qemu-aarch64 \"$0\" <\"$1\" >\"$2\"", program, in("in"), in("out")});

  std::ifstream results(in("out"), std::ios::binary);
  for (const Kernel &kernel : kernels) {
    LoadedKernel loaded(kernel, here);
    for (size_t i = 0; i < numbers.size(); i += 8) {
      float expected[8], got[8];
      size_t other = (i + numbers.size() / 2) % numbers.size();
      loaded.function(&numbers[i], &numbers[other], nullptr, expected);
      ASSERT_TRUE(results.read(reinterpret_cast<char *>(got), sizeof got));
      for (size_t j = 0; j < 8; ++j)
        ASSERT_TRUE(std::isnan(expected[j]) ? std::isnan(got[j])
                                            : bitCast<uint32_t>(expected[j]) == bitCast<uint32_t>(got[j]))
            << kernel.op << " of " << numbers[i + j] << ", " << numbers[other + j] << ": expected "
            << expected[j] << ", but got " << got[j];
    }
  }
  (void)llvm::sys::fs::remove_directories(folder);
}

} // namespace
} // namespace heed
