// Which keys some query of a tile keeps, and which keys some query drops, as intervals with symbolic bounds.
#pragma once

#include "compiler/passes/MaskConditions.h"

namespace heed {

/// The keys k with max(lows) <= k < min(highs), or none where one of `conditions` is negative. All forms are
/// invariant.
struct KeyInterval {
  llvm::SmallVector<Form> lows, highs, conditions;
};

/// Intervals whose union has no gap, or is taken to have none.
using KeyGroup = std::vector<KeyInterval>;

/// A keep region, analysed for tiles of consecutive queries. A key outside of `touched` is dropped by all
/// queries of the tile, a key outside of `dropped` is kept by all; both may hold more keys than they must.
struct MaskAnalysis {
  /// Past these many groups the last ones are taken for one.
  static constexpr size_t maxGroups = 4;

  MaskVariables variables;
  Form keyLength;
  std::vector<MaskGap> gaps;
  std::vector<KeyGroup> touched, dropped;
  /// No key is in both: there are no partial tiles.
  bool isSharp = false;
  /// Whether a tile visits the keys below a bound, which all its queries keep.
  bool isUpperBound() const;
  /// Whether some pair must be asked.
  bool asks() const { return !touched.empty() && !dropped.empty() && !isUpperBound(); }
  /// With one key at least, every query keeps one.
  bool keepsSome = false;

  static MaskAnalysis of(const MaskContext &context);
};

} // namespace heed
