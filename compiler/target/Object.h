// From the llvm phase to code: LLVM IR, assembly, objects, archives, shared libraries, executables.
//
// Equal modules and options give equal bytes, without paths or dates.
#pragma once

#include "compiler/target/Stack.h"
#include "compiler/target/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <optional>

namespace heed {

/// A sanitizer that watches emitted code; its runtime comes from the program that the code is linked into.
enum class Instrument { None, Address, Memory, Thread };

/// "none", "address", "memory", "thread"; nullopt for anything else.
std::optional<Instrument> parseInstrument(llvm::StringRef name);
llvm::StringRef instrumentName(Instrument instrument);

struct ObjectOptions {
  Instrument instrument = Instrument::None;
  bool lines = false; ///< debug information that maps instructions to lines of the model
  /// A file that becomes part of the object under the hidden symbol `embedSymbol`. Empty: none.
  std::string embedFile, embedSymbol;
  /// A second name of `NAME_module_query`, as shared libraries have. Empty: none.
  std::string queryAlias;
};

/// A module in phase llvm, and the target that it was lowered for.
struct Version {
  mlir::ModuleOp module;
  const Target *target;
};

/// Optimized code of one module, for one target or several.
class Object {
public:
  /// Translates a module in phase llvm, which is changed on the way, and optimizes it. Of several versions of
  /// one module each call takes the last that the machine can run. An error is reported at the module.
  static mlir::FailureOr<Object> build(llvm::ArrayRef<Version> versions, const ObjectOptions &options);

  void writeLLVM(llvm::raw_ostream &os);
  /// Each changes the module: call only one of them, last.
  llvm::Error writeAssembly(llvm::raw_pwrite_stream &os);
  llvm::Error writeObject(llvm::raw_pwrite_stream &os);

  /// Most stack that a thread needs inside the code, once it has been written; see StackMeter.
  std::optional<uint64_t> stackBytes() const { return reports->stack.deepest(); }

private:
  /// What LLVM told on the way.
  struct Reports {
    std::string problem; ///< empty: none
    StackMeter stack;
  };

  llvm::Error generate(llvm::raw_pwrite_stream &os, llvm::CodeGenFileType type);

  // Order matters: the module dies before its context.
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<Reports> reports;
};

/// Writes an archive whose only member, called `memberName`, is `object`.
llvm::Error writeArchiveOf(llvm::MemoryBufferRef object, llvm::StringRef memberName, llvm::raw_ostream &os);

/// Links an object file into a shared library that needs no other and exports its global symbols.
llvm::Error linkSharedLibrary(llvm::StringRef object, llvm::StringRef output);

/// Links an object file and `libraries` (files, or -l names) into a program with this machine's C compiler.
llvm::Error linkExecutable(llvm::StringRef object, llvm::ArrayRef<std::string> libraries,
                           Instrument instrument, llvm::StringRef output);

} // namespace heed
