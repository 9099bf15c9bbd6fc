// Work in a process of its own.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace heed::driver {

/// The line that `work` returns in a copy of this process, which has no other threads: what crashes there, or
/// takes more than two minutes, does no harm here and gives "SIGNAL" and its name. Nothing where `work`
/// fails.
std::optional<std::string> inChild(bool quiet, llvm::function_ref<std::string()> work);

} // namespace heed::driver
