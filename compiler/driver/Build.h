// From a model to an artifact, as `heed compile` does and as verify and bench need it.
#pragma once

#include "compiler/Pipeline.h"
#include "compiler/driver/Driver.h"
#include "compiler/driver/Limits.h"
#include "compiler/target/Object.h"

#include <optional>

namespace heed::driver {

/// What a compilation can make, in the order of the pipeline. `Executable` has no suffix.
enum class Kind { MLIR, LLVMIR, Assembly, Object, Archive, SharedLibrary, Executable };

/// Options that change code. Those that are given must agree with what a module that was printed on its way
/// says of itself; it then holds them for whoever resumes.
struct BuildOptions {
  std::optional<std::string> target; ///< or several: of which a machine takes the last that it can run
  std::optional<std::string> contracts, instrument;
  std::vector<std::string> entries; ///< to keep; empty: all
  bool embedParameters = false;
  bool lines = false;
  bool remarks = false;                                 ///< of passes: what was not done, and why
  std::vector<std::string> parameterFiles;              ///< instead of those that the module names
  std::vector<std::string> dialectPlugins, passPlugins; ///< libraries to load first
  std::vector<std::string> insertions;                  ///< "PHASE:PASSES"
  Limits limits;

  /// Adds the flags. `artifact`: those that matter only where a file is made, too.
  void addFlags(CLI::App &command, bool artifact);
};

class Build {
public:
  /// Reads the model and settles the options.
  Build(Context &context, llvm::StringRef model, BuildOptions options, Progress &progress);

  /// The same of another module, which is in `phase`.
  Build(const Build &like, mlir::OwningOpRef<mlir::ModuleOp> module, Phase phase, Progress &progress);

  mlir::ModuleOp getModule() { return *module; }
  Phase getPhase() const { return phase; }
  /// The folder that the module's names of weights are relative to.
  const std::string &getFolder() const { return folder; }
  /// The passes that lead from the phase before `to` to it, the user's own last.
  void addPasses(mlir::OpPassManager &pm, Phase to) const;
  /// Runs the pipeline to `to`, which must not be behind.
  void lower(Phase to);
  /// Writes the artifact, and its header and parameter image beside it, unless that exceeds a limit.
  void write(Kind kind, llvm::StringRef path);
  /// Prints the module as it is.
  void print(llvm::raw_ostream &os);

private:
  void settle();
  void addVersion(const std::string &target);
  void expectWorkspaceKnown() const;
  void settleInsertions();
  void keepEntries();
  void writeCode(Kind kind, llvm::StringRef path, Outputs &outputs);
  void writeParameters(llvm::StringRef path, bool dataOnly, Outputs &outputs);
  void link(Object &object, Kind kind, llvm::StringRef path, Outputs &outputs);

  Context &context;
  std::string file, folder;
  BuildOptions options;
  Progress &progress;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Phase phase = Phase::Graph;
  bool isWithinWorkspace = false;
  Target target;
  Instrument instrument = Instrument::None;
  std::vector<std::pair<Phase, std::string>> insertions; ///< textual pipelines, each the last of its phase
  /// The same for more targets, each with more instructions than those before it.
  std::vector<std::unique_ptr<Build>> versions;
};

} // namespace heed::driver
