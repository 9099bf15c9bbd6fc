// What heed explain says of a mask.
#pragma once

#include "dialect/Attn.h"

#include <nlohmann/json.hpp>

namespace heed::driver {

/// The sizes at which masks are drawn; an attention's own static sizes come first.
struct MapSizes {
  int64_t queries = 384, keys = 384;
};

/// Of an attention with a keep region: what its analysis found, a sentence a line, and the map of its tiles,
/// a row of tiles a line. Positions are 0, and so is what the region reads.
nlohmann::ordered_json mapMask(attn::AttentionOp op, const MapSizes &sizes,
                               const std::vector<std::string> &keep);

/// The map as SVG.
void drawMask(llvm::raw_ostream &os, attn::AttentionOp op, const MapSizes &sizes);

} // namespace heed::driver
