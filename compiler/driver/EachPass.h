// heed verify --each-pass: which pass is wrong.
#pragma once

#include "compiler/driver/Build.h"
#include "compiler/interpreter/Inputs.h"

namespace heed::driver {

struct EachPassOptions {
  InputOptions inputs;
  int32_t threads;
  std::string passes;     ///< these alone, not the pipeline; empty: all that compile
  std::string reproducer; ///< where the least that shows a wrong pass is left; empty: MODEL.wrong.mlir
  /// Flags that load the same plugins and insert the same passes, each followed by a space.
  std::string plugins, insertions;
  bool json;
};

/// Evaluates the module of `build`, which is not changed, before and after every pass. Passes that the
/// interpreter does not follow are compiled and run together; of those that turn out wrong each is left out
/// in turn. Prints what was checked; a wrong pass is a failure that names it.
void verifyEachPass(Context &context, llvm::StringRef file, Build &build, const EachPassOptions &options,
                    Progress &progress);

} // namespace heed::driver
