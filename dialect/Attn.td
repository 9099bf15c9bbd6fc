#ifndef HEED_DIALECT_ATTN
#define HEED_DIALECT_ATTN

include "dialect/AttnScoreOps.td"
include "dialect/AttnMaskOps.td"
include "dialect/AttnAttentionOps.td"
include "dialect/AttnTileOps.td"
include "dialect/AttnLayerOps.td"

#endif
