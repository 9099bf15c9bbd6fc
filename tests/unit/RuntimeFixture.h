// A module made by hand, for the tests of the runtime.
#pragma once

#include "runtime/heed.h"
#include "tests/unit/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace heed::test {

inline constexpr heed_type f32 = {HEED_TYPE_FLOAT, 32, 1}, f64 = {HEED_TYPE_FLOAT, 64, 1},
                           i64 = {HEED_TYPE_INT, 64, 1};

/// Module `toy` with one entry over sizes past, seq: y[past + seq] = x[seq] + the last of state[past, 2],
/// where ids[seq] in [0, past] may be absent, and seq <= 4.
struct ToyModule {
  ToyModule();
  ToyModule(const ToyModule &) = delete;

  heed_affine affine(std::vector<int32_t> sizes, std::vector<int64_t> coefficients, int64_t constant,
                     const char *text);

  /// What the next call returns instead of computing.
  static int32_t status;
  /// Bytes of workspace it asks for.
  static size_t workspaceBytes;
  /// What the last call was given.
  static size_t givenWorkspace;
  static int64_t givenStride;

  std::vector<std::vector<int32_t>> sizeLists;
  std::vector<std::vector<int64_t>> coefficientLists;
  heed_affine past, seq, sum, two, zero, limit;
  const heed_affine *xShape[1], *idsShape[1], *stateShape[2], *yShape[1];
  heed_argument x, ids, state, y;
  const heed_argument *arguments[4];
  heed_size pastSize, seqSize;
  const heed_size *sizes[2];
  heed_relation relation;
  const heed_relation *relations[1];
  heed_entry entry;
  const heed_entry *entries[1];
  heed_parameters parameters;
  heed_module module;
};

} // namespace heed::test
