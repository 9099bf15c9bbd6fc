// heed-lsp-server: completion, hover and diagnostics for .mlir files of the attn dialect and of plugins.
#include "compiler/Dialects.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  heed::registerDialects(registry);
  // The options of heed-opt, so that an editor can be given the same command line.
  const llvm::ExitOnError unwrap("heed-lsp-server: error: ");
  const llvm::cl::list<std::string> dialects(
      "load-dialect-plugin", llvm::cl::desc("Load operations of your own; may be repeated"),
      llvm::cl::value_desc("FILE"), llvm::cl::callback([&](const std::string &file) {
        unwrap(mlir::DialectPlugin::load(file)).registerDialectRegistryCallbacks(registry);
      }));
  const llvm::cl::list<std::string> passes(
      "load-pass-plugin", llvm::cl::desc("Load passes of your own; may be repeated"),
      llvm::cl::value_desc("FILE"), llvm::cl::callback([&](const std::string &file) {
        unwrap(mlir::PassPlugin::load(file)).registerPassRegistryCallbacks();
      }));
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
