// Conditions on pairs as sets, and what is left of them for a tile.
#pragma once

#include "compiler/passes/MaskAnalysis.h"

#include "mlir/Analysis/Presburger/PresburgerRelation.h"

namespace heed {

/// The pairs of which a condition may be true and of which it may be false, over the variables of the
/// analysis as dimensions; what is unknown may be both. Divisions are dimensions of their own here, so that
/// no set has local variables and complements are exact.
struct Bracket {
  mlir::presburger::PresburgerSet maybeTrue, maybeFalse;
};

class MaskSets {
public:
  using Relation = mlir::presburger::IntegerPolyhedron;
  using Set = mlir::presburger::PresburgerSet;

  /// Parts of a condition that would make more pieces are not known.
  static constexpr unsigned maxPieces = 12;

  MaskSets(const MaskContext &context, MaskVariables &variables);

  Bracket evaluate(const Condition &condition) const;
  /// The keys of `pairs` for some query of the tile; none if there are none whatever the symbols.
  std::optional<KeyInterval> project(const Relation &pairs);
  /// Whether some key may be in both, for some tile.
  bool mayMeet(const KeyInterval &a, const KeyInterval &b) const;
  /// Whether some key may lie between the two and in none.
  bool mayHaveGap(const KeyInterval &a, const KeyInterval &b) const;
  /// Whether, with one key at least, `key`, a form of the query, is for every query a key with which it is
  /// not in `pairs`.
  bool isOutside(const Set &pairs, const Form &key) const;

private:
  Relation universe() const;
  /// `relation` with a column for every variable there is by now.
  Relation widen(Relation relation) const;
  void require(Relation &relation, const Form &form) const; ///< form >= 0
  /// What holds of tiles and lengths, and of what occurs so far.
  void requireContext(Relation &relation) const;
  void requireInterval(Relation &relation, const KeyInterval &interval, const Form &key) const;
  /// Replaces c·v + g >= 0 with invariant g by ±v + ⌊g/|c|⌋ >= 0, wherever `variable` has |c| > 1.
  void tighten(Relation &relation, unsigned variable);
  void eliminate(Relation &relation, unsigned variable);

  const MaskContext &context;
  MaskVariables &variables;
};

} // namespace heed
