// The C header beside an object: all that an embedder needs to know, and includes.
#pragma once

#include "compiler/target/Interface.h"

namespace heed {

struct HeaderOptions {
  bool contracts = true;
  /// Most stack a thread uses inside an entry, where it is known.
  std::optional<uint64_t> stackBytes;
  /// The whole parameter image is part of the object.
  bool embedsParams = false;
};

/// A header that declares and documents the entries, for C99 and C++11, and needs no other of heed's.
/// `targets`: their names.
std::string generateHeader(const ModuleInterface &interface, llvm::StringRef targets,
                           const HeaderOptions &options);

} // namespace heed
