// What the code of one tile is made of, on tensors or on buffers. See AttnTileOps.td.
#include "dialect/Checks.h"

using namespace mlir;

namespace heed::attn {

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

/// One result per destination where operands are tensors, none where they are buffers.
static LogicalResult verifyResults(DestinationStyleOpInterface op) {
  SmallVector<Type> expected;
  bool hasTensors = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
  if (hasTensors && llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>))
    return op->emitOpError("expected tensors or buffers, but got both");
  if (hasTensors)
    llvm::append_range(expected, op.getDpsInits().getTypes());
  if (op->getResultTypes() != TypeRange(expected))
    return op->emitOpError("expected results of types ")
           << show(TypeRange(expected)) << ", but got " << show(op->getResultTypes());
  return success();
}

/// Buffers are read, and destinations written. What was in a destination may be read as well.
static void addEffects(DestinationStyleOpInterface op, Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

// tile_matmul

void TileMatmulOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs, Value init,
                         bool accumulate, bool masked, Value asks, Value ahead) {
  SmallVector<Type> results;
  if (isa<TensorType>(init.getType()))
    results.push_back(init.getType());
  build(builder, state, results, lhs, rhs, ValueRange(), asks, ahead, init, accumulate, masked,
        builder.getAffineMapArrayAttr({}));
  buildEpilogue(builder, state.location, *state.regions.front());
}

void TileMatmulOp::buildEpilogue(Builder &builder, Location loc, Region &epilogue) {
  Block &block = epilogue.emplaceBlock();
  OpBuilder inside(builder.getContext()); // the region is in no operation yet
  inside.setInsertionPointToEnd(&block);
  YieldOp::create(inside, loc, block.addArgument(builder.getF32Type(), loc));
}

bool TileMatmulOp::hasIdentityEpilogue() {
  Block &block = getEpilogue().front();
  return block.getTerminator()->getOperand(0) == block.getArgument(0) && getReads().empty();
}

LogicalResult TileMatmulOp::verify() {
  ShapedType lhs = getLhs().getType(), rhs = getRhs().getType(), init = getInit().getType();
  if (lhs.getRank() != 2 || init.getRank() != 2) // C1
    return emitOpError("expected lhs and init of rank 2, but got ranks ")
           << lhs.getRank() << " and " << init.getRank();
  if (rhs.getRank() != 2 && rhs.getRank() != 3) // C2
    return emitOpError("expected rhs of rank 2, or of rank 3 as panels, but got rank ") << rhs.getRank();
  int64_t inner = rhs.getDimSize(rhs.getRank() - 2);
  if (!mayEqual(lhs.getDimSize(1), inner)) // C3
    return emitOpError("expected equal inner sizes, but got ") << lhs.getDimSize(1) << " and " << inner;
  int64_t columns = init.getDimSize(1);
  if (!mayEqual(lhs.getDimSize(0), init.getDimSize(0))) // C4
    return emitOpError("expected as many rows in init as in lhs, but got ")
           << init.getDimSize(0) << " and " << lhs.getDimSize(0);
  if (rhs.getRank() == 2 && !mayEqual(rhs.getDimSize(1), columns)) // C4
    return emitOpError("expected as many columns in init as in rhs, but got ")
           << columns << " and " << rhs.getDimSize(1);
  if (rhs.getRank() == 3) { // C5
    int64_t panels = rhs.getDimSize(0), width = rhs.getDimSize(2);
    if (width == 0)
      return emitOpError("expected panels of width at least 1, but got 0");
    bool known = !ShapedType::isDynamic(width) && !ShapedType::isDynamic(columns);
    int64_t needed = known ? llvm::divideCeil(columns, width) : ShapedType::kDynamic;
    if (!mayEqual(panels, needed))
      return emitOpError("expected ")
             << needed << " panels for " << columns << " columns, but got " << panels;
  }
  if (failed(verifyResults(*this))) // C6
    return failure();
  if (failed(verifyReads(*this, getReads(), getReadMaps(), init.getShape()))) // C7
    return failure();
  if (failed(verifySignatures(*this, RegionSignature::epilogue(getContext()), getReads(),
                              getReadMaps()))) // C8
    return failure();
  if (getAsks() && !getMasked()) // C9
    return emitOpError("expected asks beside masked only, but got it without");
  if (getAhead() && getAhead().getType().getRank() != 2) // C10
    return emitOpError("expected ahead of rank 2, but got rank ") << getAhead().getType().getRank();
  return success();
}

void TileMatmulOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  RegionSignature::epilogue(getContext()).setNames(region, setName);
}

void TileMatmulOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (Value result = getResult())
    setName(result, "tile");
}

void TileMatmulOp::getEffects(Effects &effects) { addEffects(*this, effects); }

// tile_softmax

LogicalResult TileSoftmaxOp::verify() {
  ShapedType scores = getScores().getType(), accumulator = getAccumulator().getType();
  if (scores.getRank() != 2 || accumulator.getRank() != 2) // C1
    return emitOpError("expected scores and accumulator of rank 2, but got ranks ")
           << scores.getRank() << " and " << accumulator.getRank();
  int64_t rows = scores.getDimSize(0);
  if (failed(verifyShape(*this, "accumulator", accumulator, {rows, accumulator.getDimSize(1)})) || // C1
      failed(verifyShape(*this, "row_max", getRowMax().getType(), {rows})) ||
      failed(verifyRowSum(*this, getRowSum().getType(), rows)))
    return failure();
  return verifyResults(*this); // C2
}

void TileSoftmaxOp::getEffects(Effects &effects) { addEffects(*this, effects); }

} // namespace heed::attn
