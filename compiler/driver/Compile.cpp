// heed compile: from a model to IR, assembly, an object, an archive, a shared library or a program.
#include "compiler/driver/Build.h"
#include "compiler/driver/Remarks.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heed::driver {

/// The kind that a file name asks for.
static std::optional<Kind> kindOf(StringRef path) {
  return StringSwitch<std::optional<Kind>>(sys::path::extension(path))
      .Case(".mlir", Kind::MLIR)
      .Case(".ll", Kind::LLVMIR)
      .Case(".s", Kind::Assembly)
      .Case(".o", Kind::Object)
      .Case(".a", Kind::Archive)
      .Case(".so", Kind::SharedLibrary)
      .Case("", Kind::Executable)
      .Default(std::nullopt);
}

namespace {
struct Compile {
  std::string model, output, emit, remarks;
  BuildOptions options;

  /// What to make, and the phase to print if it is MLIR.
  std::pair<Kind, Phase> choose() const {
    std::optional<Kind> ofName = output.empty() || output == "-" ? std::nullopt : kindOf(output);
    if (emit.empty()) {
      if (output.empty() || output == "-")
        fail("-o", "expected a file to write, or --emit=PHASE to print");
      if (!ofName)
        fail(output, "expected a name that ends in .mlir, .ll, .s, .o, .a, .so or has no suffix, but got '" +
                         sys::path::extension(output) + "'");
      return {*ofName, Phase::LLVM};
    }
    std::optional<Phase> phase = parsePhase(emit);
    Kind kind = Kind::MLIR;
    if (emit == "asm")
      kind = Kind::Assembly;
    else if (emit == "obj")
      kind = Kind::Object;
    else if (!phase)
      fail("--emit", "expected graph, fused, tiled, buffer, vector, llvm, asm or obj, but got " + emit);
    if (ofName && *ofName != kind && *ofName != Kind::Executable)
      fail(output, "expected a name that suits --emit=" + emit + ", but got suffix '" +
                       sys::path::extension(output) + "'");
    return {kind, phase.value_or(Phase::LLVM)};
  }

  void run() {
    auto [kind, phase] = choose();
    if (!remarks.empty() && remarks != "text" && remarks != "json")
      fail("--remarks", "expected text or json, but got " + remarks);
    options.remarks = !remarks.empty();
    Progress progress("compile");
    Context context;
    std::optional<RemarkTaker> lines;
    if (remarks == "json")
      lines.emplace(&*context, [](const auto &remark) { errs() << remark.dump() << "\n"; });
    Build build(context, model, options, progress);
    build.lower(phase);
    build.write(kind, output.empty() ? "-" : StringRef(output));
  }
};
} // namespace

void addCompile(CLI::App &app) {
  auto compile = std::make_shared<Compile>();
  CLI::App *command =
      app.add_subcommand("compile", "Compile a model; the kind of output follows from its name");
  command->add_option("MODEL", compile->model, "An .mlir file or a Hugging Face folder")->required();
  command->add_option("-o,--output", compile->output,
                      "NAME.mlir, .ll, .s, .o, .a, .so, or NAME for a program; a header and the parameters "
                      "are written beside code");
  command->add_option("--emit", compile->emit,
                      "Stop after graph, fused, tiled, buffer, vector, llvm, asm or obj, and print");
  command->add_option("--remarks", compile->remarks,
                      "Say on standard error what was not fused and why: as text or as json, a line each");
  compile->options.addFlags(*command, /*artifact=*/true);
  command->footer("Examples:\n"
                  "  heed compile minilm/ -o minilm.so --target=x86-64-v3\n"
                  "  heed compile attention.mlir --emit=fused");
  command->callback([compile] { compile->run(); });
}

} // namespace heed::driver
