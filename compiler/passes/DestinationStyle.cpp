// Gives every function its results to fill, and what a kernel needs besides; see Passes.td.
#include "compiler/passes/Passes.h"

#include "compiler/passes/Structured.h"
#include "compiler/target/Interface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace heed {
#define GEN_PASS_DEF_DESTINATIONSTYLE
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr StringLiteral stateAttr = "attn.state", stridedAttr = "attn.strided",
                        layoutAttr = "bufferization.buffer_layout";

/// One dynamic dimension of a result as an affine expression of dimensions of arguments.
struct ResultSize {
  AffineMap map;
  ValueDimList dims;
};

struct DestinationStyle : impl::DestinationStyleBase<DestinationStyle> {
  /// Per function, per result without a state: its dynamic dimensions, in order.
  DenseMap<func::FuncOp, SmallVector<SmallVector<ResultSize>>> resultSizes;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        functions.push_back(function);
    for (func::FuncOp function : functions)
      if (failed(describeResults(function)))
        return signalPassFailure();
    for (func::FuncOp function : functions) {
      function.walk([](scf::ForOp loop) { yieldInPlace(loop); });
      addArguments(function);
    }
    for (func::FuncOp function : functions)
      function.walk([&](func::CallOp call) { passDestinations(call); });
    if (failed(resolveParameters()))
      return signalPassFailure();
  }

  /// The argument whose state result number `result` is, if any.
  static std::optional<unsigned> stateOf(func::FuncOp function, unsigned result) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto tied = function.getArgAttrOfType<IntegerAttr>(i, stateAttr); tied && tied.getInt() == result)
        return i;
    return std::nullopt;
  }

  LogicalResult describeResults(func::FuncOp function) {
    auto terminator = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    for (OpOperand &operand : terminator->getOpOperands()) {
      SmallVector<ResultSize> sizes;
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type)
        return terminator.emitError("expected results that are tensors, but got ") << operand.get().getType();
      for (int64_t dim = 0; dim < type.getRank() && !function.isPublic(); ++dim) {
        if (!type.isDynamicDim(dim))
          continue;
        ResultSize size;
        auto isArgument = [](Value value, std::optional<int64_t>, ValueBoundsConstraintSet &) {
          return isa<BlockArgument>(value) &&
                 isa<func::FuncOp>(cast<BlockArgument>(value).getOwner()->getParentOp());
        };
        if (failed(ValueBoundsConstraintSet::computeBound(size.map, size.dims, presburger::BoundType::EQ,
                                                          {operand.get(), dim}, isArgument)))
          return terminator.emitError("expected result ")
                 << operand.getOperandNumber() << " to have sizes that follow from those of the arguments";
        sizes.push_back(size);
      }
      resultSizes[function].push_back(std::move(sizes));
    }
    return success();
  }

  /// What `value` overwrites in the end.
  static Value originOf(Value value) {
    while (Value destination = destinationOf(value))
      value = destination;
    return value;
  }

  /// The value that `value` overwrites, if its operation says.
  static Value destinationOf(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return {};
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return loop.getInitArgs()[number];
    if (auto loop = dyn_cast<scf::ForallOp>(op))
      return loop.getOutputs()[number];
    if (auto choice = dyn_cast<scf::IfOp>(op)) {
      Value yes = originOf(choice.thenYield().getOperand(number)),
            no = originOf(choice.elseYield().getOperand(number));
      return yes == no ? yes : Value();
    }
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      return insert.getDest();
    if (auto insert = dyn_cast<tensor::InsertOp>(op))
      return insert.getDest();
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
      return destination.getDpsInits()[number];
    return {};
  }

  /// A loop must hand on the buffers it got: a tensor made elsewhere is copied into its iteration argument.
  static void yieldInPlace(scf::ForOp loop) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    OpBuilder builder(yield);
    for (OpOperand &operand : yield->getOpOperands()) {
      BlockArgument argument = loop.getRegionIterArg(operand.getOperandNumber());
      if (!isa<RankedTensorType>(argument.getType()))
        continue;
      if (originOf(operand.get()) != argument)
        operand.set(linalg::CopyOp::create(builder, yield.getLoc(), operand.get(), argument).getResult(0));
    }
  }

  void addArguments(func::FuncOp function) {
    Location loc = function.getLoc();
    OpBuilder builder(&getContext());
    auto terminator = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    auto setLayout = [&](unsigned argument) {
      if (isa<RankedTensorType>(function.getArgument(argument).getType()) &&
          !function.getArgAttr(argument, stateAttr))
        function.setArgAttr(argument, "bufferization.writable", builder.getBoolAttr(false));
      if (function.getArgAttr(argument, stridedAttr)) {
        int64_t rank = cast<RankedTensorType>(function.getArgument(argument).getType()).getRank();
        SmallVector<int64_t> strides(rank, ShapedType::kDynamic);
        if (rank)
          strides.back() = 1;
        function.setArgAttr(argument, layoutAttr,
                            StridedLayoutAttr::get(&getContext(), ShapedType::kDynamic, strides));
      }
    };
    for (unsigned i = 0, count = function.getNumArguments(); i < count; ++i)
      setLayout(i);
    // A result that nobody takes would vanish: what an entry returns is written to memory, for all to see.
    bool entry = function.isPublic();
    SmallVector<Value> returned;
    for (Value result : llvm::to_vector(terminator.getOperands())) {
      std::optional<unsigned> state = stateOf(function, returned.size());
      if (state && !entry) { // updated in place, as the caller's is
        returned.push_back(result);
        continue;
      }
      if (!state) {
        state = function.getNumArguments();
        (void)function.insertArgument(*state, result.getType(), {}, loc);
      }
      BlockArgument destination = function.getArgument(*state);
      builder.setInsertionPoint(terminator);
      if (!entry) {
        returned.push_back(bufferization::MaterializeInDestinationOp::create(builder, loc, result.getType(),
                                                                             result, destination)
                               .getResult());
        continue;
      }
      returned.push_back({});
      passAsBuffer(function, destination);
      builder.setInsertionPoint(terminator);
      auto materialize = bufferization::MaterializeInDestinationOp::create(builder, loc, result, destination);
      materialize.setWritable(true);
      materialize.setRestrict(true);
    }
    if (entry) {
      returned.clear();
      function.setFunctionType(builder.getFunctionType(function.getBody().getArgumentTypes(), {}));
      function.removeResAttrsAttr();
    }
    terminator->setOperands(returned);
    auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
    for (Type type : {Type(bytes), Type(bytes), Type(builder.getIndexType()),
                      Type(LLVM::LLVMPointerType::get(&getContext()))})
      (void)function.insertArgument(function.getNumArguments(), type, {}, loc);
  }

  /// Makes a tensor argument a buffer that may be written; the body goes on with a tensor of it.
  void passAsBuffer(func::FuncOp function, BlockArgument argument) {
    auto type = cast<RankedTensorType>(argument.getType());
    auto layout = function.getArgAttrOfType<StridedLayoutAttr>(argument.getArgNumber(), layoutAttr);
    argument.setType(MemRefType::get(type.getShape(), type.getElementType(), layout));
    if (argument.use_empty())
      return;
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(argument.getOwner());
    auto tensor = bufferization::ToTensorOp::create(builder, function.getLoc(), type, argument,
                                                    /*restrict=*/true, /*writable=*/true);
    argument.replaceAllUsesExcept(tensor, tensor);
  }

  void passDestinations(func::CallOp call) {
    auto callee = getOperation().lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return;
    ImplicitLocOpBuilder b(call.getLoc(), call);
    SmallVector<Value> operands(call.getOperands());
    for (auto [result, type] : llvm::enumerate(call.getResultTypes())) {
      if (stateOf(callee, result))
        continue;
      SmallVector<Value> sizes;
      for (const ResultSize &size : resultSizes[callee][result]) {
        SmallVector<OpFoldResult> dims;
        for (auto [value, dim] : size.dims) {
          Value operand = call.getOperand(cast<BlockArgument>(value).getArgNumber());
          dims.push_back(dim ? tensor::getMixedSize(b, call.getLoc(), operand, *dim) : OpFoldResult(operand));
        }
        sizes.push_back(asValue(b, affine::makeComposedFoldedAffineApply(b, call.getLoc(), size.map, dims)));
      }
      operands.push_back(tensor::EmptyOp::create(b, cast<RankedTensorType>(type), sizes));
    }
    auto caller = call->getParentOfType<func::FuncOp>();
    llvm::append_range(operands, caller.getArguments().take_back(4));
    call->setOperands(operands);
  }

  LogicalResult resolveParameters() {
    SmallVector<attn::ParamOp> params;
    getOperation()->walk([&](attn::ParamOp op) { params.push_back(op); });
    if (params.empty())
      return success();
    FailureOr<ModuleInterface> interface = ModuleInterface::get(getOperation());
    if (failed(interface))
      return failure();
    llvm::StringMap<uint64_t> offsets;
    for (const ParameterInterface &parameter : interface->parameters)
      offsets[parameter.name] = parameter.offset;
    for (attn::ParamOp op : params) {
      auto offset = offsets.find(op.getName());
      if (offset == offsets.end())
        return op.emitError("expected a parameter with a place in the image, but got \"")
               << op.getName() << "\"";
      auto function = op->getParentOfType<func::FuncOp>();
      ImplicitLocOpBuilder b(op.getLoc(), op);
      auto type = cast<RankedTensorType>(op.getType());
      Value image = function.getArguments().take_back(4)[0];
      Value view = memref::ViewOp::create(b, MemRefType::get(type.getShape(), type.getElementType()), image,
                                          indexConstant(b, offset->second), ValueRange());
      Value tensor = bufferization::ToTensorOp::create(b, type, view, /*restrict=*/true);
      op.replaceAllUsesWith(tensor);
      op.erase();
    }
    return success();
  }
};

} // namespace
} // namespace heed
