// Cuts a linear layer into tiles of rows and output features; see LinearTiling.h.
#include "dialect/LinearTiling.h"

#include "dialect/Attn.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;

namespace heed::attn {
namespace {

/// A tile is the same layer on slices: its regions see no coordinates. The depth is no loop, for bias and
/// epilogue are of the whole sum.
struct LinearTiling : TilingInterface::ExternalModel<LinearTiling, LinearOp> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    return SmallVector<utils::IteratorType>(cast<LinearOp>(op).getResult().getType().getRank(),
                                            utils::IteratorType::parallel);
  }

  SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &builder) const {
    auto linear = cast<LinearOp>(op);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, op->getLoc(), linear.getInput());
    sizes.back() = tensor::getMixedSize(builder, op->getLoc(), linear.getWeight(), 0);
    return llvm::map_to_vector(sizes, [&](OpFoldResult size) {
      return Range{builder.getIndexAttr(0), size, builder.getIndexAttr(1)};
    });
  }

  FailureOr<TilingResult> getTiledImplementation(Operation *op, OpBuilder &builder,
                                                 ArrayRef<OpFoldResult> offsets,
                                                 ArrayRef<OpFoldResult> sizes) const {
    auto whole = cast<LinearOp>(op);
    ImplicitLocOpBuilder b(op->getLoc(), builder);
    TilingResult result;
    // Dimension i of the slice is loop `loops[i]` of the tile, or whole where that is none.
    auto slice = [&](Value tensor, ArrayRef<std::optional<unsigned>> loops) -> Value {
      SmallVector<OpFoldResult> at(loops.size(), b.getIndexAttr(0)), strides(loops.size(), b.getIndexAttr(1)),
          extents = tensor::getMixedSizes(b, b.getLoc(), tensor);
      for (auto [dim, loop] : llvm::enumerate(loops))
        if (loop) {
          at[dim] = offsets[*loop];
          extents[dim] = sizes[*loop];
        }
      auto extract = tensor::ExtractSliceOp::create(b, tensor, at, extents, strides);
      result.generatedSlices.push_back(extract);
      return extract;
    };
    unsigned features = offsets.size() - 1;
    SmallVector<std::optional<unsigned>> rows;
    for (unsigned loop = 0; loop < features; ++loop)
      rows.push_back(loop);
    rows.push_back(std::nullopt);
    Value input = slice(whole.getInput(), rows), weight = slice(whole.getWeight(), {features, std::nullopt});
    Value bias = whole.getBias() ? slice(whole.getBias(), {features}) : Value();
    SmallVector<Value> reads;
    for (auto [read, map] :
         llvm::zip_equal(whole.getReads(), whole.getReadMaps().getAsValueRange<AffineMapAttr>()))
      reads.push_back(
          slice(read, llvm::map_to_vector(map.getResults(), [](AffineExpr expr) -> std::optional<unsigned> {
                  auto loop = dyn_cast<AffineDimExpr>(expr);
                  return loop ? std::optional(loop.getPosition()) : std::nullopt;
                })));
    SmallVector<int64_t> shape = llvm::map_to_vector(
        sizes, [](OpFoldResult size) { return getConstantIntValue(size).value_or(ShapedType::kDynamic); });
    auto tile = LinearOp::create(b, whole.getResult().getType().clone(shape), input, weight, bias, reads,
                                 whole.getReadMapsAttr());
    tile->setDiscardableAttrs(whole->getDiscardableAttrDictionary());
    IRMapping mapping;
    whole.getEpilogue().cloneInto(&tile.getEpilogue(), mapping);
    result.tiledOps = {tile};
    result.tiledValues = {tile.getResult()};
    return result;
  }

  LogicalResult getResultTilePosition(Operation *, OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
                                      SmallVector<OpFoldResult> &resultSizes) const {
    resultOffsets.assign(offsets.begin(), offsets.end());
    resultSizes.assign(sizes.begin(), sizes.end());
    return success();
  }

  LogicalResult getIterationDomainTileFromResultTile(Operation *, OpBuilder &, unsigned,
                                                     ArrayRef<OpFoldResult> offsets,
                                                     ArrayRef<OpFoldResult> sizes,
                                                     SmallVectorImpl<OpFoldResult> &domainOffsets,
                                                     SmallVectorImpl<OpFoldResult> &domainSizes) const {
    domainOffsets.assign(offsets.begin(), offsets.end());
    domainSizes.assign(sizes.begin(), sizes.end());
    return success();
  }

  FailureOr<TilingResult> generateResultTileValue(Operation *op, OpBuilder &builder, unsigned,
                                                  ArrayRef<OpFoldResult> offsets,
                                                  ArrayRef<OpFoldResult> sizes) const {
    return getTiledImplementation(op, builder, offsets, sizes);
  }
};

} // namespace

void attachLinearTiling(MLIRContext &context) { LinearOp::attachInterface<LinearTiling>(context); }

} // namespace heed::attn
