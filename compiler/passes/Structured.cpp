#include "compiler/passes/Structured.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace heed;

Value heed::f32Constant(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(static_cast<float>(value)));
}

Value heed::indexConstant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

/// `type`, scalar or vector, with elements of type `element`.
static Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}

Value heed::extendToF32(ImplicitLocOpBuilder &b, Value value) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value));
  if (!type || type.getWidth() >= 32)
    return value;
  return arith::ExtFOp::create(b, withElement(value.getType(), b.getF32Type()), value);
}

Value heed::roundTo(ImplicitLocOpBuilder &b, Value value, Type element) {
  if (getElementTypeOrSelf(value) == element || !isa<FloatType>(element))
    return value;
  return arith::TruncFOp::create(b, withElement(value.getType(), element), value);
}

SmallVector<Value> heed::buildGeneric(ImplicitLocOpBuilder &b, ArrayRef<GenericInput> inputs,
                                      ArrayRef<GenericInput> destinations, int64_t loops,
                                      ArrayRef<int64_t> reductions, GenericBody body) {
  SmallVector<Value> ins, outs;
  SmallVector<AffineMap> maps;
  SmallVector<Type> results;
  for (const GenericInput &input : inputs) {
    ins.push_back(input.tensor);
    maps.push_back(input.map);
  }
  for (const GenericInput &destination : destinations) {
    outs.push_back(destination.tensor);
    maps.push_back(destination.map);
    results.push_back(destination.tensor.getType());
  }
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
  for (int64_t loop : reductions)
    iterators[loop] = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      b, results, ins, outs, maps, iterators, [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder inner(loc, builder);
        SmallVector<Value> elements;
        for (Value argument : arguments)
          elements.push_back(extendToF32(inner, argument));
        ValueRange all(elements);
        SmallVector<Value> yielded = body(inner, all.take_front(ins.size()), all.drop_front(ins.size()));
        for (auto [value, argument] : llvm::zip_equal(yielded, arguments.drop_front(ins.size())))
          value = roundTo(inner, value, argument.getType());
        linalg::YieldOp::create(inner, yielded);
      });
  return generic.getResults();
}

Value heed::emptyTensor(ImplicitLocOpBuilder &b, RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  for (auto [extent, size] : llvm::zip_equal(type.getShape(), sizes))
    if (ShapedType::isDynamic(extent))
      dynamic.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), size));
  return tensor::EmptyOp::create(b, type, dynamic);
}

Value heed::filledTensor(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> sizes, Value value) {
  Value empty = tensor::EmptyOp::create(b, sizes, value.getType());
  return linalg::FillOp::create(b, value, empty).getResult(0);
}

Value heed::positionOf(ImplicitLocOpBuilder &b, Value position, Value batch) {
  if (!position)
    return indexConstant(b, 0);
  if (position.getType().isIndex())
    return position;
  Value element = tensor::ExtractOp::create(b, position, batch ? batch : indexConstant(b, 0));
  return arith::IndexCastOp::create(b, b.getIndexType(), element);
}

OpFoldResult heed::ceilDiv(ImplicitLocOpBuilder &b, OpFoldResult a, int64_t divisor) {
  return affine::makeComposedFoldedAffineApply(b, b.getLoc(), b.getAffineSymbolExpr(0).ceilDiv(divisor), {a});
}

OpFoldResult heed::minOfRest(ImplicitLocOpBuilder &b, int64_t tile, OpFoldResult size, OpFoldResult offset) {
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  auto map = AffineMap::get(0, 2, {b.getAffineConstantExpr(tile), s0 - s1}, b.getContext());
  return affine::makeComposedFoldedAffineMin(b, b.getLoc(), map, {size, offset});
}

OpFoldResult heed::times(ImplicitLocOpBuilder &b, OpFoldResult a, int64_t factor) {
  return affine::makeComposedFoldedAffineApply(b, b.getLoc(), b.getAffineSymbolExpr(0) * factor, {a});
}

Value heed::asValue(ImplicitLocOpBuilder &b, OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
}

/// Whether upstream, which drops leading dimensions of size 1 first, could take a kept dimension that turns
/// out to be 1 for a dropped one behind a larger one.
static bool isAmbiguous(ArrayRef<OpFoldResult> sizes, ArrayRef<bool> dropped) {
  bool maybeOne = false, between = false;
  for (auto [size, drop] : llvm::zip_equal(sizes, dropped)) {
    if (drop && between)
      return true;
    between |= !drop && maybeOne;
    maybeOne |= !drop && getConstantIntValue(size).value_or(1) == 1;
  }
  return false;
}

/// Sizes that are known, such as those behind a cast, are part of the type of a slice.
static SmallVector<OpFoldResult> foldSizes(ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> folded(sizes);
  (void)foldDynamicIndexList(folded);
  return folded;
}

std::optional<int64_t> heed::getUpperBound(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return constant;
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {size},
                                                                            nullptr, /*closedUB=*/true);
  return succeeded(bound) ? std::optional(*bound) : std::nullopt;
}

Value heed::sliceWithout(ImplicitLocOpBuilder &b, Value tensor, ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes, ArrayRef<bool> dropped) {
  SmallVector<int64_t> shape, whole;
  SmallVector<OpFoldResult> folded = foldSizes(sizes);
  SmallVector<ReassociationIndices> groups;
  for (auto [size, drop] : llvm::zip_equal(folded, dropped)) {
    whole.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    // A dropped dimension joins the kept one before it; the first ones join the first.
    if (groups.empty() || (!drop && !shape.empty()))
      groups.emplace_back();
    groups.back().push_back(whole.size() - 1);
    if (!drop)
      shape.push_back(whole.back());
  }
  Type element = getElementTypeOrSelf(tensor);
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  if (!isAmbiguous(sizes, dropped))
    return tensor::ExtractSliceOp::create(b, RankedTensorType::get(shape, element), tensor, offsets, folded,
                                          strides);
  Value slice = tensor::ExtractSliceOp::create(b, RankedTensorType::get(whole, element), tensor, offsets,
                                               folded, strides);
  return tensor::CollapseShapeOp::create(b, RankedTensorType::get(shape, element), slice, groups);
}

Value heed::insertSlice(ImplicitLocOpBuilder &b, Value tile, Value into, ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  return tensor::InsertSliceOp::create(b, tile, into, offsets, foldSizes(sizes), strides);
}

SmallVector<Value> heed::buildForall(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> counts,
                                     ValueRange results,
                                     function_ref<SmallVector<TileResult>(ValueRange, ValueRange)> body) {
  auto forall = scf::ForallOp::create(b, counts, results, /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  SmallVector<TileResult> tiles = body(forall.getInductionVars(), forall.getRegionIterArgs());
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  for (auto [tile, result] : llvm::zip_equal(tiles, forall.getRegionIterArgs())) {
    SmallVector<OpFoldResult> strides(tile.sizes.size(), b.getIndexAttr(1));
    tensor::ParallelInsertSliceOp::create(b, tile.tile, result, tile.offsets, foldSizes(tile.sizes), strides);
  }
  return forall.getResults();
}

SmallVector<Value> heed::buildIf(ImplicitLocOpBuilder &b, Value condition, TypeRange types, Branch yes,
                                 Branch no) {
  auto choice = scf::IfOp::create(b, types, condition, /*withElseRegion=*/true);
  for (bool holds : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(holds ? choice.thenBlock() : choice.elseBlock());
    scf::YieldOp::create(b, holds ? yes() : no());
  }
  return choice.getResults();
}

void heed::buildIf(ImplicitLocOpBuilder &b, Value condition, function_ref<void()> yes,
                   function_ref<void()> no) {
  auto choice = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
  for (bool holds : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(holds ? choice.thenBlock() : choice.elseBlock());
    holds ? yes() : no();
  }
}

TensorLoops::TensorLoops(ImplicitLocOpBuilder &b, Value tensor)
    : b(b), type(cast<RankedTensorType>(tensor.getType())),
      sizes(tensor::getMixedSizes(b, b.getLoc(), tensor)),
      identity(b.getMultiDimIdentityMap(type.getRank())) {}

SmallVector<OpFoldResult> TensorLoops::sizesWithout(int64_t axis) const {
  SmallVector<OpFoldResult> rest(sizes);
  rest.erase(rest.begin() + axis);
  return rest;
}

Value TensorLoops::size(int64_t axis) const { return asValue(b, sizes[axis]); }

Value TensorLoops::sizeAsF32(int64_t axis) const {
  Value integer = arith::IndexCastOp::create(b, b.getI64Type(), size(axis));
  return arith::SIToFPOp::create(b, b.getF32Type(), integer);
}

Value TensorLoops::reduce(ArrayRef<GenericInput> inputs, int64_t axis, double init,
                          function_ref<Value(ImplicitLocOpBuilder &, ValueRange, Value)> combine) const {
  Value start = filledTensor(b, sizesWithout(axis), f32Constant(b, init));
  return buildGeneric(b, inputs, {{start, without(axis)}}, rank(), {axis},
                      [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                        return SmallVector<Value>{combine(b, in, out[0])};
                      })[0];
}

Value TensorLoops::map(ArrayRef<GenericInput> inputs, Type elementType,
                       function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> element) const {
  Value empty = emptyTensor(b, RankedTensorType::get(type.getShape(), elementType), sizes);
  return buildGeneric(b, inputs, {{empty, identity}}, rank(), {},
                      [&](ImplicitLocOpBuilder &b, ValueRange in, ValueRange) {
                        return SmallVector<Value>{element(b, in)};
                      })[0];
}
