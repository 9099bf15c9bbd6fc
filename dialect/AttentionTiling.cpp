// Cuts attention into tiles of batch entries, heads, queries and value columns. See AttnAttentionOps.td.
#include "dialect/Checks.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace heed::attn {

/// The loops. A letter that a layout lacks counts as a dimension of size 1.
static constexpr StringLiteral loops = "bhqe";

/// The letters of a result: log_sum_exp lacks e.
static std::string lettersOf(AttentionOp op, unsigned resultNumber) {
  std::string letters = op.getLetters().result.str();
  if (resultNumber == 1)
    letters.erase(letters.find('e'), 1);
  return letters;
}

namespace {

/// Offset and size along one dimension.
using Extent = std::pair<OpFoldResult, OpFoldResult>;
using Extents = llvm::DenseMap<char, Extent>;

/// A tile of an attention, as an attention of its own.
class AttentionTile {
public:
  AttentionTile(OpBuilder &builder, AttentionOp whole, ArrayRef<OpFoldResult> offsets,
                ArrayRef<OpFoldResult> sizes)
      : b(whole.getLoc(), builder), whole(whole), letters(whole.getLetters()) {
    for (auto [letter, offset, size] : llvm::zip_equal(loops, offsets, sizes))
      extents[letter] = {offset, size};
  }

  FailureOr<TilingResult> build();

private:
  Value asValue(OpFoldResult size) { return getValueOrCreateConstantIndexOp(b, b.getLoc(), size); }
  bool isWhole(char letter);
  /// The key heads of the tile, unless it takes part of several groups.
  std::optional<Extent> getKeyHeads();
  Value slice(Value tensor, function_ref<std::optional<Extent>(int64_t dim)> extentOf);
  /// What the tile sees of a tensor with letters.
  Value slice(Value tensor, StringRef own, const Extents &extents);
  /// What it sees of a tensor read, whose map is from (batch, head, query, key).
  Value sliceRead(Value read, AffineMap map);
  /// What it sees of an optional tensor of one element per `letter`, or of one number for all.
  Value sliceLine(Value tensor, char letter);
  Value getQueryOffset();
  /// Lets the regions of `tile` see what `change` makes of their argument `number`, which counts as in a keep
  /// region, and of `known`.
  void changeArgument(AttentionOp tile, unsigned number, OpFoldResult known,
                      function_ref<Value(ImplicitLocOpBuilder &, Value argument, Value known)> change);

  ImplicitLocOpBuilder b;
  AttentionOp whole;
  AttentionLayout letters;
  Extents extents;
  SmallVector<Operation *> slices;
};

} // namespace

bool AttentionTile::isWhole(char letter) {
  auto [tensor, own] = letter == 'e' ? std::pair<Value, StringRef>(whole.getValue(), letters.value)
                                     : std::pair<Value, StringRef>(whole.getQuery(), letters.query);
  int64_t dim = AttentionLayout::find(own, letter);
  auto [offset, size] = extents[letter];
  if (dim < 0)
    return true;
  if (!isZeroInteger(offset))
    return false;
  if (auto constant = getConstantIntValue(size))
    return *constant == cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  auto extent = cast<Value>(size).getDefiningOp<tensor::DimOp>();
  return extent && extent.getSource() == tensor && extent.getConstantIndex() == dim;
}

std::optional<Extent> AttentionTile::getKeyHeads() {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  int64_t dim = AttentionLayout::find(letters.key, 'h');
  if (dim < 0)
    return Extent(zero, one);
  OpFoldResult shared = tensor::getMixedSize(b, b.getLoc(), whole.getKey(), dim);
  if (isWhole('h'))
    return Extent(zero, shared);
  OpFoldResult heads =
      tensor::getMixedSize(b, b.getLoc(), whole.getQuery(), AttentionLayout::find(letters.query, 'h'));
  auto [offset, size] = extents['h'];
  int64_t group = 0; // where that is known
  if (auto all = getConstantIntValue(heads), own = getConstantIntValue(shared); all && own)
    group = *all / *own;
  if (group == 1)
    return extents['h'];
  int64_t count = getConstantIntValue(size).value_or(0);
  bool isWithin = count == 1 || (count && group && group % count == 0);
  if (!isWithin && !(count && group && count % group == 0))
    return std::nullopt;
  Value perKey = b.createOrFold<arith::DivUIOp>(asValue(heads), asValue(shared));
  Value first = b.createOrFold<arith::DivUIOp>(asValue(offset), perKey);
  return Extent(getAsOpFoldResult(first), isWithin ? one : b.getIndexAttr(count / group));
}

Value AttentionTile::slice(Value tensor, function_ref<std::optional<Extent>(int64_t)> extentOf) {
  SmallVector<OpFoldResult> offsets, sizes = tensor::getMixedSizes(b, b.getLoc(), tensor);
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    offsets.push_back(b.getIndexAttr(0));
    if (std::optional<Extent> extent = extentOf(dim))
      std::tie(offsets.back(), size) = *extent;
  }
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  slices.push_back(tensor::ExtractSliceOp::create(b, tensor, offsets, sizes, strides));
  return slices.back()->getResult(0);
}

Value AttentionTile::slice(Value tensor, StringRef own, const Extents &extents) {
  return slice(tensor, [&](int64_t dim) {
    auto found = extents.find(own[dim]);
    return found == extents.end() ? std::nullopt : std::optional(found->second);
  });
}

Value AttentionTile::sliceRead(Value read, AffineMap map) {
  if (!map.isFunctionOfDim(0) && !map.isFunctionOfDim(1))
    return read;
  return slice(read, [&](int64_t dim) -> std::optional<Extent> {
    auto coordinate = dyn_cast<AffineDimExpr>(map.getResult(dim));
    if (!coordinate || coordinate.getPosition() > 1) // query and key have offsets
      return std::nullopt;
    return extents[loops[coordinate.getPosition()]];
  });
}

Value AttentionTile::sliceLine(Value tensor, char letter) {
  if (!tensor || !isa<RankedTensorType>(tensor.getType()))
    return tensor;
  return slice(tensor, [&](int64_t) { return extents[letter]; });
}

Value AttentionTile::getQueryOffset() {
  Value given = sliceLine(whole.getQueryOffset(), 'b');
  OpFoldResult begin = extents['q'].first;
  if (isZeroInteger(begin))
    return given;
  if (!given)
    return asValue(begin);
  if (!given.getType().isIndex()) { // of the only batch entry
    Value first = arith::ConstantIndexOp::create(b, 0);
    given = arith::IndexCastOp::create(b, b.getIndexType(), tensor::ExtractOp::create(b, given, first));
  }
  return arith::AddIOp::create(b, given, asValue(begin));
}

void AttentionTile::changeArgument(AttentionOp tile, unsigned number, OpFoldResult known,
                                   function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> change) {
  auto argumentOf = [&](Region &region) {
    return region.getArgument(&region == &tile.getScore() ? number + 1 : number);
  };
  SmallVector<Region *> regions;
  for (Region &region : tile->getRegions())
    if (!region.empty())
      regions.push_back(&region);
  if (llvm::all_of(regions, [&](Region *region) { return argumentOf(*region).use_empty(); }))
    return;
  std::optional<int64_t> constant = getConstantIntValue(known);
  Type i64 = b.getI64Type();
  if (!constant) {
    Value number = arith::IndexCastOp::create(b, i64, asValue(known));
    Value read = tensor::FromElementsOp::create(b, RankedTensorType::get({}, i64), number);
    tile.getReadsMutable().append(read);
    SmallVector<Attribute> maps(tile.getReadMaps().getValue());
    maps.push_back(AffineMapAttr::get(AffineMap::get(4, 0, b.getContext())));
    tile.setReadMapsAttr(b.getArrayAttr(maps));
  }
  for (Region *region : regions) {
    ImplicitLocOpBuilder inside(tile.getLoc(), OpBuilder(*region));
    Value read = constant ? arith::ConstantIndexOp::create(inside, *constant).getResult()
                          : arith::IndexCastOp::create(inside, inside.getIndexType(),
                                                       region->addArgument(i64, tile.getLoc()))
                                .getResult();
    Value argument = argumentOf(*region), changed = change(inside, argument, read);
    argument.replaceAllUsesExcept(changed, changed.getDefiningOp());
  }
}

FailureOr<TilingResult> AttentionTile::build() {
  if (whole.getLogSumExp() && !isWhole('e'))
    return whole.emitOpError("expected a tile of all value columns, which have one log_sum_exp");
  Value offset = whole.getQueryOffset();
  if (offset && !offset.getType().isIndex() && !isZeroInteger(extents['q'].first) &&
      !isOneInteger(extents['b'].second))
    return whole.emitOpError("expected a tile of one batch entry, each of which has its own query offset");
  std::optional<Extent> keyHeads = getKeyHeads();
  if (!keyHeads)
    return whole.emitOpError("expected a tile of one head, or of whole groups of heads, or within one group");

  Extents ofKeys = extents;
  ofKeys['h'] = *keyHeads;
  Value query = slice(whole.getQuery(), letters.query, extents),
        key = slice(whole.getKey(), letters.key, ofKeys),
        value = slice(whole.getValue(), letters.value, ofKeys);
  Value keyLengths = sliceLine(whole.getKeyLengths(), 'b'), queryOffset = getQueryOffset(),
        keyOffset = sliceLine(whole.getKeyOffset(), 'b'), sinks = sliceLine(whole.getSinks(), 'h');
  SmallVector<Value> reads;
  for (auto [read, map] :
       llvm::zip_equal(whole.getReads(), whole.getReadMaps().getAsValueRange<AffineMapAttr>()))
    reads.push_back(sliceRead(read, map));
  SmallVector<Type> types;
  for (OpResult result : whole->getResults()) {
    SmallVector<int64_t> shape;
    for (char letter : lettersOf(whole, result.getResultNumber()))
      shape.push_back(getConstantIntValue(extents[letter].second).value_or(ShapedType::kDynamic));
    types.push_back(cast<RankedTensorType>(result.getType()).clone(shape));
  }
  auto tile = AttentionOp::create(b, types, query, key, value, keyLengths, queryOffset, keyOffset, sinks,
                                  reads, whole.getScaleAttr(), whole.getLayoutAttr(),
                                  whole.getEmptyRowsAttr(), whole.getReadMapsAttr());
  tile->setDiscardableAttrs(whole->getDiscardableAttrDictionary());
  IRMapping mapping;
  for (auto [region, copy] : llvm::zip_equal(whole->getRegions(), tile->getRegions()))
    region.cloneInto(&copy, mapping);

  // Regions go on seeing the indices and the query length of the whole; query indices do by the offset.
  b.setInsertionPoint(tile);
  auto add = [](ImplicitLocOpBuilder &inside, Value index, Value begin) -> Value {
    return arith::AddIOp::create(inside, index, begin);
  };
  for (unsigned number : {0, 1})
    if (OpFoldResult begin = extents[loops[number]].first; !isZeroInteger(begin))
      changeArgument(tile, number, begin, add);
  if (!isWhole('q'))
    changeArgument(
        tile, 4,
        tensor::getMixedSize(b, b.getLoc(), whole.getQuery(), AttentionLayout::find(letters.query, 'q')),
        [](ImplicitLocOpBuilder &, Value, Value length) { return length; });
  return TilingResult{{tile}, llvm::to_vector_of<Value>(tile->getResults()), slices};
}

SmallVector<utils::IteratorType> AttentionOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(loops.size(), utils::IteratorType::parallel);
}

SmallVector<Range> AttentionOp::getIterationDomain(OpBuilder &builder) {
  AttentionLayout letters = getLetters();
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<Range> domain;
  for (char letter : loops) {
    Value tensor = letter == 'e' ? getValue() : getQuery();
    int64_t dim = AttentionLayout::find(letter == 'e' ? letters.value : letters.query, letter);
    domain.push_back({zero, dim < 0 ? one : tensor::getMixedSize(builder, getLoc(), tensor, dim), one});
  }
  return domain;
}

FailureOr<TilingResult> AttentionOp::getTiledImplementation(OpBuilder &builder,
                                                            ArrayRef<OpFoldResult> offsets,
                                                            ArrayRef<OpFoldResult> sizes) {
  return AttentionTile(builder, *this, offsets, sizes).build();
}

LogicalResult AttentionOp::getResultTilePosition(OpBuilder &, unsigned resultNumber,
                                                 ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                                                 SmallVector<OpFoldResult> &resultOffsets,
                                                 SmallVector<OpFoldResult> &resultSizes) {
  for (char letter : lettersOf(*this, resultNumber)) {
    resultOffsets.push_back(offsets[loops.find(letter)]);
    resultSizes.push_back(sizes[loops.find(letter)]);
  }
  return success();
}

LogicalResult AttentionOp::getIterationDomainTileFromResultTile(OpBuilder &builder, unsigned resultNumber,
                                                                ArrayRef<OpFoldResult> offsets,
                                                                ArrayRef<OpFoldResult> sizes,
                                                                SmallVectorImpl<OpFoldResult> &domainOffsets,
                                                                SmallVectorImpl<OpFoldResult> &domainSizes) {
  for (const Range &range : getIterationDomain(builder)) {
    domainOffsets.push_back(range.offset);
    domainSizes.push_back(range.size);
  }
  for (auto [letter, offset, size] : llvm::zip_equal(lettersOf(*this, resultNumber), offsets, sizes)) {
    domainOffsets[loops.find(letter)] = offset;
    domainSizes[loops.find(letter)] = size;
  }
  return success();
}

FailureOr<TilingResult> AttentionOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                                             ArrayRef<OpFoldResult> offsets,
                                                             ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> domainOffsets, domainSizes;
  if (failed(getIterationDomainTileFromResultTile(builder, resultNumber, offsets, sizes, domainOffsets,
                                                  domainSizes)))
    return failure();
  FailureOr<TilingResult> tile = getTiledImplementation(builder, domainOffsets, domainSizes);
  if (succeeded(tile))
    tile->tiledValues = {tile->tiledValues[resultNumber]};
  return tile;
}

} // namespace heed::attn
