// Random and adversarial inputs for an entry, the same for the same seed on every machine.
#pragma once

#include "compiler/interpreter/Tensor.h"
#include "compiler/target/Interface.h"

#include <string>
#include <vector>

namespace heed {

/// One call of an entry.
struct InputCase {
  /// "equal values, batch 2, seq 17".
  std::string name;
  /// One per named size of the entry.
  std::vector<int64_t> sizes;
  /// Inputs and states in the order of the entry's arguments; an absent one holds its default.
  std::vector<Tensor> inputs;
  std::vector<bool> absent;
};

struct InputOptions {
  uint64_t seed = 0;
  /// No size is larger, save where the entry's relations demand it.
  int64_t maxSize = 65;
  /// At most so many cases; 0 for all.
  unsigned count = 0;
};

/// Cases over sizes (1, odd, around tiles, 0) and kinds of data: ordinary, large, equal, zeros of both signs,
/// subnormal, one row of NaN, one infinity; index data over its range with both ends; 0/1 data as masks of
/// all ones, random, with padding at either end, and with one row of zeros. Sizes obey the entry's relations;
/// a combination that cannot is left out.
std::vector<InputCase> makeInputCases(const EntryInterface &entry, const InputOptions &options);

} // namespace heed
