// One-line errors: file, place, expectation, finding.
#pragma once

#include "llvm/Support/Error.h"

#include <fmt/format.h>

namespace heed {

/// An error whose text is formatted as by fmt::format.
template <typename... Args> llvm::Error makeError(fmt::format_string<Args...> format, Args &&...args) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 fmt::format(format, std::forward<Args>(args)...));
}

} // namespace heed
