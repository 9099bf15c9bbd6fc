// What the commands share; see Driver.h.
#include "compiler/driver/Driver.h"

#include "compiler/Dialects.h"
#include "compiler/import/HuggingFace.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace heed::driver {

void fail(const Twine &file, const Twine &message) { throw Failure((file + ": " + message).str()); }

void check(const Twine &file, Error error) {
  if (error)
    fail(file, toString(std::move(error)));
}

//===--- Context
//------------------------------------------------------------------------------------------===//

/// "FILE:LINE:COL: ", or nothing where the location names no file.
static std::string describe(mlir::Location location) {
  std::string place;
  location->walk([&](mlir::Location part) {
    auto file = dyn_cast<mlir::FileLineColLoc>(part);
    if (!file)
      return mlir::WalkResult::advance();
    place =
        (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn()) + ": ")
            .str();
    return mlir::WalkResult::interrupt();
  });
  return place;
}

Context::Context() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  context = std::make_unique<mlir::MLIRContext>(registry);
  context->printOpOnDiagnostic(false);
  context->getDiagEngine().registerHandler([failed = std::make_shared<bool>()](mlir::Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    if (isError && *failed) // what follows the first error is mostly its consequence
      return;
    *failed |= isError;
    std::string place = describe(diagnostic.getLocation());
    if (isError)
      errs() << "heed: error: " << place << diagnostic.str() << "\n";
    else
      errs() << place
             << (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning ? "warning: " : "remark: ")
             << diagnostic.str() << "\n";
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      errs() << describe(note.getLocation()) << "note: " << note.str() << "\n";
  });
}

Context::~Context() = default;

mlir::MLIRContext &Context::operator*() { return *context; }

void Context::fail() const { throw Failure(""); }

//===--- Models
//-------------------------------------------------------------------------------------------===//

/// `stem` as a C identifier.
static std::string identifier(StringRef stem) {
  std::string name = stem.str();
  for (char &c : name)
    if (!isAlnum(c))
      c = '_';
  return name.empty() || isDigit(name.front()) ? "_" + name : name;
}

mlir::OwningOpRef<mlir::ModuleOp> loadModel(Context &context, StringRef path) {
  mlir::ParserConfig config(&*context);
  SourceMgr sources;
  if (sys::fs::is_directory(path)) {
    std::string text = unwrap(importHuggingFace(path, path));
    sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, path), SMLoc());
  } else {
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
    if (!buffer)
      fail(path,
           "expected a model (.mlir file or Hugging Face folder), but got: " + buffer.getError().message());
    sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());
  }
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, config);
  if (!module)
    context.fail();
  if (module->getBody()->empty())
    fail(path, "expected a module with functions, but got none");
  if (!module->getName())
    module->setName(identifier(sys::path::stem(path)));
  return module;
}

} // namespace heed::driver
