// What a build writes: code, and the header and parameters beside it; see Build.h.
#include "compiler/driver/Build.h"

#include "compiler/import/ParameterImage.h"
#include "compiler/import/ParameterSources.h"
#include "compiler/target/Header.h"
#include "compiler/target/Tables.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace heed::driver {

void Build::print(raw_ostream &os) {
  module->print(os, mlir::OpPrintingFlags().enableDebugInfo(options.lines, /*prettyForm=*/false));
  os << "\n";
}

/// A limit that no phase could be asked about is not kept silently.
void Build::expectWorkspaceKnown() const {
  if (options.limits.workspace && !isWithinWorkspace)
    fail("--max-workspace",
         "expected a phase in which the workspace is a formula, such as buffer, but got " + phaseName(phase));
}

void Build::write(Kind kind, StringRef path) {
  if (options.limits.stack && kind < Kind::Assembly)
    fail("--max-stack", "expected a .s, .o, .a, .so or program, of which the stack is known");
  Outputs outputs;
  if (kind == Kind::MLIR) {
    if (!versions.empty())
      fail("--target", "expected one target for a phase that is printed, but got several");
    expectWorkspaceKnown();
    rebaseParameters(*module, folder, path == "-" ? "" : sys::path::parent_path(path));
    print(outputs.open(path));
  } else {
    writeCode(kind, path, outputs);
  }
  progress.step("writing " + path);
  outputs.commit();
}

/// `path` with another suffix: what lies beside an artifact.
static std::string beside(StringRef path, StringRef suffix) {
  SmallString<128> name(path);
  sys::path::replace_extension(name, suffix);
  return name.str().str();
}

void Build::writeParameters(StringRef path, bool dataOnly, Outputs &outputs) {
  progress.step("packing parameters");
  Checkpoint source = unwrap(file, openParameters(*module, folder));
  auto tell = [&](uint64_t done, uint64_t total) {
    if (total)
      progress.step("packing parameters: " + Twine(done * 100 / total) + " %");
  };
  check(file, dataOnly ? writeParameterData(*module, source, outputs.open(path), tell)
                       : writeParameterImage(*module, source, outputs.open(path), tell));
}

void Build::writeCode(Kind kind, StringRef path, Outputs &outputs) {
  bool isLinkable = kind >= Kind::Object;
  bool isProgram = kind == Kind::Executable;
  if (isProgram && Triple(target.triple).getArch() != Triple(sys::getDefaultTargetTriple()).getArch())
    fail(path, "expected a target that this machine runs for a program, but got " + target.name +
                   "; .o, .a and .so can be made for any");
  lower(Phase::LLVM);
  expectWorkspaceKnown();
  SmallVector<Version> all{{*module, &target}};
  for (auto &version : versions) {
    version->lower(Phase::LLVM);
    StringRef attribute = ModuleInterface::attributeName;
    if (version->getModule()->getAttr(attribute) != (*module)->getAttr(attribute))
      fail("--target", "expected targets whose code takes the same parameters, but " + target.name + " and " +
                           version->target.name + " differ");
    all.push_back({version->getModule(), &version->target});
  }
  auto interface = ModuleInterface::get(*module);
  if (failed(interface))
    context.fail();

  ObjectOptions object;
  object.instrument = instrument;
  object.lines = options.lines;
  if (kind == Kind::SharedLibrary || isProgram)
    object.queryAlias = "heed_module_query";
  bool hasParameters = !interface->parameters.empty();
  bool embeds = hasParameters && (*module)->hasAttr(embedParamsAttr);
  ScratchFolder scratch;
  if (embeds) {
    if (!isLinkable)
      fail(path, "expected a .o, .a, .so or program with --embed-params, which text cannot hold");
    object.embedFile = scratch.path("params");
    object.embedSymbol = embeddedParamsSymbol(*interface);
    Outputs data;
    writeParameters(object.embedFile, /*dataOnly=*/true, data);
    data.commit();
  } else if (hasParameters && isLinkable) {
    writeParameters(beside(path, ".heed"), /*dataOnly=*/false, outputs);
  }
  progress.step("optimizing");
  auto code = Object::build(all, object);
  if (failed(code))
    context.fail();
  progress.step("generating code");
  if (kind == Kind::LLVMIR)
    code->writeLLVM(outputs.open(path));
  else if (kind == Kind::Assembly)
    check(path, code->writeAssembly(outputs.open(path)));
  else if (kind == Kind::Object)
    check(path, code->writeObject(outputs.open(path)));
  else
    link(*code, kind, path, outputs);
  options.limits.checkStack(path, code->stackBytes());
  if (!isLinkable || isProgram)
    return;
  auto names = (*module)->getAttrOfType<mlir::StringAttr>(Target::versionsName);
  HeaderOptions header;
  header.contracts = cast<mlir::StringAttr>((*module)->getAttr("heed.contracts")) == "on";
  header.embedsParams = embeds;
  header.stackBytes = code->stackBytes();
  outputs.open(beside(path, ".h")) << generateHeader(*interface, names ? names.str() : target.name, header);
}

/// What programs are linked with: beside this program's folder, in a build as where it is installed.
static std::vector<std::string> programLibraries() {
  SmallString<128> folder(sys::path::parent_path(sys::fs::getMainExecutable(nullptr, nullptr)));
  sys::path::append(folder, "..", "lib");
  std::vector<std::string> libraries;
  for (StringRef name : {"libheed_main.a", "libheed_runtime.a"}) {
    libraries.push_back((folder + "/" + name).str());
    if (!sys::fs::exists(libraries.back()))
      fail(libraries.back(), "expected heed's runtime here, to link a program, but there is none");
  }
  for (const char *system : {"-lpthreadpool", "-lpthread", "-ldl", "-lm"})
    libraries.push_back(system);
  return libraries;
}

void Build::link(Object &object, Kind kind, StringRef path, Outputs &outputs) {
  std::string name = module->getName()->str() + ".o";
  ScratchFolder scratch;
  std::string objectFile = scratch.path(name);
  Outputs intermediate;
  check(path, object.writeObject(intermediate.open(objectFile)));
  intermediate.commit();
  progress.step("linking");
  if (kind == Kind::Archive) {
    auto bytes = errorOrToExpected(MemoryBuffer::getFile(objectFile));
    auto member = unwrap(path, std::move(bytes));
    check(path, writeArchiveOf(member->getMemBufferRef(), name, outputs.open(path)));
  } else if (kind == Kind::SharedLibrary) {
    check(path, linkSharedLibrary(objectFile, outputs.reserve(path, /*executable=*/true)));
  } else {
    check(path, linkExecutable(objectFile, programLibraries(), instrument,
                               outputs.reserve(path, /*executable=*/true)));
  }
}

} // namespace heed::driver
