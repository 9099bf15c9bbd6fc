// Gives every buffer its place in one workspace; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/EntrySizes.h"
#include "compiler/passes/RedZones.h"
#include "compiler/passes/Structured.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"

namespace heed {
#define GEN_PASS_DEF_PLANWORKSPACE
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// A buffer, and the operations between which it is alive, as positions in program order.
struct Buffer {
  memref::AllocOp alloc;
  int64_t begin, end;
  Value bytes; // as many as there are, and in whole cache lines, at the function's entry
  Value extent;
  bool isCallees; // a call's workspace
};

/// Buffers that share one place because their lifetimes do not meet.
struct Place {
  SmallVector<Buffer *> buffers;
  Value bytes, offset;
};

struct FunctionPlanner {
  func::FuncOp function;
  ModuleOp module;
  ImplicitLocOpBuilder b; // stays at the entry, where sizes are computed
  Value workspace, threads;
  EntrySizes sizes;
  /// Post-order numbers: an operation's contents come before it, and its number ends its extent.
  DenseMap<Operation *, int64_t> position;
  BufferViewFlowAnalysis aliases;
  bool redZones;

  FunctionPlanner(func::FuncOp function, bool redZones)
      : function(function), module(function->getParentOfType<ModuleOp>()),
        b(function.getLoc(), function.getContext()), sizes(function, b), aliases(function),
        redZones(redZones) {
    auto kernel = function.getArguments().take_back(4);
    workspace = kernel[1];
    threads = kernel[2];
    // What is computed for the workspace stays before everything else.
    Block &entry = function.getBody().front();
    b.setInsertionPointToStart(&entry);
    Operation *marker = arith::ConstantIndexOp::create(b, 0);
    b.setInsertionPoint(marker);
    int64_t next = 0;
    function.walk([&](Operation *op) { position[op] = next++; });
  }

  /// Plans all buffers and returns their bytes, computed at the entry.
  FailureOr<Value> run() { return planArena(function, workspace); }

  /// Plans the buffers directly in `owner` (the function or a parallel loop), which start at `base`'s
  /// beginning; returns their bytes.
  FailureOr<Value> planArena(Operation *owner, Value base) {
    std::vector<Buffer> buffers;
    WalkResult found = owner->walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
      if (op != owner && isa<scf::ForallOp>(op))
        return WalkResult::skip();
      auto alloc = dyn_cast<memref::AllocOp>(op);
      if (!alloc)
        return WalkResult::advance();
      FailureOr<Value> bytes = sizes.bytesOf(alloc);
      if (failed(bytes))
        return WalkResult::interrupt();
      OperandRange dynamic = alloc.getDynamicSizes();
      bool isCallees = dynamic.size() == 1 && dynamic[0].getDefiningOp<func::CallOp>();
      buffers.push_back({alloc, position[alloc], lastUse(alloc), *bytes, sizes.roundUp(*bytes), isCallees});
      return WalkResult::advance();
    });
    if (found.wasInterrupted())
      return failure();

    // A parallel loop's buffers are one buffer of its owner: a share for every slot.
    SmallVector<scf::ForallOp> loops;
    owner->walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
      if (loop == owner)
        return WalkResult::advance();
      loops.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ForallOp loop : loops) {
      auto marker = memref::AllocOp::create(b, MemRefType::get({0}, b.getI8Type())); // stands for the share
      FailureOr<Value> share = planArena(loop, marker);
      if (failed(share))
        return failure();
      if (getConstantIntValue(*share) == 0) {
        marker.erase();
        continue;
      }
      Value bytes = b.createOrFold<arith::MulIOp>(*share, threads);
      buffers.push_back({marker, position[loop] - 1, position[loop], bytes, bytes, false});
      slotShares[marker] = {loop, *share};
    }
    // Workspaces of callees first: they are the largest, and would otherwise lie where a small buffer was
    // before, which may live during the next call.
    llvm::stable_sort(buffers, [](const Buffer &x, const Buffer &y) {
      return std::pair(!x.isCallees, x.begin) < std::pair(!y.isCallees, y.begin);
    });

    SmallVector<Place> places;
    for (Buffer &buffer : buffers) {
      auto isFree = [&](const Place &place) {
        // Where an access that strays is to be found, what it strays from keeps its place.
        return !redZones && llvm::none_of(place.buffers, [&](Buffer *other) {
          return buffer.begin <= other->end && other->begin <= buffer.end;
        });
      };
      auto place =
          llvm::find_if(places, [&](const Place &p) { return isFree(p) && p.bytes == buffer.extent; });
      if (place == places.end())
        place = llvm::find_if(places, isFree);
      if (place == places.end())
        place = &places.emplace_back(Place{{}, indexConstant(b, 0), {}});
      place->buffers.push_back(&buffer);
      place->bytes = b.createOrFold<arith::MaxSIOp>(place->bytes, buffer.extent);
    }
    Value total = indexConstant(b, 0);
    if (redZones && !places.empty())
      total = guard(owner, base, total, indexConstant(b, RedZones::bytes));
    for (Place &place : places) {
      place.offset = total;
      total = b.createOrFold<arith::AddIOp>(total, place.bytes);
      if (redZones) {
        Value bytes = place.buffers.front()->bytes;
        Value unused = b.createOrFold<arith::SubIOp>(place.bytes, bytes);
        total = guard(owner, base, b.createOrFold<arith::AddIOp>(place.offset, bytes),
                      b.createOrFold<arith::AddIOp>(unused, indexConstant(b, RedZones::bytes)));
      }
    }
    for (Place &place : places)
      for (Buffer *buffer : place.buffers)
        bind(*buffer, base, place.offset);
    return total;
  }

  /// A red zone in all code of `owner`; returns its end.
  Value guard(Operation *owner, Value base, Value offset, Value size) {
    Block &scope = owner->getRegion(0).front();
    auto start = owner == function ? b.getInsertionPoint() : scope.begin();
    RedZones(module).guard(scope, start, base, offset, size);
    return b.createOrFold<arith::AddIOp>(offset, size);
  }

  DenseMap<Operation *, std::pair<scf::ForallOp, Value>> slotShares;

  /// Replaces an allocation by its view. Inside of a parallel loop `base` is a marker whose own place is
  /// bound later: offsets add up.
  void bind(Buffer &buffer, Value base, Value offset) {
    if (auto found = slotShares.find(buffer.alloc); found != slotShares.end()) {
      auto [loop, share] = found->second;
      // Views inside of the loop were made on the marker; they move to this base, at the slot's share.
      for (Operation *user : llvm::make_early_inc_range(buffer.alloc->getUsers())) {
        auto view = cast<memref::ViewOp>(user);
        ImplicitLocOpBuilder inner(view.getLoc(), view);
        Value slot = arith::MulIOp::create(inner, loop.getInductionVar(0), share);
        Value at =
            arith::AddIOp::create(inner, arith::AddIOp::create(inner, offset, slot), view.getByteShift());
        view.getSourceMutable().assign(base);
        view.getByteShiftMutable().assign(at);
      }
      buffer.alloc.erase();
      return;
    }
    ImplicitLocOpBuilder at(buffer.alloc.getLoc(), buffer.alloc);
    auto type = buffer.alloc.getType();
    Value view = memref::ViewOp::create(at, type, base, offset, buffer.alloc.getDynamicSizes());
    buffer.alloc.replaceAllUsesWith(view);
    buffer.alloc.erase();
  }

  /// The position after which nothing uses the buffer or a view of it.
  int64_t lastUse(memref::AllocOp alloc) {
    int64_t last = position[alloc];
    Region *home = alloc->getParentRegion();
    for (Value alias : aliases.resolve(alloc.getResult()))
      for (Operation *user : alias.getUsers())
        if (Operation *ancestor = home->findAncestorOpInRegion(*user))
          last = std::max(last, position[ancestor]);
    return last;
  }
};

struct PlanWorkspace : impl::PlanWorkspaceBase<PlanWorkspace> {
  using PlanWorkspaceBase::PlanWorkspaceBase;

  void runOnOperation() override {
    // Callees first: a caller asks for their workspace.
    SmallVector<func::FuncOp> order;
    DenseSet<Operation *> seen;
    std::function<void(func::FuncOp)> visit = [&](func::FuncOp function) {
      if (function.isExternal() || !seen.insert(function).second)
        return;
      function.walk([&](func::CallOp call) {
        if (auto callee = getOperation().lookupSymbol<func::FuncOp>(call.getCallee()))
          visit(callee);
      });
      order.push_back(function);
    };
    for (auto function : getOperation().getOps<func::FuncOp>())
      visit(function);
    for (func::FuncOp function : order) {
      if (function.getNumArguments() < 4) {
        function.emitError("expected the four arguments that attn-lower-buffers adds");
        return signalPassFailure();
      }
      function.walk([&](func::CallOp call) { allocateForCallee(call); });
      FunctionPlanner planner(function, redZones);
      FailureOr<Value> bytes = planner.run();
      if (failed(bytes))
        return signalPassFailure();
      declareWorkspace(function, planner, *bytes);
    }
  }

  /// A call's workspace is a buffer that lives as long as the call.
  void allocateForCallee(func::CallOp call) {
    if (!getOperation().lookupSymbol(workspaceName(call.getCallee())))
      return;
    ImplicitLocOpBuilder b(call.getLoc(), call);
    SmallVector<Value> sizes;
    for (Value operand : call.getOperands().drop_back(4))
      if (auto type = dyn_cast<MemRefType>(operand.getType()))
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          if (type.isDynamicDim(dim))
            sizes.push_back(sizeOf(b, operand, dim));
    sizes.push_back(call.getOperands().take_back(2)[0]);
    auto bytes = func::CallOp::create(b, workspaceName(call.getCallee()), b.getIndexType(), sizes);
    auto type = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
    Value workspace = memref::AllocOp::create(b, type, bytes.getResult(0));
    call->setOperand(call->getNumOperands() - 3, workspace);
  }

  /// The size of a buffer, found behind the casts of LowerBuffers.
  static Value sizeOf(ImplicitLocOpBuilder &b, Value buffer, int64_t dim) {
    while (auto cast = buffer.getDefiningOp<memref::CastOp>())
      buffer = cast.getSource();
    if (auto cast = buffer.getDefiningOp<memref::ReinterpretCastOp>())
      return getValueOrCreateConstantIndexOp(b, b.getLoc(), cast.getMixedSizes()[dim]);
    return b.createOrFold<memref::DimOp>(buffer, dim);
  }

  static std::string workspaceName(StringRef function) { return (function + workspaceSuffix).str(); }

  /// `@f.workspace`: the part of `@f` that computes the bytes.
  void declareWorkspace(func::FuncOp function, FunctionPlanner &planner, Value bytes) {
    OpBuilder builder(&getContext());
    builder.setInsertionPoint(function);
    SmallVector<std::pair<Value, int64_t>> dims;
    for (BlockArgument argument : function.getArguments().drop_back(4))
      if (auto type = dyn_cast<MemRefType>(argument.getType()))
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          if (type.isDynamicDim(dim))
            dims.push_back({argument, dim});
    SmallVector<Type> types(dims.size() + 1, builder.getIndexType());
    auto size = func::FuncOp::create(builder, function.getLoc(), workspaceName(function.getName()),
                                     builder.getFunctionType(types, builder.getIndexType()));
    size.setPrivate();
    Block *entry = size.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    IRMapping mapping;
    mapping.map(planner.threads, entry->getArguments().back());
    std::function<Value(Value)> copy = [&](Value value) -> Value {
      if (Value done = mapping.lookupOrNull(value))
        return done;
      Operation *op = value.getDefiningOp();
      if (auto dim = dyn_cast<memref::DimOp>(op)) {
        auto found = llvm::find(dims, std::make_pair(dim.getSource(), *dim.getConstantIndex()));
        Value result = entry->getArgument(found - dims.begin());
        mapping.map(value, result);
        return result;
      }
      for (Value operand : op->getOperands())
        mapping.map(operand, copy(operand));
      builder.clone(*op, mapping);
      return mapping.lookup(value);
    };
    func::ReturnOp::create(builder, function.getLoc(), copy(bytes));
  }
};

} // namespace
} // namespace heed
