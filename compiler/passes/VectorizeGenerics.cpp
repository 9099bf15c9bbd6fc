// Turns linalg.generic into loops over rows of vectors; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/LaneAnalysis.h"
#include "compiler/passes/Structured.h"
#include "compiler/passes/Vectorize.h"
#include "compiler/target/Target.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace heed {
#define GEN_PASS_DEF_VECTORIZEGENERICS
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Accumulators of a reduction, so that one addition need not wait for the one before.
constexpr int64_t accumulators = 4;

struct GenericVectorizer : LaneAnalysis {
  ImplicitLocOpBuilder b;
  int64_t width;
  SmallVector<Value> sizes;

  GenericVectorizer(linalg::GenericOp op, int64_t width)
      : LaneAnalysis(op), b(op.getLoc(), op), width(width) {}

  void run() {
    b.setInsertionPoint(op);
    SmallVector<OpFoldResult> flat;
    for (Value operand : op->getOperands())
      if (isa<MemRefType>(operand.getType()))
        llvm::append_range(flat, memref::getMixedSizes(b, b.getLoc(), operand));
    // The first operand coordinate that is a loop gives the loop's extent.
    AffineMap toLoops = inversePermutation(concatAffineMaps(maps, b.getContext()));
    for (AffineExpr expr : toLoops.getResults())
      sizes.push_back(asValue(b, flat[cast<AffineDimExpr>(expr).getPosition()]));
    SmallVector<Value> at;
    buildLoops(at);
    op.erase();
  }

  void buildLoops(SmallVector<Value> &at) {
    if (static_cast<int64_t>(at.size()) == last)
      return reduces ? reduceRow(at) : mapRow(at);
    Value size = sizes[at.size()], zero = indexConstant(b, 0);
    auto body = [&](Value index) {
      at.push_back(index);
      buildLoops(at);
      at.pop_back();
    };
    if (getConstantIntValue(size) == 1)
      body(zero);
    else
      buildLoop(b, zero, size, 1, body);
  }

  SmallVector<Value> coordinates(AffineMap map, ArrayRef<Value> at, Value lane) {
    SmallVector<Value> result;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      int64_t position = dim ? static_cast<int64_t>(dim.getPosition()) : -1;
      result.push_back(position < 0 ? indexConstant(b, 0) : position == last ? lane : at[position]);
    }
    return result;
  }

  /// What is the same for all lanes, emitted once for a row. The optimizer could not move it there: for all
  /// it knows, a store to the row changes what was loaded.
  LaneMapping buildShared(ArrayRef<Value> at) {
    LaneMapping lanes(b, width);
    for (auto [argument, source, map] :
         llvm::zip(op.getBody()->getArguments().take_front(op.getNumDpsInputs()), op.getInputs(), maps)) {
      if (argument.use_empty())
        continue;
      if (!isa<MemRefType>(source.getType()))
        lanes.map(argument, source);
      else if (!dependsOnLane(map))
        lanes.map(argument, memref::LoadOp::create(b, source, coordinates(map, at, {})));
    }
    for (Operation &inner : op.getBody()->without_terminator()) {
      auto isShared = [&](Value value) {
        return lanes.contains(value) || value.getParentBlock() != op.getBody();
      };
      if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
        if (static_cast<int64_t>(index.getDim()) != last)
          lanes.map(index, at[index.getDim()]);
      } else if (&inner != combiner && isPure(&inner) && inner.getNumRegions() == 0 &&
                 llvm::all_of(inner.getOperands(), isShared)) {
        lanes.clone(&inner);
      }
    }
    return lanes;
  }

  /// Emits the rest of the body for the lanes from `lane` on, in a reduction without the combining operation.
  LaneMapping buildBody(const LaneMapping &shared, ArrayRef<Value> at, Value lane, Value mask) {
    LaneMapping lanes = shared;
    Block *body = op.getBody();
    unsigned inputs = op.getNumDpsInputs();
    for (auto [index, map] : llvm::enumerate(maps)) {
      BlockArgument argument = body->getArgument(index);
      if (argument.use_empty() || lanes.contains(argument) || (reduces && index >= inputs))
        continue;
      Value source = op->getOperand(index);
      SmallVector<Value> place = coordinates(map, at, lane);
      lanes.map(argument, dependsOnLane(map) ? loadVector(b, source, place, width, mask)
                                             : memref::LoadOp::create(b, source, place).getResult());
    }
    for (Operation &inner : body->without_terminator()) {
      if (&inner == combiner || (inner.getNumResults() == 1 && lanes.contains(inner.getResult(0))))
        continue;
      if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
        Value step = vector::StepOp::create(b, VectorType::get(width, b.getIndexType()));
        lanes.map(index, arith::AddIOp::create(b, lanes.asVector(lane), step));
      } else if (auto load = dyn_cast<memref::LoadOp>(inner);
                 load && !load.getIndices().empty() && isLaneIndex(load.getIndices().back())) {
        SmallVector<Value> place;
        for (Value coordinate : load.getIndices().drop_back())
          place.push_back(lanes.lookup(coordinate));
        place.push_back(lane);
        lanes.map(load, loadVector(b, load.getMemRef(), place, width, mask));
      } else {
        lanes.clone(&inner);
      }
    }
    return lanes;
  }

  /// One row: whole vectors, then the rest under a mask.
  void mapRow(ArrayRef<Value> at) {
    Value size = sizes[last], zero = indexConstant(b, 0), whole = wholeSteps(b, zero, size, width);
    LaneMapping shared = buildShared(at);
    auto step = [&](Value lane, Value mask) {
      LaneMapping lanes = buildBody(shared, at, lane, mask);
      OperandRange outs = op.getOutputs();
      for (auto [yielded, out, map] : llvm::zip_equal(op.getBody()->getTerminator()->getOperands(), outs,
                                                      ArrayRef(maps).take_back(outs.size())))
        storeVector(b, lanes.asVector(lanes.lookup(yielded)), out, coordinates(map, at, lane), mask);
    };
    buildLoop(b, zero, whole, width, [&](Value lane) { step(lane, {}); });
    buildLoop(b, whole, size, width, [&](Value lane) { step(lane, remainderMask(b, size, lane, width)); });
  }

  /// One row reduced: several accumulators at once, then one, then the rest under a mask.
  void reduceRow(ArrayRef<Value> at) {
    Value size = sizes[last], zero = indexConstant(b, 0);
    Type element = combiner->getResult(0).getType();
    Value neutral = arith::ConstantOp::create(b, cast<TypedAttr>(neutralElement(element)));
    Value vector = vector::BroadcastOp::create(b, VectorType::get(width, element), neutral);
    LaneMapping shared = buildShared(at);
    auto step = [&](Value lane, Value sum, Value mask) -> Value {
      LaneMapping lanes = buildBody(shared, at, lane, mask);
      bool first = combiner->getOperand(0) == op.getRegionOutputArgs()[0];
      Value term = lanes.asVector(lanes.lookup(combiner->getOperand(first ? 1 : 0)));
      if (mask)
        term = arith::SelectOp::create(b, mask, term, vector);
      return vector::makeArithReduction(b, b.getLoc(), *kind, sum, term);
    };
    Value most = wholeSteps(b, zero, size, width * accumulators), whole = wholeSteps(b, most, size, width);
    SmallVector<Value> sums(accumulators, vector);
    auto addAll = [&](Value lane, ValueRange sums) {
      SmallVector<Value> next;
      for (auto [i, sum] : llvm::enumerate(sums)) {
        Value from = b.createOrFold<arith::AddIOp>(lane, indexConstant(b, i * width));
        next.push_back(step(from, sum, {}));
      }
      return next;
    };
    if (std::optional<int64_t> end = getConstantIntValue(most); end && *end <= width * accumulators * 4)
      for (int64_t lane = 0; lane < *end; lane += width * accumulators) // a head's width, mostly
        sums = addAll(indexConstant(b, lane), sums);
    else
      sums = buildLoop(b, zero, most, width * accumulators, sums, addAll);
    for (size_t stride = accumulators / 2; stride; stride /= 2)
      for (size_t i = 0; i < stride; ++i)
        sums[i] = vector::makeArithReduction(b, b.getLoc(), *kind, sums[i], sums[i + stride]);
    SmallVector<Value> sum = buildLoop(
        b, whole, size, width,
        buildLoop(b, most, whole, width, {sums[0]},
                  [&](Value lane, ValueRange sum) { return SmallVector<Value>{step(lane, sum[0], {})}; }),
        [&](Value lane, ValueRange sum) {
          return SmallVector<Value>{step(lane, sum[0], remainderMask(b, size, lane, width))};
        });
    Value total = vector::ReductionOp::create(b, *kind, sum[0], arith::FastMathFlags::reassoc);
    SmallVector<Value> place = coordinates(maps.back(), at, {});
    Value out = op.getOutputs()[0], before = memref::LoadOp::create(b, out, place);
    memref::StoreOp::create(b, vector::makeArithReduction(b, b.getLoc(), *kind, before, total), out, place);
  }

  TypedAttr neutralElement(Type type) {
    switch (*kind) {
    case vector::CombiningKind::MAXIMUMF:
    case vector::CombiningKind::MAXNUMF:
      return b.getFloatAttr(type, -INFINITY);
    case vector::CombiningKind::MINIMUMF:
    case vector::CombiningKind::MINNUMF:
      return b.getFloatAttr(type, INFINITY);
    default:
      return *arith::getNeutralElement(combiner);
    }
  }
};

/// linalg.fill and linalg.transpose as generic operations, so that they take the same way.
struct VectorizeGenerics : impl::VectorizeGenericsBase<VectorizeGenerics> {
  void runOnOperation() override {
    FailureOr<Target> target = Target::of(getOperation());
    if (failed(target))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> named;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp>(op.getOperation()))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op)))
        return signalPassFailure();
    }
    int64_t width = std::max<int64_t>(target->tuning.lanes, 8);
    getOperation()->walk([&](linalg::GenericOp op) {
      GenericVectorizer vectorizer(op, width);
      if (StringRef obstacle = vectorizer.obstacle(); !obstacle.empty())
        return (void)++numScalar;
      vectorizer.run();
    });
  }
};

} // namespace
} // namespace heed
