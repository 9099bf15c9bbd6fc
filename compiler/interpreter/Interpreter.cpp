// The interpreter's outside, calls and parameters; see Interpreter.h.
#include "compiler/interpreter/Interpreter.h"
#include "compiler/interpreter/Program.h"

#include "dialect/Attn.h"

using namespace mlir;

namespace heed {

/// A graph has no reason to nest calls deeper; an endless recursion ends here.
static constexpr unsigned maxDepth = 200;

/// f32 code may take subnormal numbers for 0 as soon as it reads them.
static void addFlushing(Tensor &tensor) {
  auto type = dyn_cast<FloatType>(tensor.elementType);
  if (!type || type.isF16())
    return;
  for (auto [at, value] : llvm::enumerate(tensor.values))
    if (value != 0 && std::fabs(value) < FLT_MIN)
      tensor.setReal(at, {value, square(value)});
}

/// Whether values of this type have a slot that means something.
static bool isKnown(Type type) { return isa<RankedTensorType, IndexType, IntegerType, FloatType>(type); }

Operation *findUnknown(ModuleOp module) {
  OpTable table;
  Operation *unknown = nullptr;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isFrame = isa<ModuleOp, func::FuncOp>(op), isTerminator = op->hasTrait<OpTrait::IsTerminator>();
    auto isOneBlock = [](Region &region) { return region.empty() || region.hasOneBlock(); };
    if ((isFrame || isTerminator || table.knows(op)) && llvm::all_of(op->getOperandTypes(), isKnown) &&
        llvm::all_of(op->getResultTypes(), isKnown) && llvm::all_of(op->getRegions(), isOneBlock))
      return isTerminator ? WalkResult::skip()
                          : WalkResult::advance(); // what is in a terminator belongs to it
    unknown = op;
    return WalkResult::interrupt();
  });
  return unknown;
}

const Program &Session::programOf(func::FuncOp function) {
  std::unique_ptr<Program> &program = programs[function];
  if (program)
    return *program;
  program = std::make_unique<Program>();
  function.walk<WalkOrder::PreOrder>([&](Block *block) {
    for (Value argument : block->getArguments())
      program->slotOf(argument);
    for (Operation &op : *block)
      for (Value result : op.getResults())
        program->slotOf(result);
  });
  function.walk([&](Block *block) {
    std::vector<Step> &steps = program->blocks[block];
    for (Operation &op : *block)
      if (!op.hasTrait<OpTrait::IsTerminator>())
        steps.push_back(table.build(&op, *program));
  });
  return *program;
}

FailureOr<std::shared_ptr<Tensor>> Session::parameter(Operation *op, StringRef name) {
  std::shared_ptr<Tensor> &tensor = loaded[name];
  if (tensor)
    return tensor;
  if (!parameters)
    return op->emitOpError("expected a source of parameters");
  llvm::Expected<Tensor> read = parameters(name);
  if (!read)
    return op->emitOpError() << llvm::toString(read.takeError());
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (read->elementType != type.getElementType())
    return op->emitOpError("expected parameter of ")
           << type.getElementType() << ", but got " << read->elementType;
  addFlushing(*read);
  tensor = std::make_shared<Tensor>(std::move(*read));
  return tensor;
}

FailureOr<std::vector<Slot>> Session::call(func::FuncOp function, std::vector<Slot> arguments) {
  if (function.isExternal())
    return function.emitOpError("expected a function with a body");
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected a function of one block");
  if (depth == maxDepth)
    return function.emitOpError("expected calls at most ") << maxDepth << " deep";
  Frame frame(*this, programOf(function));
  for (auto [value, slot] : llvm::zip_equal(function.getArguments(), arguments))
    frame.slot(value) = std::move(slot);
  ++depth;
  LogicalResult ran = frame.run(function.getBody().front());
  --depth;
  if (failed(ran))
    return failure();
  std::vector<Slot> results;
  for (Value value : function.getBody().front().getTerminator()->getOperands())
    results.push_back(frame.slot(value));
  return results;
}

Interpreter::Interpreter(ModuleOp module, ParameterSource parameters)
    : session(std::make_unique<Session>(module, std::move(parameters))) {}
Interpreter::~Interpreter() = default;

int64_t Interpreter::getVisitedPairs() const { return session->visitedPairs; }

FailureOr<std::vector<Tensor>> Interpreter::run(StringRef name, const std::vector<Tensor> &inputs) {
  auto function = session->module.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return session->module.emitError("expected a function named '") << name << "'";
  return run(function, inputs);
}

/// Refuses an input that is not of the argument's type.
static LogicalResult checkInput(func::FuncOp function, unsigned number, const Tensor &input) {
  Type type = function.getArgumentTypes()[number];
  if (!input.elementType)
    return function.emitOpError("expected input ") << number << " of type " << type << ", but got nothing";
  auto tensorType = dyn_cast<RankedTensorType>(type);
  Type elementType = tensorType ? tensorType.getElementType() : type;
  ArrayRef<int64_t> shape = tensorType ? tensorType.getShape() : ArrayRef<int64_t>();
  auto fits = [](int64_t expected, int64_t actual) {
    return ShapedType::isDynamic(expected) || expected == actual;
  };
  int64_t count = countElements(input.shape, INT64_MAX);
  if (input.elementType == elementType && llvm::equal(shape, input.shape, fits) && input.size() == count)
    return success();
  return function.emitOpError("expected input ")
         << number << " of type " << type << ", but got " << input.elementType << " of shape "
         << showShape(input.shape) << " with " << input.size() << " elements";
}

/// The results of `run`, and beside each, as its `other`, the result by the second reading where they may
/// part.
template <class Reading>
static FailureOr<std::vector<Tensor>> runByBoth(std::shared_ptr<const Tensor> Tensor::*other,
                                                llvm::function_ref<FailureOr<std::vector<Tensor>>()> run) {
  Reading::forget();
  FailureOr<std::vector<Tensor>> results = run();
  if (failed(results) || !Reading::forget())
    return results;
  Reading second;
  FailureOr<std::vector<Tensor>> others = run();
  if (failed(others))
    return failure();
  for (auto [result, tensor] : llvm::zip_equal(*results, *others))
    result.*other = std::make_shared<Tensor>(std::move(tensor));
  return results;
}

FailureOr<std::vector<Tensor>> Interpreter::run(func::FuncOp function, const std::vector<Tensor> &inputs) {
  return runByBoth<LeavingOut>(&Tensor::leftOut, [&] {
    return runByBoth<Overflow>(&Tensor::overflown, [&] { return evaluate(function, inputs); });
  });
}

FailureOr<std::vector<Tensor>> Interpreter::evaluate(func::FuncOp function, std::vector<Tensor> inputs) {
  if (inputs.size() != function.getNumArguments())
    return function.emitOpError("expected ")
           << function.getNumArguments() << " inputs, but got " << inputs.size();
  std::vector<Slot> arguments(inputs.size());
  for (auto [number, input] : llvm::enumerate(inputs)) {
    if (failed(checkInput(function, number, input)))
      return failure();
    addFlushing(input);
    if (isa<RankedTensorType>(function.getArgumentTypes()[number]))
      arguments[number].tensor = std::make_shared<Tensor>(std::move(input));
    else
      arguments[number].scalar = input.isFloat() ? Scalar::of(input.real(0)) : Scalar::of(input.integers[0]);
  }
  FailureOr<std::vector<Slot>> slots = session->call(function, std::move(arguments));
  if (failed(slots))
    return failure();
  std::vector<Tensor> results;
  for (auto [slot, type] : llvm::zip_equal(*slots, function.getResultTypes())) {
    if (slot.tensor) {
      results.push_back(*slot.tensor);
      continue;
    }
    Tensor &result = results.emplace_back(type, ArrayRef<int64_t>());
    if (result.isFloat())
      result.setReal(0, slot.scalar.real);
    else
      result.integers[0] = slot.scalar.integer;
  }
  return results;
}

} // namespace heed
