// Names the parallel loops of the tiled phase by what they compute; see Passes.td.
#include "compiler/passes/Passes.h"
#include "compiler/passes/Structured.h"
#include "dialect/Attn.h"

namespace heed {
#define GEN_PASS_DEF_NAMEKERNELS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// The most telling operation of a loop decides.
StringRef kindOf(scf::ForallOp loop) {
  bool hasAttention = false, hasProduct = false, hasPack = false, hasReduction = false;
  loop.walk([&](Operation *op) {
    hasAttention |= isa<attn::OnlineAttentionOp>(op);
    hasPack |= isa<linalg::PackOp, linalg::TransposeOp>(op);
    hasProduct |= isa<attn::TileMatmulOp>(op);
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured)
      return;
    hasProduct |= linalg::isaContractionOpInterface(structured);
    hasReduction |= structured.getNumReductionLoops() > 0;
  });
  return hasAttention   ? "attention"
         : hasProduct   ? "matmul"
         : hasPack      ? "pack"
         : hasReduction ? "rows"
                        : "elementwise";
}

struct NameKernels : impl::NameKernelsBase<NameKernels> {
  void runOnOperation() override {
    llvm::StringMap<unsigned> counts;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
      StringRef kind = kindOf(loop);
      loop->setAttr(kernelAttr, StringAttr::get(&getContext(), kind + Twine(counts[kind]++)));
      return WalkResult::skip(); // loops inside belong to it
    });
  }
};

} // namespace
} // namespace heed
