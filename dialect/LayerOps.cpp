// The layers around attention. See AttnLayerOps.td.
#include "dialect/Checks.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace heed::attn {

static bool isPositive(const APFloat &value) {
  return value.isFinite() && !value.isNegative() && !value.isZero();
}

/// Refuses `base` or `epsilon` that is not a positive, finite number.
static LogicalResult verifyPositive(Operation *op, StringRef what, const APFloat &value) {
  if (!isPositive(value))
    return op->emitOpError("expected a positive, finite ") << what << ", but got " << value.convertToDouble();
  return success();
}

static LogicalResult verifyRankAtLeast(Operation *op, StringRef what, RankedTensorType type, int64_t least) {
  if (type.getRank() < least)
    return op->emitOpError("expected ")
           << what << " of rank at least " << least << ", but got rank " << type.getRank();
  return success();
}

/// Refuses a position per batch entry where there is no batch before the positions' axis, or of another size.
static LogicalResult verifyOffset(Operation *op, StringRef what, Value offset, RankedTensorType input,
                                  int64_t axis) {
  if (!offset || !isa<RankedTensorType>(offset.getType()))
    return success();
  if (axis == 0)
    return op->emitOpError("expected a batch dimension before the positions for ")
           << what << " per batch entry";
  return verifyPosition(op, what, offset, input.getDimSize(0));
}

/// `axis` counted from the front; fails, with a message, where it is out of range or the last.
static FailureOr<int64_t> getPositionAxis(Operation *op, int64_t axis, int64_t rank) {
  int64_t counted = axis < 0 ? axis + rank : axis;
  if (counted < 0 || counted >= rank - 1)
    return op->emitOpError("expected axis before the last of ") << rank << " dimensions, but got " << axis;
  return counted;
}

static Value buildIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

// param

LogicalResult ParamOp::verify() {
  if (getName().empty()) // C1
    return emitOpError("expected a name, but got an empty one");
  if (!getResult().getType().hasStaticShape()) // C2
    return emitOpError("expected a static shape, but got ") << show(getResult().getType().getShape());
  return success();
}

/// The last `count` parts of a parameter's name that are not numbers, joined as an identifier.
static std::string getShortName(StringRef name, size_t count) {
  SmallVector<StringRef> parts;
  name.split(parts, '.', -1, /*KeepEmpty=*/false);
  llvm::erase_if(parts, [](StringRef part) { return llvm::all_of(part, llvm::isDigit); });
  std::string text = llvm::join(ArrayRef(parts).take_back(std::min(count, parts.size())), "_");
  for (char &letter : text)
    letter = llvm::isAlnum(letter) ? letter : '_';
  return text;
}

/// `encoder.layer.0.attention.self.query.weight` is printed as `%query_weight`.
void ParamOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getShortName(getName(), 2));
}

// linear

LogicalResult LinearOp::verify() {
  RankedTensorType input = getInput().getType(), weight = getWeight().getType();
  if (failed(verifyRankAtLeast(*this, "input", input, 1))) // C1
    return failure();
  int64_t inner = input.getShape().back();
  if (failed(verifyShape(*this, "weight", weight, {ShapedType::kDynamic, inner}))) // C2
    return failure();
  if (input.getElementType() != weight.getElementType()) // C3
    return emitOpError("expected input and weight of one element type, but got ")
           << input.getElementType() << " and " << weight.getElementType();
  int64_t outer = weight.getDimSize(0);
  if (Value bias = getBias())
    if (failed(verifyShape(*this, "bias", bias.getType(), {outer}))) // C4
      return failure();
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = outer;
  if (failed(verifyShape(*this, "result", getResult().getType(), shape))) // C5
    return failure();
  if (failed(verifyReads(*this, getReads(), getReadMaps(), getResult().getType().getShape()))) // C6
    return failure();
  return verifySignatures(*this, RegionSignature::epilogue(getContext()), getReads(), getReadMaps()); // C7
}

LogicalResult LinearOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  int64_t last = getInput().getType().getRank() - 1;
  auto size = [&](int64_t dim) {
    return dim < last ? tensor::getMixedSize(builder, getLoc(), getInput(), dim)
                      : tensor::getMixedSize(builder, getLoc(), getWeight(), 0);
  };
  reifyShape(builder, getResult(), size, shapes);
  return success();
}

void LinearOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  RegionSignature::epilogue(getContext()).setNames(region, setName);
}

/// `%query = attn.linear %x, %query_weight`: the layer is what its weight is the weight of.
void LinearOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  auto weight = getWeight().getDefiningOp<ParamOp>();
  std::string name = weight ? getShortName(weight.getName().rsplit('.').first, 1) : "";
  setName(getResult(), name.empty() ? "projected" : name);
}

// layer_norm, rms_norm

LogicalResult LayerNormOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyRankAtLeast(*this, "input", input, 1))) // C1
    return failure();
  int64_t width = input.getShape().back();
  if (Value weight = getWeight())
    if (failed(verifyShape(*this, "weight", weight.getType(), {width}))) // C2
      return failure();
  if (Value bias = getBias())
    if (failed(verifyShape(*this, "bias", bias.getType(), {width}))) // C2
      return failure();
  return verifyPositive(*this, "epsilon", getEpsilon()); // C3
}

LogicalResult RmsNormOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyRankAtLeast(*this, "input", input, 1))) // C1
    return failure();
  if (Value weight = getWeight())
    if (failed(verifyShape(*this, "weight", weight.getType(), {input.getShape().back()}))) // C2
      return failure();
  if (!getOffset().isFinite()) // C4
    return emitOpError("expected a finite offset, but got ") << getOffset().convertToDouble();
  return verifyPositive(*this, "epsilon", getEpsilon()); // C3
}

// embedding and positions

LogicalResult EmbeddingOp::verify() {
  RankedTensorType table = getTable().getType();
  if (table.getRank() != 2) // C1
    return emitOpError("expected table of rank 2, but got rank ") << table.getRank();
  SmallVector<int64_t> shape(getIds().getType().getShape());
  shape.push_back(table.getDimSize(1));
  return verifyShape(*this, "result", getResult().getType(), shape); // C2
}

LogicalResult EmbeddingOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  auto size = [&](int64_t dim) {
    return dim < getIds().getType().getRank() ? tensor::getMixedSize(builder, getLoc(), getIds(), dim)
                                              : tensor::getMixedSize(builder, getLoc(), getTable(), 1);
  };
  reifyShape(builder, getResult(), size, shapes);
  return success();
}

LogicalResult SinusoidalPositionsOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyRankAtLeast(*this, "input", input, 2))) // C1
    return failure();
  int64_t width = input.getShape().back();
  if (!ShapedType::isDynamic(width) && width % 2 != 0) // C2
    return emitOpError("expected an even width, but got ") << width;
  if (failed(verifyPositive(*this, "base", getBase()))) // C3
    return failure();
  return verifyOffset(*this, "offset", getOffset(), input, input.getRank() - 2); // C4
}

LogicalResult LearnedPositionsOp::verify() {
  RankedTensorType input = getInput().getType(), table = getTable().getType();
  if (failed(verifyRankAtLeast(*this, "input", input, 2))) // C1
    return failure();
  if (failed(verifyShape(*this, "table", table, {ShapedType::kDynamic, input.getShape().back()}))) // C2
    return failure();
  int64_t rows = table.getDimSize(0), positions = input.getDimSize(input.getRank() - 2);
  if (!ShapedType::isDynamic(rows) && !ShapedType::isDynamic(positions) && positions > rows) // C3
    return emitOpError("expected at most ") << rows << " positions, but got " << positions;
  return verifyOffset(*this, "offset", getOffset(), input, input.getRank() - 2); // C4
}

LogicalResult RotaryOp::verify() {
  RankedTensorType input = getInput().getType();
  int64_t features = input.getRank() ? input.getShape().back() : 0;
  FailureOr<int64_t> axis = getPositionAxis(*this, getAxis(), input.getRank()); // C1
  if (failed(axis))
    return failure();
  int64_t width = getWidth() ? static_cast<int64_t>(*getWidth()) : features;
  if (getWidth() ? width < 1 || width % 2 != 0 : !ShapedType::isDynamic(width) && width % 2 != 0) // C2
    return emitOpError("expected an even width, but got ") << width;
  if (!ShapedType::isDynamic(features) && width > features) // C3
    return emitOpError("expected width of at most ") << features << ", but got " << width;
  if (failed(verifyPositive(*this, "base", getBase()))) // C4
    return failure();
  return verifyOffset(*this, "offset", getOffset(), input, *axis); // C5
}

// split_heads, merge_heads

LogicalResult SplitHeadsOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyRankAtLeast(*this, "input", input, 2))) // C1
    return failure();
  int64_t heads = getHeads(), width = input.getShape().back();
  bool isStatic = !ShapedType::isDynamic(width);
  if (heads < 1 || (isStatic && width % heads != 0)) // C2
    return emitOpError("expected number of heads to divide width ") << show(width) << ", but got " << heads;
  SmallVector<int64_t> shape(input.getShape().drop_back(2));
  shape.append(
      {heads, input.getDimSize(input.getRank() - 2), isStatic ? width / heads : ShapedType::kDynamic});
  return verifyShape(*this, "result", getResult().getType(), shape); // C3
}

OpFoldResult SplitHeadsOp::fold(FoldAdaptor) {
  auto merge = getInput().getDefiningOp<MergeHeadsOp>();
  if (merge && merge.getInput().getType() == getResult().getType())
    return merge.getInput();
  return {};
}

LogicalResult SplitHeadsOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  Location loc = getLoc();
  int64_t rank = getInput().getType().getRank(), heads = getHeads();
  auto size = [&](int64_t dim) -> OpFoldResult {
    if (dim < rank - 2)
      return tensor::getMixedSize(builder, loc, getInput(), dim);
    if (dim == rank - 2)
      return builder.getIndexAttr(heads);
    if (dim == rank - 1)
      return tensor::getMixedSize(builder, loc, getInput(), rank - 2);
    Value width = tensor::DimOp::create(builder, loc, getInput(), rank - 1);
    return arith::DivUIOp::create(builder, loc, width, buildIndex(builder, loc, heads)).getResult();
  };
  reifyShape(builder, getResult(), size, shapes);
  return success();
}

LogicalResult MergeHeadsOp::verify() {
  RankedTensorType input = getInput().getType();
  int64_t rank = input.getRank();
  if (failed(verifyRankAtLeast(*this, "input", input, 3))) // C1
    return failure();
  int64_t heads = input.getDimSize(rank - 3), width = input.getDimSize(rank - 1);
  bool isStatic = !ShapedType::isDynamic(heads) && !ShapedType::isDynamic(width);
  SmallVector<int64_t> shape(input.getShape().drop_back(3));
  shape.append({input.getDimSize(rank - 2), isStatic ? heads * width : ShapedType::kDynamic});
  return verifyShape(*this, "result", getResult().getType(), shape); // C2
}

OpFoldResult MergeHeadsOp::fold(FoldAdaptor) {
  auto split = getInput().getDefiningOp<SplitHeadsOp>();
  if (split && split.getInput().getType() == getResult().getType())
    return split.getInput();
  return {};
}

LogicalResult MergeHeadsOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  Location loc = getLoc();
  int64_t rank = getInput().getType().getRank();
  auto size = [&](int64_t dim) -> OpFoldResult {
    if (dim < rank - 3)
      return tensor::getMixedSize(builder, loc, getInput(), dim);
    if (dim == rank - 3)
      return tensor::getMixedSize(builder, loc, getInput(), rank - 2);
    Value heads = tensor::DimOp::create(builder, loc, getInput(), rank - 3);
    Value width = tensor::DimOp::create(builder, loc, getInput(), rank - 1);
    return arith::MulIOp::create(builder, loc, heads, width).getResult();
  };
  reifyShape(builder, getResult(), size, shapes);
  return success();
}

// cache_update

LogicalResult CacheUpdateOp::verify() {
  RankedTensorType cache = getCache().getType(), entries = getEntries().getType();
  FailureOr<int64_t> axis = getPositionAxis(*this, getAxis(), cache.getRank()); // C1
  if (failed(axis))
    return failure();
  if (cache.getElementType() != entries.getElementType()) // C2
    return emitOpError("expected entries of element type ")
           << cache.getElementType() << ", but got " << entries.getElementType();
  SmallVector<int64_t> shape(cache.getShape());
  int64_t capacity = std::exchange(shape[*axis], ShapedType::kDynamic);
  if (failed(verifyShape(*this, "entries", entries, shape))) // C3
    return failure();
  int64_t added = entries.getDimSize(*axis);
  if (!ShapedType::isDynamic(capacity) && !ShapedType::isDynamic(added) && added > capacity) // C4
    return emitOpError("expected at most ") << capacity << " entries, but got " << added;
  return verifyOffset(*this, "position", getPosition(), cache, *axis); // C5
}

// argmax, top_k

LogicalResult ArgmaxOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyRankAtLeast(*this, "input", input, 1))) // C1
    return failure();
  if (input.getShape().back() == 0) // C2
    return emitOpError("expected at least one element to choose from, but got 0");
  return verifyShape(*this, "indices", getIndices().getType(), input.getShape().drop_back()); // C3
}

LogicalResult ArgmaxOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  auto size = [&](int64_t dim) { return tensor::getMixedSize(builder, getLoc(), getInput(), dim); };
  reifyShape(builder, getIndices(), size, shapes);
  return success();
}

LogicalResult TopKOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyRankAtLeast(*this, "input", input, 1))) // C1
    return failure();
  int64_t k = getK(), width = input.getShape().back();
  if (k < 1 || (!ShapedType::isDynamic(width) && k > width)) // C2
    return emitOpError("expected k from 1 to ") << show(width) << ", but got " << k;
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = k;
  if (failed(verifyShape(*this, "values", getValues().getType(), shape)) || // C3
      failed(verifyShape(*this, "indices", getIndices().getType(), shape)))
    return failure();
  if (getValues().getType().getElementType() != input.getElementType()) // C4
    return emitOpError("expected values of element type ")
           << input.getElementType() << ", but got " << getValues().getType().getElementType();
  return success();
}

LogicalResult TopKOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  int64_t last = getInput().getType().getRank() - 1;
  auto size = [&](int64_t dim) -> OpFoldResult {
    return dim < last ? tensor::getMixedSize(builder, getLoc(), getInput(), dim)
                      : builder.getIndexAttr(getK());
  };
  reifyShape(builder, getValues(), size, shapes);
  reifyShape(builder, getIndices(), size, shapes);
  return success();
}

} // namespace heed::attn
