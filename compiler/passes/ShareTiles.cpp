// Shares the tiles of a parallel loop out among slots; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

namespace heed {
#define GEN_PASS_DEF_SHARETILES
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct ShareTiles : impl::ShareTilesBase<ShareTiles> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops, inner;
    getOperation().walk([&](scf::ForallOp loop) {
      (loop->getParentOfType<scf::ForallOp>() ? inner : loops).push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : inner) {
      rewriter.setInsertionPoint(loop);
      if (failed(scf::forallToForLoop(rewriter, loop)))
        return signalPassFailure();
    }
    Value threads = loops.empty() ? Value() : Value(getOperation().getArguments().take_back(2)[0]);
    for (scf::ForallOp loop : loops)
      share(loop, threads);
  }

  static void share(scf::ForallOp loop, Value threads) {
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    SmallVector<Value> counts;
    Value total = indexConstant(b, 1);
    for (OpFoldResult count : loop.getMixedUpperBound()) {
      counts.push_back(asValue(b, count));
      total = b.createOrFold<arith::MulIOp>(total, counts.back());
    }
    Value slots = b.createOrFold<arith::MinSIOp>(threads, total);
    auto shared = scf::ForallOp::create(b, SmallVector<OpFoldResult>{slots}, ValueRange(), std::nullopt);
    shared->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    b.setInsertionPointToStart(shared.getBody());
    Value slot = shared.getInductionVar(0), next = arith::AddIOp::create(b, slot, indexConstant(b, 1));
    auto boundary = [&](Value at) -> Value {
      return arith::DivSIOp::create(b, arith::MulIOp::create(b, at, total), slots);
    };
    Value first = boundary(slot), end = boundary(next);
    auto own = scf::ForOp::create(b, first, end, indexConstant(b, 1));
    b.setInsertionPointToStart(own.getBody());
    auto at =
        affine::AffineDelinearizeIndexOp::create(b, own.getInductionVar(), counts, /*hasOuterBound=*/true);
    loop.getTerminator()->erase();
    own.getBody()->getOperations().splice(Block::iterator(own.getBody()->getTerminator()),
                                          loop.getBody()->getOperations());
    for (auto [before, after] : llvm::zip_equal(loop.getInductionVars(), at.getResults()))
      before.replaceAllUsesWith(after);
    loop.erase();
  }
};

} // namespace
} // namespace heed
