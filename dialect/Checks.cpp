// What verifiers and shape inference of several operations share; see Checks.h.
#include "dialect/Checks.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace heed::attn {

std::string show(int64_t size) { return ShapedType::isDynamic(size) ? "?" : std::to_string(size); }

std::string show(ArrayRef<int64_t> shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](int64_t size) { return show(size); }), ", ") + "]";
}

std::string show(TypeRange types) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(types, stream);
  return "(" + text + ")";
}

LogicalResult verifyShape(Operation *op, StringRef what, Type type, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> actual = cast<ShapedType>(type).getShape();
  if (actual.size() != shape.size() || !llvm::equal(actual, shape, mayEqual))
    return op->emitOpError("expected ")
           << what << " of shape " << show(shape) << ", but got " << show(actual);
  return success();
}

LogicalResult verifyRowSum(Operation *op, Type type, int64_t rows) {
  ArrayRef<int64_t> shape = cast<ShapedType>(type).getShape();
  if (shape.size() != 2 || shape[1] < 1) // dynamic sizes are negative
    return op->emitOpError("expected row_sum of rank 2 with static, positive parts, but got ") << show(shape);
  return verifyShape(op, "row_sum", type, {rows, shape[1]});
}

LogicalResult verifyPosition(Operation *op, StringRef what, Value position, int64_t batch) {
  auto tensor = position ? dyn_cast<RankedTensorType>(position.getType()) : nullptr;
  return tensor ? verifyShape(op, what, tensor, {batch}) : success();
}

RegionSignature RegionSignature::keep(MLIRContext *context) {
  return {"keep",
          SmallVector<Type>(6, IndexType::get(context)),
          {"batch", "head", "query", "key", "query_len", "key_len"},
          IntegerType::get(context, 1)};
}

RegionSignature RegionSignature::score(MLIRContext *context) {
  RegionSignature signature = keep(context);
  signature.name = "score";
  signature.result = Float32Type::get(context);
  signature.types.insert(signature.types.begin(), signature.result);
  signature.argumentNames.insert(signature.argumentNames.begin(), "score");
  return signature;
}

RegionSignature RegionSignature::epilogue(MLIRContext *context) {
  Type f32 = Float32Type::get(context);
  return {"epilogue", {f32}, {"sum"}, f32};
}

SmallVector<Type> RegionSignature::getArgumentTypes(TypeRange reads, ArrayAttr maps) const {
  SmallVector<Type> all(types);
  for (auto [index, type] : llvm::enumerate(reads)) { // the parser asks before anything is verified
    auto tensor = dyn_cast<ShapedType>(type);
    auto map = maps && index < maps.size() ? dyn_cast<AffineMapAttr>(maps[index]) : AffineMapAttr();
    bool isWhole = !tensor || (map && map.getValue().getNumResults() == 0 && tensor.getRank() > 0);
    all.push_back(isWhole ? type : tensor.getElementType());
  }
  return all;
}

void RegionSignature::setNames(Region &region, OpAsmSetValueNameFn setName) const {
  for (auto [index, argument] : llvm::enumerate(region.getArguments()))
    setName(argument, index < argumentNames.size() ? argumentNames[index] : StringRef("read"));
}

LogicalResult verifyReads(Operation *op, ValueRange reads, ArrayAttr maps, ArrayRef<int64_t> sizes) {
  if (reads.size() != maps.size())
    return op->emitOpError("expected one map per read, but got ")
           << reads.size() << " reads and " << maps.size() << " maps";
  for (auto [index, tensor, attribute] : llvm::enumerate(reads, maps)) {
    AffineMap map = cast<AffineMapAttr>(attribute).getValue();
    auto type = cast<ShapedType>(tensor.getType());
    if (map.getNumDims() != sizes.size() || map.getNumSymbols() != 0)
      return op->emitOpError("expected map of read ")
             << index << " to have " << sizes.size() << " dimensions and no symbols, but got " << attribute;
    if (map.getNumResults() != 0 && map.getNumResults() != type.getRank())
      return op->emitOpError("expected map of read ")
             << index << " to have no results or " << type.getRank() << ", but got " << map.getNumResults();
    for (auto [dim, expression] : llvm::enumerate(map.getResults())) {
      int64_t needed = ShapedType::kDynamic;
      if (auto coordinate = dyn_cast<AffineDimExpr>(expression))
        needed = sizes[coordinate.getPosition()];
      if (auto constant = dyn_cast<AffineConstantExpr>(expression))
        needed = constant.getValue() + 1;
      if (!type.isDynamicDim(dim) && !ShapedType::isDynamic(needed) && type.getDimSize(dim) < needed)
        return op->emitOpError("expected dimension ") << dim << " of read " << index << " to be at least "
                                                      << needed << ", but got " << type.getDimSize(dim);
    }
  }
  return success();
}

static LogicalResult verifyRegion(Operation *op, Region &region, const RegionSignature &signature,
                                  ArrayRef<Type> types) {
  Block &block = region.front();
  if (block.getArgumentTypes() != TypeRange(types))
    return op->emitOpError("expected ") << signature.name << " region to take " << show(types) << ", but got "
                                        << show(block.getArgumentTypes());
  auto yield = block.empty() ? nullptr : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return op->emitOpError("expected ") << signature.name << " region to end with attn.yield";
  if (yield.getOperandTypes() != TypeRange(signature.result)) {
    InFlightDiagnostic error = op->emitOpError("expected ")
                               << signature.name << " region to yield " << show(TypeRange(signature.result))
                               << ", but got " << show(yield.getOperandTypes());
    error.attachNote(yield.getLoc()) << "yielded here";
    return error;
  }
  return success();
}

LogicalResult verifySignatures(Operation *op, ArrayRef<RegionSignature> signatures, ValueRange reads,
                               ArrayAttr maps) {
  bool isRead = false;
  for (auto [region, signature] : llvm::zip_equal(op->getRegions(), signatures)) {
    if (region.empty())
      continue;
    isRead = true;
    if (failed(verifyRegion(op, region, signature, signature.getArgumentTypes(reads.getTypes(), maps))))
      return failure();
  }
  if (!isRead && !reads.empty())
    return op->emitOpError("expected no reads without a region, but got ") << reads.size();
  return success();
}

void reifyShape(OpBuilder &builder, Value result, function_ref<OpFoldResult(int64_t)> size,
                ReifiedRankedShapedTypeDims &shapes) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<OpFoldResult> &shape = shapes.emplace_back();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      shape.push_back(builder.getIndexAttr(type.getDimSize(dim)));
    else // the interface wants values for dynamic sizes, even where the operand's is static
      shape.push_back(getValueOrCreateConstantIndexOp(builder, result.getLoc(), size(dim)));
  }
}

LogicalResult reifyLikeFirstOperand(Operation *op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  auto size = [&](int64_t dim) {
    return tensor::getMixedSize(builder, op->getLoc(), op->getOperand(0), dim);
  };
  reifyShape(builder, op->getResult(0), size, shapes);
  return success();
}

} // namespace heed::attn
