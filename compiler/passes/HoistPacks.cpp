// Moves the packing of weights out of layers and into the parameter image; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/import/Recipe.h"
#include "dialect/Attn.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace heed {
#define GEN_PASS_DEF_HOISTPACKS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

linalg::PackOp packLike(OpBuilder &builder, Location loc, linalg::PackOp pack, Value source) {
  Value destination = linalg::PackOp::createDestinationTensor(
      builder, loc, source, pack.getMixedTiles(), pack.getInnerDimsPos(), pack.getOuterDimsPerm());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(getElementTypeOrSelf(source)));
  return linalg::PackOp::create(builder, loc, source, destination, pack.getInnerDimsPos(),
                                pack.getMixedTiles(), zero, pack.getOuterDimsPerm());
}

bool samePacking(linalg::PackOp a, linalg::PackOp b) {
  return a.getSource() == b.getSource() && a.getInnerDimsPos() == b.getInnerDimsPos() &&
         a.getMixedTiles() == b.getMixedTiles() && a.getOuterDimsPerm() == b.getOuterDimsPerm();
}

struct HoistPacks : impl::HoistPacksBase<HoistPacks> {
  void runOnOperation() override {
    bool changed = true;
    while (changed) {
      changed = false;
      SmallVector<linalg::PackOp> packs;
      getOperation()->walk([&](linalg::PackOp pack) { packs.push_back(pack); });
      for (linalg::PackOp &pack : packs) {
        if (!pack || !hoist(pack, packs))
          continue;
        pack = {}; // it is gone
        changed = true;
      }
    }
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](linalg::UnPackOp unpack) {
      rewriter.setInsertionPoint(unpack);
      if (failed(linalg::lowerUnPack(rewriter, unpack)))
        signalPassFailure();
    });
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPrivate())
        eraseDeadArguments(function);
  }

  bool hoist(linalg::PackOp pack, MutableArrayRef<linalg::PackOp> packs) {
    if (auto unpack = pack.getSource().getDefiningOp<linalg::UnPackOp>())
      return takePacked(pack, unpack);
    if (auto param = pack.getSource().getDefiningOp<attn::ParamOp>())
      return foldIntoImage(pack, param);
    auto argument = dyn_cast<BlockArgument>(pack.getSource());
    if (!argument)
      return false;
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!function || !function.isPrivate())
      return false;
    return hoistToCallers(pack, argument, function, packs);
  }

  /// What a caller packed need not be unpacked to be packed again; what pads the last panel has no meaning.
  static bool takePacked(linalg::PackOp pack, linalg::UnPackOp unpack) {
    if (unpack.getSourceType() != pack.getDestType() || unpack.getInnerDimsPos() != pack.getInnerDimsPos() ||
        unpack.getMixedTiles() != pack.getMixedTiles() ||
        unpack.getOuterDimsPerm() != pack.getOuterDimsPerm())
      return false;
    pack->getResult(0).replaceAllUsesWith(unpack.getSource());
    pack.erase();
    if (unpack->use_empty())
      unpack.erase();
    return true;
  }

  /// The image holds the packed form beside what other uses the parameter has.
  bool foldIntoImage(linalg::PackOp pack, attn::ParamOp param) {
    if (!pack.getOuterDimsPerm().empty() || pack.getInnerDimsPos().size() != 1)
      return false;
    std::optional<int64_t> width = getConstantIntValue(pack.getMixedTiles()[0]);
    auto type = cast<RankedTensorType>(param.getType());
    if (!width || type.getRank() != 2 || !pack.getDestType().hasStaticShape())
      return false;
    OpBuilder builder(param);
    std::string name =
        addPanelRecipe(getOperation(), param.getName(), type, pack.getInnerDimsPos()[0], *width);
    Value packed = attn::ParamOp::create(builder, param.getLoc(), pack.getDestType(), name);
    pack->getResult(0).replaceAllUsesWith(packed);
    pack.erase();
    if (param->use_empty())
      param.erase();
    ++numFolded;
    return true;
  }

  bool hoistToCallers(linalg::PackOp pack, BlockArgument argument, func::FuncOp function,
                      MutableArrayRef<linalg::PackOp> packs) {
    auto uses = SymbolTable::getSymbolUses(function, getOperation());
    if (!uses ||
        llvm::any_of(*uses, [](SymbolTable::SymbolUse use) { return !isa<func::CallOp>(use.getUser()); }))
      return false;
    unsigned number = argument.getArgNumber(), last = function.getNumArguments();
    Type packedType = pack->getResult(0).getType();
    if (failed(function.insertArgument(last, packedType, {}, pack.getLoc())))
      return false;
    for (SymbolTable::SymbolUse use : *uses) {
      auto call = cast<func::CallOp>(use.getUser());
      OpBuilder builder(call);
      Value packed = packLike(builder, call.getLoc(), pack, call.getOperand(number))->getResult(0);
      if (packed.getType() != packedType)
        packed = tensor::CastOp::create(builder, call.getLoc(), packedType, packed);
      call->insertOperands(call->getNumOperands(), packed);
    }
    Value packed = function.getArgument(last);
    for (linalg::PackOp &other : packs)
      if (other && other != pack && samePacking(other, pack)) {
        other->getResult(0).replaceAllUsesWith(packed);
        other.erase();
        other = {};
      }
    for (linalg::PackOp &self : packs)
      if (self == pack)
        self = {};
    pack->getResult(0).replaceAllUsesWith(packed);
    pack.erase();
    return true;
  }

  void eraseDeadArguments(func::FuncOp function) {
    auto uses = SymbolTable::getSymbolUses(function, getOperation());
    for (int64_t i = function.getNumArguments() - 1; i >= 0; --i) {
      if (!function.getArgument(i).use_empty() || failed(function.eraseArgument(i)))
        continue;
      for (SymbolTable::SymbolUse use : *uses)
        use.getUser()->eraseOperand(i);
    }
  }
};

} // namespace
} // namespace heed
