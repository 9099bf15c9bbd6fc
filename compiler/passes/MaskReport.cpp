#include "compiler/passes/MaskReport.h"

#include "llvm/Support/Format.h"

using namespace mlir;

namespace heed {

static std::string printBound(const MaskVariables &variables, ArrayRef<Form> forms, StringRef function) {
  std::string text;
  for (const Form &form : forms)
    text += (text.empty() ? "" : ", ") + variables.print(form);
  return forms.size() == 1 ? text : (function + "(" + text + ")").str();
}

std::string printKeys(const MaskVariables &variables, ArrayRef<KeyGroup> groups) {
  std::string text;
  for (const KeyGroup &group : groups)
    for (const KeyInterval &interval : group) {
      text += (text.empty() ? "[" : " ∪ [") + printBound(variables, interval.lows, "max") + ", " +
              printBound(variables, interval.highs, "min") + ")";
      for (const Form &condition : interval.conditions)
        text += " where " + variables.print(condition) + " ≥ 0";
    }
  return text.empty() ? "none" : text;
}

void printMask(raw_ostream &os, attn::AttentionOp op, const MaskAnalysis &analysis) {
  const MaskVariables &variables = analysis.variables;
  os << "some query of [q0, q1) keeps: " << printKeys(variables, analysis.touched) << "\n";
  os << "some query of [q0, q1) drops: " << printKeys(variables, analysis.dropped) << "\n";
  if (analysis.dropped.empty())
    os << "every pair is kept: the mask costs nothing\n";
  else if (analysis.touched.empty())
    os << "no pair is kept: nothing is computed\n";
  else if (analysis.isUpperBound())
    os << "the mask is the end of the loop: no pair is asked\n";
  else
    os << "visited: the first; asked pair by pair: what is in both, and tiles that are not whole\n";
  os << (analysis.keepsSome ? "every query keeps a key, if there is one\n"
                            : "a query may keep no key, and then follows the policy for empty rows\n");
  AsmState state(op->getParentOfType<func::FuncOp>());
  for (unsigned variable = maskVariable::firstFree; variable < variables.size(); ++variable)
    if (Value value = variables.getValue(variable)) {
      os << variables.print(Form::variable(variable)) << " is ";
      if (auto argument = dyn_cast<BlockArgument>(value))
        os << "what is read from number " << argument.getArgNumber() - 6 << " of the reads\n";
      else
        value.getDefiningOp()->print(os, state), os << "\n";
    }
  for (const MaskGap &gap : analysis.gaps) {
    os << "not analysed: " << gap.reason;
    if (auto place = gap.op ? dyn_cast<FileLineColLoc>(gap.op->getLoc()) : FileLineColLoc())
      os << ", line " << place.getLine();
    os << "; what is read says, when the code runs, which of the tiles that are left are skipped, full, or "
          "asked\n";
  }
}

TileMap TileMap::of(const MaskAnalysis &analysis, ArrayRef<int64_t> given, const Tiling &tiling) {
  std::vector<int64_t> values(given);
  values.resize(analysis.variables.size());
  TileMap map{
      values[maskVariable::queryLength], values[maskVariable::keyLength], tiling.askedRows, tiling.panel, {}};
  // What has but an upper bound is walked whole.
  bool isExact = analysis.isUpperBound();
  KeyWalk walk(IntegerOps(analysis.variables, values), analysis, isExact ? 1 : tiling.panel,
               isExact ? 1 : tiling.keys);
  auto getSegments = [&](int64_t begin, int64_t rows) {
    values[maskVariable::tileBegin] = begin;
    values[maskVariable::tileEnd] = std::min(begin + rows, map.queryLength);
    return walk.getSegments(map.keyLength);
  };
  for (int64_t begin = 0; begin < map.queryLength; begin += tiling.askedRows) {
    int64_t height = std::min(tiling.askedRows, map.queryLength - begin);
    std::vector<PairTile> &row =
        map.rows.emplace_back(llvm::divideCeil(map.keyLength, tiling.panel), PairTile::skipped);
    auto fill = [&](ArrayRef<KeySpan<int64_t>> spans, PairTile kind) {
      for (auto [from, to] : spans) {
        for (int64_t key = from; key < to; key += tiling.panel)
          row[key / tiling.panel] = kind;
        (kind == PairTile::full ? map.fullPairs : map.askedPairs) += (to - from) * height;
      }
    };
    if (analysis.dropped.empty()) {
      fill({{0, map.keyLength}}, PairTile::full);
      continue;
    }
    auto full = walk.getFull(getSegments(begin / tiling.rows * tiling.rows, tiling.rows));
    fill(walk.getAsked(getSegments(begin, tiling.askedRows), full), PairTile::asked);
    fill(full, PairTile::full);
  }
  return map;
}

/// What a block of tiles is: asked if they differ.
static PairTile summarize(const TileMap &map, size_t row, size_t rows, size_t column, size_t columns) {
  std::optional<PairTile> all;
  for (size_t i = row; i < std::min(row + rows, map.rows.size()); ++i)
    for (size_t j = column; j < std::min(column + columns, map.rows[i].size()); ++j) {
      if (all && *all != map.rows[i][j])
        return PairTile::asked;
      all = map.rows[i][j];
    }
  return *all;
}

static double percent(int64_t part, int64_t whole) { return whole == 0 ? 0 : 100.0 * part / whole; }

void TileMap::print(raw_ostream &os) const {
  size_t columns = rows.empty() ? 0 : rows[0].size();
  size_t down = llvm::divideCeil(std::max<size_t>(rows.size(), 1), 40),
         across = llvm::divideCeil(std::max<size_t>(columns, 1), 80);
  for (size_t row = 0; row < rows.size(); row += down) {
    os << "  ";
    for (size_t column = 0; column < columns; column += across) {
      PairTile tile = summarize(*this, row, down, column, across);
      os << (tile == PairTile::full ? "█" : tile == PairTile::asked ? "▒" : "·");
    }
    os << "\n";
  }
  int64_t all = queryLength * keyLength;
  os << "  " << queryLength << " queries down, " << keyLength << " keys across, a character for "
     << down * tileRows << " × " << across * panel << "\n  █ full "
     << llvm::format("%.1f %%   ▒ asked %.1f %%   · skipped %.1f %%\n", percent(fullPairs, all),
                     percent(askedPairs, all), percent(all - fullPairs - askedPairs, all));
}

void TileMap::printSvg(raw_ostream &os) const {
  constexpr int64_t width = 640, line = 24;
  int64_t height =
      std::clamp<int64_t>(width * queryLength / std::max<int64_t>(keyLength, 1), line, 2 * width);
  auto colour = [](PairTile tile) {
    return tile == PairTile::full ? "#1f4e79" : tile == PairTile::asked ? "#e08e0b" : "#e6e6e6";
  };
  auto rectangle = [&](int64_t x, int64_t y, int64_t w, int64_t h, PairTile tile) {
    os << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << w << "\" height=\"" << h << "\" fill=\""
       << colour(tile) << "\"/>";
  };
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height + 2 * line
     << "\" font-family=\"sans-serif\" font-size=\"14\">\n"
     << "  <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";

  // In the map one unit is one pair; runs of equal tiles are one rectangle.
  os << "  <svg width=\"" << width << "\" height=\"" << height << "\" viewBox=\"0 0 " << keyLength << " "
     << queryLength << "\" preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\">\n    ";
  rectangle(0, 0, keyLength, queryLength, PairTile::skipped);
  os << "\n";
  for (auto [number, row] : llvm::enumerate(rows)) {
    int64_t top = number * tileRows, rowHeight = std::min(tileRows, queryLength - top);
    for (size_t begin = 0, end; begin < row.size(); begin = end) {
      end = begin;
      while (end < row.size() && row[end] == row[begin])
        ++end;
      if (row[begin] == PairTile::skipped)
        continue;
      int64_t left = begin * panel;
      os << "    ";
      rectangle(left, top, std::min<int64_t>(end * panel, keyLength) - left, rowHeight, row[begin]);
      os << "\n";
    }
  }
  os << "  </svg>\n";

  int64_t all = queryLength * keyLength, left = 0;
  for (auto [tile, name, pairs] : {std::tuple(PairTile::full, "full", fullPairs),
                                   {PairTile::asked, "asked", askedPairs},
                                   {PairTile::skipped, "skipped", all - fullPairs - askedPairs}}) {
    os << "  ";
    rectangle(left, height + 6, 16, 16, tile);
    os << "<text x=\"" << left + line << "\" y=\"" << height + 19 << "\">" << name
       << llvm::format(" %.1f %%</text>\n", percent(pairs, all));
    left += width / 4;
  }
  os << "  <text y=\"" << height + line + 17 << "\">" << queryLength << " queries down, " << keyLength
     << " keys across, in tiles of " << tileRows << " × " << panel << "</text>\n</svg>\n";
}

} // namespace heed
