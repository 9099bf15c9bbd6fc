#include "compiler/passes/EntrySizes.h"

#include "compiler/passes/Structured.h"

using namespace mlir;
using namespace heed;

/// Every buffer starts on a cache line.
static constexpr int64_t alignment = 64;

FailureOr<Value> EntrySizes::bytesOf(memref::AllocOp alloc) {
  auto type = alloc.getType();
  int64_t fixed = type.getElementType().isIndex() ? 8 : llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  bool overflows = false;
  SmallVector<Value> sizes;
  auto dynamic = alloc.getDynamicSizes().begin();
  for (int64_t extent : type.getShape()) {
    if (!ShapedType::isDynamic(extent)) {
      overflows |= llvm::MulOverflow(fixed, extent, fixed) != 0;
      continue;
    }
    FailureOr<Value> size = hoist(*dynamic++, alloc);
    if (failed(size))
      return failure();
    if (std::optional<int64_t> constant = getConstantIntValue(*size))
      overflows |= llvm::MulOverflow(fixed, *constant, fixed) != 0;
    else
      sizes.push_back(*size);
  }
  if (overflows)
    return alloc.emitError("expected a buffer of less than 2^63 bytes");
  Value bytes = indexConstant(b, fixed);
  for (Value size : sizes)
    bytes = b.createOrFold<arith::MulIOp>(bytes, size);
  return bytes;
}

Value EntrySizes::roundUp(Value bytes) {
  if (std::optional<int64_t> constant = getConstantIntValue(bytes))
    return indexConstant(b, llvm::alignTo(*constant, alignment));
  Value rounded = b.createOrFold<arith::AddIOp>(bytes, indexConstant(b, alignment - 1));
  return b.createOrFold<arith::AndIOp>(rounded, indexConstant(b, -alignment));
}

/// `size`, or a bound of it, at the function's entry.
FailureOr<Value> EntrySizes::hoist(Value size, memref::AllocOp alloc) {
  FailureOr<Value> bound = boundAtEntry(size);
  if (failed(bound))
    return alloc.emitError("expected a buffer whose size follows from the sizes of the arguments");
  return bound;
}

FailureOr<Value> EntrySizes::boundAtEntry(Value size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return indexConstant(b, *constant);
  if (FailureOr<Value> same = cloneAtEntry(size); succeeded(same))
    return *same;
  if (std::optional<int64_t> bound = getUpperBound(size))
    return indexConstant(b, *bound);
  if (auto apply = size.getDefiningOp<affine::AffineApplyOp>())
    return boundAtEntry(apply.getAffineMap(), 0, apply.getMapOperands());
  auto least = size.getDefiningOp<affine::AffineMinOp>();
  if (!least)
    return failure();
  FailureOr<Value> lowest = failure();
  for (unsigned result = 0; result < least.getMap().getNumResults(); ++result)
    if (FailureOr<Value> one = boundAtEntry(least.getMap(), result, least.getMapOperands()); succeeded(one))
      lowest = succeeded(lowest) ? Value(b.createOrFold<arith::MinSIOp>(*lowest, *one)) : *one;
  return lowest;
}

FailureOr<Value> EntrySizes::boundAtEntry(AffineMap map, unsigned result, ValueRange operands) {
  std::function<FailureOr<Value>(AffineExpr)> bound = [&](AffineExpr expr) -> FailureOr<Value> {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return constant.getValue() < 0 ? FailureOr<Value>() : indexConstant(b, constant.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return boundAtEntry(operands[dim.getPosition()]);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return boundAtEntry(operands[map.getNumDims() + symbol.getPosition()]);
    auto binary = cast<AffineBinaryOpExpr>(expr);
    FailureOr<Value> lhs = bound(binary.getLHS()), rhs = bound(binary.getRHS());
    if (failed(lhs) || failed(rhs))
      return failure();
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return Value(b.createOrFold<arith::AddIOp>(*lhs, *rhs));
    case AffineExprKind::Mul:
      return Value(b.createOrFold<arith::MulIOp>(*lhs, *rhs));
    default: // a quotient, or what a division leaves
      return lhs;
    }
  };
  return bound(map.getResult(result));
}

/// Recomputes `value` at the entry from the dimensions of the arguments.
FailureOr<Value> EntrySizes::cloneAtEntry(Value value) {
  if (Value done = atEntry.lookupOrNull(value))
    return done;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &function.getBody().front())
      return value;
    return failure();
  }
  Operation *op = value.getDefiningOp();
  if (op->getNumRegions() > 0)
    return failure();
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    if (!isa<BlockArgument>(dim.getSource()))
      return failure();
  } else if (!isMemoryEffectFree(op) ||
             !llvm::all_of(op->getOperandTypes(), [](Type type) { return type.isIntOrIndex(); })) {
    // The workspace of a callee is asked for where its size is known.
    if (!isa<func::CallOp>(op) || !cast<func::CallOp>(op).getCallee().ends_with(workspaceSuffix))
      return failure();
  }
  for (Value operand : op->getOperands())
    if (FailureOr<Value> cloned = cloneAtEntry(operand); succeeded(cloned))
      atEntry.map(operand, *cloned);
    else
      return failure();
  b.clone(*op, atEntry);
  return atEntry.lookup(value);
}
