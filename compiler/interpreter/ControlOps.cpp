// Calls, parameters and structured control flow.
#include "compiler/interpreter/Program.h"

#include "dialect/Attn.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace heed {

static LogicalResult evaluateCall(func::CallOp op, Frame &frame) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!callee)
    return op.emitOpError("expected a function named '") << op.getCallee() << "'";
  std::vector<Slot> arguments;
  for (Value operand : op.getOperands())
    arguments.push_back(frame.slot(operand));
  FailureOr<std::vector<Slot>> results = frame.session.call(callee, std::move(arguments));
  if (failed(results))
    return failure();
  for (auto [value, result] : llvm::zip_equal(op.getResults(), *results))
    frame.slot(value) = std::move(result);
  return success();
}

static LogicalResult evaluateParam(attn::ParamOp op, Frame &frame) {
  FailureOr<std::shared_ptr<Tensor>> tensor = frame.session.parameter(op, op.getName());
  return failed(tensor) ? failure() : frame.set(op.getResult(), *tensor);
}

/// Moves values from where they were computed to where they are wanted, all at once.
static void moveSlots(Frame &frame, ValueRange from, ValueRange to, Operation *user) {
  SmallVector<Slot> slots =
      llvm::map_to_vector(from, [&](Value value) { return frame.takeSlot(value, user); });
  for (auto [value, slot] : llvm::zip_equal(to, slots))
    frame.slot(value) = std::move(slot);
}

static LogicalResult evaluateFor(scf::ForOp op, Frame &frame) {
  int64_t lower = frame.integer(op.getLowerBound()), upper = frame.integer(op.getUpperBound());
  int64_t step = frame.integer(op.getStep());
  if (step <= 0)
    return op.emitOpError("expected a positive step, but got ") << step;
  Operation *yield = op.getBody()->getTerminator();
  moveSlots(frame, op.getInitArgs(), op.getRegionIterArgs(), op);
  int64_t at = lower;
  for (bool goesOn = lower < upper; goesOn; goesOn = !__builtin_add_overflow(at, step, &at) && at < upper) {
    frame.set(op.getInductionVar(), Scalar::of(at));
    if (failed(frame.run(*op.getBody())))
      return failure();
    moveSlots(frame, yield->getOperands(), op.getRegionIterArgs(), yield);
  }
  for (auto [result, argument] : llvm::zip_equal(op.getResults(), op.getRegionIterArgs()))
    frame.slot(result) = std::move(frame.slot(argument));
  return success();
}

static LogicalResult evaluateIf(scf::IfOp op, Frame &frame) {
  Region &region = frame.integer(op.getCondition()) ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return success();
  if (failed(frame.run(region.front())))
    return failure();
  Operation *yield = region.front().getTerminator();
  moveSlots(frame, yield->getOperands(), op.getResults(), yield);
  return success();
}

static LogicalResult evaluateWhile(scf::WhileOp op, Frame &frame) {
  moveSlots(frame, op.getInits(), op.getBeforeArguments(), op);
  while (true) {
    if (failed(frame.run(*op.getBeforeBody())))
      return failure();
    scf::ConditionOp condition = op.getConditionOp();
    bool goesOn = frame.integer(condition.getCondition());
    moveSlots(frame, condition.getArgs(),
              goesOn ? ValueRange(op.getAfterArguments()) : ValueRange(op.getResults()), condition);
    if (!goesOn)
      return success();
    if (failed(frame.run(*op.getAfterBody())))
      return failure();
    scf::YieldOp yield = op.getYieldOp();
    moveSlots(frame, yield.getOperands(), op.getBeforeArguments(), yield);
  }
}

static LogicalResult evaluateForall(scf::ForallOp op, Frame &frame) {
  SmallVector<int64_t> lower = frame.integers(op.getMixedLowerBound()),
                       upper = frame.integers(op.getMixedUpperBound()),
                       step = frame.integers(op.getMixedStep());
  SmallVector<int64_t> counts;
  for (auto [low, high, by] : llvm::zip_equal(lower, upper, step)) {
    if (by <= 0)
      return op.emitOpError("expected positive steps, but got ") << by;
    uint64_t distance = high <= low ? 0 : static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    counts.push_back(llvm::divideCeil(distance, static_cast<uint64_t>(by)));
  }
  moveSlots(frame, op.getOutputs(), op.getRegionIterArgs(), op);
  SmallVector<int64_t> at(counts.size());
  bool any = llvm::all_of(counts, [](int64_t count) { return count > 0; });
  for (bool more = any; more; more = advance(at, counts)) {
    for (auto [dim, variable] : llvm::enumerate(op.getInductionVars()))
      frame.set(variable, Scalar::of(lower[dim] + at[dim] * step[dim]));
    if (failed(frame.run(*op.getBody())))
      return failure();
    for (Operation &insert : op.getTerminator().getYieldingOps()) {
      auto slice = dyn_cast<tensor::ParallelInsertSliceOp>(insert);
      if (!slice)
        return insert.emitOpError("expected tensor.parallel_insert_slice");
      // No other reader is left once the body has run, so that the shared tensor is changed in place.
      std::shared_ptr<Tensor> &shared = frame.slot(slice.getDest()).tensor;
      if (shared.use_count() > 1)
        shared = std::make_shared<Tensor>(*shared);
      if (failed(insertSlice(slice, *shared, frame.tensor(slice.getSource()), Slice::of(slice, frame))))
        return failure();
    }
  }
  for (auto [result, argument] : llvm::zip_equal(op.getResults(), op.getRegionIterArgs()))
    frame.slot(result) = std::move(frame.slot(argument));
  return success();
}

static LogicalResult evaluateMaterialize(bufferization::MaterializeInDestinationOp op, Frame &frame) {
  if (!op.getResult())
    return op.emitOpError("expected a tensor as destination");
  return frame.set(op.getResult(), frame.take(op.getSource(), op));
}

void addControlOps(OpTable &table) {
  table.add(evaluateCall);
  table.add(evaluateParam);
  table.add(evaluateFor);
  table.add(evaluateIf);
  table.add(evaluateWhile);
  table.add(evaluateForall);
  table.add(evaluateMaterialize);
}

} // namespace heed
