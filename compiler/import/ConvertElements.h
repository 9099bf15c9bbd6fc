// Elements of one type of storage as those of another.
#pragma once

#include "compiler/import/Safetensors.h"

namespace heed {

/// Reads `count` elements `stride` bytes apart, and writes them one after the other.
using ConvertRun = void (*)(const char *from, int64_t stride, int64_t count, char *to);

/// Widening is exact, narrowing rounds to nearest even. Null if there is no such conversion.
ConvertRun getConvertRun(StorageType from, StorageType to);

} // namespace heed
