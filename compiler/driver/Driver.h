// What the commands of `heed` share: errors, progress, outputs, models.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace heed::driver {

/// Ends a command with exit code 1 after one line, `heed: error: <what>`; an empty one has been said already.
struct Failure : std::runtime_error {
  using runtime_error::runtime_error;
};
[[noreturn]] void fail(const llvm::Twine &file, const llvm::Twine &message);

/// The value, or the error as a failure.
template <typename T> T unwrap(llvm::Expected<T> value) {
  if (!value)
    throw Failure(toString(value.takeError()));
  return std::move(*value);
}
/// The same, about `file`.
template <typename T> T unwrap(const llvm::Twine &file, llvm::Expected<T> value) {
  if (!value)
    fail(file, toString(value.takeError()));
  return std::move(*value);
}
void check(const llvm::Twine &file, llvm::Error error);

/// Says on a terminal, from the third second on, what is being done and for how long.
class Progress {
public:
  explicit Progress(llvm::StringRef command);
  ~Progress();
  void step(const llvm::Twine &what);

private:
  struct Printer;
  std::unique_ptr<Printer> printer; ///< null where no terminal is attached
};

/// Files that appear under their names together, when all of them are written. What is not committed leaves
/// nothing behind. Devices and pipes are written at once; "-" is standard output.
class Outputs {
public:
  Outputs();
  ~Outputs();

  /// A stream to the file that will be `path`.
  llvm::raw_pwrite_stream &open(llvm::StringRef path, bool executable = false);
  /// The temporary name of the file that will be `path`, for what writes by name.
  std::string reserve(llvm::StringRef path, bool executable = false);
  void commit();

private:
  struct File;
  std::vector<std::unique_ptr<File>> files;
};

/// A folder for intermediate files, removed with all it holds.
class ScratchFolder {
public:
  ScratchFolder();
  ~ScratchFolder();
  std::string path(llvm::StringRef name) const;

private:
  std::string folder;
};

/// A context that knows all dialects and reports the first error as `heed: error: FILE:LINE:COL: …`, with its
/// notes; remarks and warnings in MLIR's way.
class Context {
public:
  Context();
  ~Context();
  mlir::MLIRContext &operator*();
  /// Ends the command after an error that was reported.
  [[noreturn]] void fail() const;

private:
  std::unique_ptr<mlir::MLIRContext> context;
};

/// Reads an .mlir file or imports a Hugging Face folder. `outputFolder`: where what is written will lie, so
/// that relative names of weights hold there.
mlir::OwningOpRef<mlir::ModuleOp> loadModel(Context &context, llvm::StringRef path);

// One file per command. Each adds itself, and runs when it was parsed.
void addImport(CLI::App &app);
void addCompile(CLI::App &app);
void addRun(CLI::App &app);
void addVerify(CLI::App &app);
void addBench(CLI::App &app);
void addExplain(CLI::App &app);

} // namespace heed::driver
