#include "compiler/passes/LaneAnalysis.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heed;

LaneAnalysis::LaneAnalysis(linalg::GenericOp op)
    : op(op), last(static_cast<int64_t>(op.getNumLoops()) - 1), maps(op.getIndexingMapsArray()),
      reduces(last >= 0 && op.getIteratorTypesArray()[last] == utils::IteratorType::reduction) {}

bool LaneAnalysis::isLaneIndex(Value value) const {
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index && static_cast<int64_t>(index.getDim()) == last;
}

StringRef LaneAnalysis::obstacle() {
  if (last < 0)
    return "expected at least one loop";
  if (!op.hasPureBufferSemantics())
    return "expected buffers";
  if (StringRef reason = operandObstacle(); !reason.empty())
    return reason;
  if (reduces)
    if (StringRef reason = reductionObstacle(); !reason.empty())
      return reason;
  for (Operation &inner : op.getBody()->without_terminator())
    if (StringRef reason = bodyObstacle(&inner); !reason.empty())
      return reason;
  return {};
}

StringRef LaneAnalysis::operandObstacle() const {
  for (auto [index, map] : llvm::enumerate(maps)) {
    Type element = getElementTypeOrSelf(op->getOperand(index).getType());
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return "expected plain coordinates";
    if (!dependsOnLane(map))
      continue;
    if (map.getNumResults() == 0 ||
        map.getResult(map.getNumResults() - 1) != getAffineDimExpr(last, op->getContext()))
      return "expected the innermost loop to run along the last dimension";
    // A vector of i1 would be packed in bits; in memory each is a byte.
    if (element.isInteger(1) || element.isIndex())
      return "expected elements that lie in memory as they do in registers";
  }
  return {};
}

StringRef LaneAnalysis::reductionObstacle() {
  if (op.getNumDpsInits() != 1 || dependsOnLane(maps.back()))
    return "expected one reduction";
  SmallVector<Operation *> combiners;
  Value reduced = matchReduction(op.getRegionOutputArgs(), 0, combiners);
  if (!reduced || combiners.size() != 1)
    return "expected one combining operation";
  combiner = combiners.front();
  kind = linalg::getCombinerOpKind(combiner);
  if (!kind)
    return "expected a combining operation that vectors have";
  Type type = combiner->getResult(0).getType();
  return type.isF32() || type.isInteger() ? StringRef() : "expected a reduction in f32 or in integers";
}

StringRef LaneAnalysis::bodyObstacle(Operation *inner) {
  if (auto load = dyn_cast<memref::LoadOp>(inner)) {
    auto indices = load.getIndices();
    bool isBool = load.getMemRefType().getElementType().isInteger(1);
    for (auto [position, index] : llvm::enumerate(indices)) {
      if (isLaneIndex(index) && position + 1 == indices.size() && !isBool)
        continue;
      if (variesByLane(index))
        return "expected look-ups that run along the last dimension";
    }
    return {};
  }
  if (isa<linalg::IndexOp, arith::ConstantOp>(inner) || OpTrait::hasElementwiseMappableTraits(inner))
    return {};
  if (inner->getNumRegions() == 0 && isMemoryEffectFree(inner) &&
      llvm::none_of(inner->getOperands(), [&](Value operand) { return variesByLane(operand); }))
    return {};
  return "expected operations that work lane by lane";
}

bool LaneAnalysis::variesByLane(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBody())
      return false;
    bool accumulates = reduces && argument.getArgNumber() + 1 == maps.size();
    return accumulates || dependsOnLane(maps[argument.getArgNumber()]);
  }
  Operation *producer = value.getDefiningOp();
  if (producer->getBlock() != op.getBody())
    return false;
  return isLaneIndex(value) ||
         llvm::any_of(producer->getOperands(), [&](Value operand) { return variesByLane(operand); });
}
