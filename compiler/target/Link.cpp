// Archives, shared libraries and programs made of one object; see Object.h.
#include "compiler/target/Object.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

namespace heed {

using namespace llvm;

Error writeArchiveOf(MemoryBufferRef object, StringRef memberName, raw_ostream &os) {
  NewArchiveMember member(MemoryBufferRef(object.getBuffer(), memberName));
  return writeArchiveToStream(os, member, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU,
                              /*Deterministic=*/true, /*Thin=*/false);
}

/// The first of `names` that is beside LLVM's own tools or in PATH.
static Expected<std::string> findTool(ArrayRef<StringRef> names) {
  for (StringRef name : names) {
    if (auto found = sys::findProgramByName(name, {StringRef(HEED_LLVM_TOOLS)}))
      return *found;
    if (auto found = sys::findProgramByName(name))
      return *found;
  }
  return createStringError("expected " + join(names, " or ") +
                           " in " HEED_LLVM_TOOLS " or PATH, but found none");
}

/// Runs `arguments`, the first of which is the program; on failure its first line of complaint is the error.
static Error runTool(ArrayRef<std::string> arguments) {
  SmallString<128> log;
  if (std::error_code error = sys::fs::createTemporaryFile("heed", "log", log))
    return createStringError("expected a temporary file for the linker's messages, but got: " +
                             error.message());
  FileRemover remover(log);
  SmallVector<StringRef> refs(arguments.begin(), arguments.end());
  std::string problem;
  int rc = sys::ExecuteAndWait(refs[0], refs, std::nullopt, {StringRef(""), StringRef(log), StringRef(log)},
                               0, 0, &problem);
  if (rc == 0)
    return Error::success();
  if (problem.empty())
    if (auto text = MemoryBuffer::getFile(log))
      problem = (*text)->getBuffer().split('\n').first.str();
  if (problem.empty())
    problem = "exit " + std::to_string(rc);
  return createStringError("linking failed: " + problem);
}

Error linkSharedLibrary(StringRef object, StringRef output) {
  Expected<std::string> linker = findTool({"ld.lld", "ld.lld-22"});
  if (!linker)
    return linker.takeError();
  return runTool({*linker, "-shared", "-z", "now", "-z", "noexecstack", "--hash-style=gnu", "--eh-frame-hdr",
                  "--build-id=none", "--gc-sections", "-o", output.str(), object.str()});
}

Error linkExecutable(StringRef object, ArrayRef<std::string> libraries, Instrument instrument,
                     StringRef output) {
  Expected<std::string> compiler = findTool({"clang", "clang-22", "cc"});
  if (!compiler)
    return compiler.takeError();
  SmallVector<std::string> arguments{*compiler, "-o", output.str(), object.str()};
  append_range(arguments, libraries);
  if (instrument != Instrument::None)
    arguments.push_back(("-fsanitize=" + instrumentName(instrument)).str());
#if LLVM_ADDRESS_SANITIZER_BUILD // the runtime is of this build
  arguments.push_back("-fsanitize=address,undefined");
#endif
  return runTool(arguments);
}

} // namespace heed
