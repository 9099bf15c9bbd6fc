// What the analysis of a mask found, for people to read and to look at.
#pragma once

#include "compiler/passes/KeyWalk.h"

#include "llvm/Support/raw_ostream.h"

namespace heed {

/// The keys of `groups` as text: `[0, min(q1, key_len)) ∪ …`, or `none`.
std::string printKeys(const MaskVariables &variables, llvm::ArrayRef<KeyGroup> groups);

/// Prints for an attention with a keep region, whose tiles have `tileRows` queries: the keys that some query
/// of a tile [q0, q1) keeps, those that some query drops, and therefore what the loops visit; what a symbol
/// stands for; and why a part of the mask is not analysed.
void printMask(llvm::raw_ostream &os, attn::AttentionOp op, const MaskAnalysis &analysis);

/// What becomes of the pairs of a tile of queries and a panel of keys.
enum class PairTile : char { skipped, asked, full };

/// How attention is cut: tiles of `rows` queries × `keys` keys, of which those that are asked have
/// `askedRows`, a part of `rows`, and begin on panels.
struct Tiling {
  int64_t rows, askedRows, panel, keys;
};

/// A mask at given sizes, a row of tiles for as many queries as are asked at once.
struct TileMap {
  int64_t queryLength, keyLength, tileRows, panel;
  std::vector<std::vector<PairTile>> rows;
  int64_t askedPairs = 0, fullPairs = 0;

  /// `values`: by number of variable, what is not a size is 0 where it is missing.
  static TileMap of(const MaskAnalysis &analysis, llvm::ArrayRef<int64_t> values, const Tiling &tiling);

  /// A character for every tile, or for several where there are more than 40 × 80.
  void print(llvm::raw_ostream &os) const;
  void printSvg(llvm::raw_ostream &os) const;
};

} // namespace heed
