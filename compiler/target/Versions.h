// One object for several CPUs: versions of the same module, of which each call takes one that the machine can
// run.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <vector>

namespace heed {

/// Links `others` into `module`, all made by EmitInterface of the same model and annotated with their CPUs.
/// Every entry of `module` then goes to the last of them whose instructions the machine has, or to its own
/// version, which comes first and refuses the machine if that lacks even its own.
llvm::Error addVersions(llvm::Module &module, std::vector<std::unique_ptr<llvm::Module>> others);

} // namespace heed
