// Lets transform scripts tile linear layers and fuse them with what they feed.
#pragma once

#include "mlir/IR/MLIRContext.h"

namespace heed::attn {

/// Gives `attn.linear` MLIR's tiling interface: a parallel loop for each dimension of its result.
void attachLinearTiling(mlir::MLIRContext &context);

} // namespace heed::attn
