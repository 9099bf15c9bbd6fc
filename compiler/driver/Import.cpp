// heed import: from a Hugging Face folder to a readable model.
#include "compiler/driver/Driver.h"

#include "compiler/import/HuggingFace.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heed::driver {

void addImport(CLI::App &app) {
  struct Options {
    std::string folder, output = "-";
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("import", "Write a Hugging Face folder's model as MLIR");
  command->add_option("DIR", options->folder, "A folder with config.json and model.safetensors")->required();
  command->add_option("-o,--output", options->output, "The .mlir file to write [standard output]");
  command->footer("Example:\n  heed import minilm/ -o minilm.mlir");
  command->callback([options] {
    if (!sys::fs::is_directory(options->folder))
      fail(options->folder, "expected a Hugging Face folder, but it is not a folder");
    StringRef place = options->output == "-" ? StringRef(".") : sys::path::parent_path(options->output);
    Outputs outputs;
    outputs.open(options->output) << unwrap(importHuggingFace(options->folder, place.empty() ? "." : place));
    outputs.commit();
  });
}

} // namespace heed::driver
