// The smallest module that still shows what a whole one shows; see Reduce.h.
#include "compiler/driver/Reduce.h"

#include "compiler/driver/Oracle.h"
#include "compiler/passes/Passes.h"
#include "compiler/target/Interface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <chrono>

using namespace llvm;
using mlir::func::FuncOp;

namespace heed::driver {

namespace {

class Reducer {
public:
  Reducer(mlir::ModuleOp module, StringRef entry, const Candidates &candidates)
      : current(module.clone()), entry(entry), candidates(candidates) {}

  mlir::OwningOpRef<mlir::ModuleOp> run(const EntryInterface &interface, const InputCase &one,
                                        unsigned number, const Tensor &result);

private:
  using Change = function_ref<bool(FuncOp)>;
  bool attempt(Change change);
  bool inlineCalls();
  bool returnEarly();
  bool cutOperands();
  bool bypass();
  std::optional<Tensor> valueOf(unsigned op, unsigned result);
  /// Candidates of a large model take seconds each.
  bool isOver() const { return attempts >= candidates.most || Clock::now() > end; }

  using Clock = std::chrono::steady_clock;
  Clock::time_point end = Clock::now() + std::chrono::minutes(1);
  mlir::OwningOpRef<mlir::ModuleOp> current;
  std::string entry;
  const Candidates &candidates;
  unsigned attempts = 0;
};

} // namespace

//===--- Changes
//------------------------------------------------------------------------------------------===//

/// Everything in the function but terminators, in order.
static SmallVector<mlir::Operation *> listOps(FuncOp function) {
  SmallVector<mlir::Operation *> ops;
  function.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    if (op != function && !op->hasTrait<mlir::OpTrait::IsTerminator>())
      ops.push_back(op);
  });
  return ops;
}

/// Operations that compute: constants and casts cost a reader nothing.
static size_t countOps(FuncOp function) {
  return count_if(listOps(function), [](mlir::Operation *op) {
    return !op->hasTrait<mlir::OpTrait::ConstantLike>() && !isa<mlir::tensor::CastOp>(op);
  });
}

static mlir::Value castTo(mlir::OpBuilder &b, mlir::Value value, mlir::Type type) {
  if (value.getType() == type)
    return value;
  return mlir::tensor::CastOp::create(b, value.getLoc(), type, value);
}

/// Makes `value`, which is as `like`, the function's only result.
static void returnOnly(FuncOp function, mlir::Value value, const Tensor &like) {
  mlir::Operation *terminator = function.getBody().front().getTerminator();
  mlir::OpBuilder b(terminator);
  auto type = mlir::RankedTensorType::get(like.shape, like.elementType);
  mlir::Value result = castTo(b, value, type);
  terminator->setOperands(result);
  function.setType(b.getFunctionType(function.getArgumentTypes(), type));
  function.setAllResultAttrs(ArrayRef<mlir::DictionaryAttr>{b.getDictionaryAttr({})});
}

/// Index data keeps to the range that `like` covers.
static mlir::DictionaryAttr attributesFor(mlir::OpBuilder &b, const Tensor &like) {
  if (like.isFloat() || like.integers.empty() || like.elementType.isInteger(1))
    return b.getDictionaryAttr({});
  auto [low, high] = std::minmax_element(like.integers.begin(), like.integers.end());
  return b.getDictionaryAttr(b.getNamedAttr("attn.range", b.getI64ArrayAttr({*low, *high})));
}

/// Gives every argument the static type of an input, and takes the author's names of sizes away with them.
static void fixSizes(FuncOp function, ArrayRef<Tensor> inputs) {
  mlir::OpBuilder b = mlir::OpBuilder::atBlockBegin(&function.getBody().front());
  for (auto [argument, input] : zip_equal(function.getArguments(), inputs)) {
    mlir::Type type = argument.getType();
    if (!isa<mlir::RankedTensorType>(type))
      continue;
    argument.setType(mlir::RankedTensorType::get(input.shape, input.elementType));
    if (argument.getType() != type) {
      auto cast = mlir::tensor::CastOp::create(b, argument.getLoc(), type, argument);
      argument.replaceAllUsesExcept(cast, cast);
    }
  }
  function.setType(b.getFunctionType(function.getBody().front().getArgumentTypes(),
                                     function.getFunctionType().getResults()));
  function->removeAttr("attn.require");
  SmallVector<mlir::DictionaryAttr> attributes;
  for (auto [number, input] : enumerate(inputs)) {
    mlir::NamedAttrList kept(attributesFor(b, input));
    if (mlir::Attribute name = function.getArgAttr(number, "attn.name"))
      kept.set("attn.name", name);
    attributes.push_back(kept.getDictionary(function.getContext()));
  }
  function.setAllArgAttrs(attributes);
}

/// Whether nothing needs `op`. A call of a function on tensors has no effect but its results.
static bool isUnneeded(mlir::Operation *op) {
  if (!isa<mlir::func::CallOp>(op))
    return mlir::isOpTriviallyDead(op);
  return op->use_empty() &&
         none_of(op->getOperandTypes(), [](mlir::Type type) { return isa<mlir::MemRefType>(type); });
}

/// Takes away what nothing needs any more.
static void drop(mlir::ModuleOp module, FuncOp entry) {
  SmallVector<mlir::Operation *> ops = listOps(entry);
  for (mlir::Operation *op : reverse(ops))
    if (isUnneeded(op))
      op->erase();
  for (auto function : module.getOps<FuncOp>())
    if (function != entry)
      function.setPrivate();
  mlir::PassManager pm(module.getContext());
  pm.addPass(mlir::createSymbolDCEPass());
  (void)pm.run(module);
  BitVector unused(entry.getNumArguments());
  for (mlir::BlockArgument argument : entry.getArguments())
    unused[argument.getArgNumber()] = argument.use_empty();
  (void)entry.eraseArguments(unused);
  bool readsParameters = module
                             ->walk([](mlir::Operation *op) {
                               return op->getName().getStringRef() == "attn.param"
                                          ? mlir::WalkResult::interrupt()
                                          : mlir::WalkResult::advance();
                             })
                             .wasInterrupted();
  for (StringRef attribute : {"heed.params", "heed.recipe"})
    if (!readsParameters)
      module->removeAttr(attribute);
}

/// Makes a description of the module, if it had one, true again.
static bool describeAnew(mlir::ModuleOp module) {
  if (!module->removeAttr(ModuleInterface::attributeName))
    return true;
  mlir::PassManager pm(module.getContext());
  pm.addPass(createDescribeInterface());
  pm.addPass(createLayOutParameters());
  return succeeded(pm.run(module));
}

//===--- Attempts
//-----------------------------------------------------------------------------------------===//

bool Reducer::attempt(Change change) {
  if (isOver())
    return false;
  ErrorTaker quiet(current->getContext());
  mlir::OwningOpRef<mlir::ModuleOp> candidate(current->clone());
  auto function = candidate->lookupSymbol<FuncOp>(entry);
  if (!change(function))
    return false;
  ++attempts;
  drop(*candidate, function);
  if (failed(mlir::verify(*candidate)) || !describeAnew(*candidate) || !candidates.show(*candidate))
    return false;
  current = std::move(candidate);
  return true;
}

/// What a value of the current module is, for types that do not say it.
std::optional<Tensor> Reducer::valueOf(unsigned op, unsigned result) {
  if (isOver())
    return std::nullopt;
  ErrorTaker quiet(current->getContext());
  mlir::OwningOpRef<mlir::ModuleOp> candidate(current->clone());
  auto function = candidate->lookupSymbol<FuncOp>(entry);
  mlir::Value value = listOps(function)[op]->getResult(result);
  mlir::Operation *terminator = function.getBody().front().getTerminator();
  terminator->setOperands(value);
  function.setType(
      mlir::FunctionType::get(function.getContext(), function.getArgumentTypes(), value.getType()));
  drop(*candidate, function);
  if (!describeAnew(*candidate))
    return std::nullopt;
  auto results = candidates.evaluate(*candidate);
  return results ? std::optional(std::move(results->front())) : std::nullopt;
}

static bool isTensor(mlir::Value value) {
  auto type = dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && isInterfaceType(type.getElementType());
}

static bool isAtTop(mlir::Operation *op) { return isa<FuncOp>(op->getParentOp()); }

bool Reducer::inlineCalls() {
  return attempt([](FuncOp function) {
    bool calls = !function.getOps<mlir::func::CallOp>().empty();
    mlir::PassManager pm(function.getContext());
    pm.addPass(mlir::createInlinerPass());
    return calls && succeeded(pm.run(function->getParentOfType<mlir::ModuleOp>()));
  });
}

/// Returns the first value that shows it.
bool Reducer::returnEarly() {
  auto function = current->lookupSymbol<FuncOp>(entry);
  mlir::Value returned = function.getBody().front().getTerminator()->getOperand(0);
  SmallVector<mlir::Operation *> ops = listOps(function);
  for (unsigned number = 0; number < ops.size(); ++number) {
    mlir::Operation *op = ops[number];
    if (!isAtTop(op) || op->hasTrait<mlir::OpTrait::ConstantLike>() || isa<mlir::tensor::CastOp>(op))
      continue;
    for (mlir::OpResult result : op->getResults()) {
      if (!isTensor(result) || result == returned)
        continue;
      std::optional<Tensor> value = valueOf(number, result.getResultNumber());
      if (value && attempt([&](FuncOp changed) {
            returnOnly(changed, listOps(changed)[number]->getResult(result.getResultNumber()), *value);
            return true;
          }))
        return true;
    }
  }
  return false;
}

/// Makes arguments of what an operation computes, the last ones first: with them goes what led there.
bool Reducer::cutOperands() {
  bool changed = false;
  for (size_t number = listOps(current->lookupSymbol<FuncOp>(entry)).size(); number-- > 0;) {
    SmallVector<mlir::Operation *> ops = listOps(current->lookupSymbol<FuncOp>(entry));
    if (number >= ops.size())
      continue;
    mlir::Operation *op = ops[number];
    if (!isAtTop(op) || op->hasTrait<mlir::OpTrait::ConstantLike>() || isa<mlir::tensor::CastOp>(op) ||
        op->getNumResults() == 0 || !all_of(op->getResults(), isTensor))
      continue;
    std::vector<Tensor> values;
    for (unsigned result = 0; result < op->getNumResults(); ++result)
      if (std::optional<Tensor> value = valueOf(number, result))
        values.push_back(std::move(*value));
    if (values.size() != op->getNumResults())
      continue;
    changed |= attempt([&](FuncOp function) {
      size_t before = countOps(function);
      mlir::Operation *cut = listOps(function)[number];
      mlir::OpBuilder b(cut);
      for (auto [result, value] : zip_equal(cut->getResults(), values)) {
        unsigned argument = function.getNumArguments();
        if (failed(function.insertArgument(argument,
                                           mlir::RankedTensorType::get(value.shape, value.elementType),
                                           attributesFor(b, value), cut->getLoc())))
          return false;
        result.replaceAllUsesWith(castTo(b, function.getArgument(argument), result.getType()));
      }
      drop(function->getParentOfType<mlir::ModuleOp>(), function);
      return countOps(function) < before;
    });
  }
  return changed;
}

/// Takes single operations out of what remains: an operand of the same type, or true, stands for the result.
bool Reducer::bypass() {
  bool changed = false;
  for (size_t number = listOps(current->lookupSymbol<FuncOp>(entry)).size(); number-- > 0;) {
    SmallVector<mlir::Operation *> ops = listOps(current->lookupSymbol<FuncOp>(entry));
    if (number >= ops.size() || ops[number]->getNumResults() != 1 ||
        ops[number]->hasTrait<mlir::OpTrait::ConstantLike>())
      continue;
    mlir::Operation *op = ops[number];
    mlir::Type type = op->getResult(0).getType();
    bool done = false;
    for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
      done = done || (op->getOperand(operand).getType() == type && attempt([&](FuncOp function) {
                        mlir::Operation *out = listOps(function)[number];
                        out->getResult(0).replaceAllUsesWith(out->getOperand(operand));
                        return true;
                      }));
    done = done || (type.isInteger(1) && attempt([&](FuncOp function) {
                      mlir::Operation *out = listOps(function)[number];
                      mlir::OpBuilder b(out);
                      out->getResult(0).replaceAllUsesWith(
                          mlir::arith::ConstantOp::create(b, out->getLoc(), b.getBoolAttr(true)).getResult());
                      return true;
                    }));
    changed |= done;
  }
  return changed;
}

mlir::OwningOpRef<mlir::ModuleOp> Reducer::run(const EntryInterface &interface, const InputCase &one,
                                               unsigned number, const Tensor &result) {
  if (!attempt([&](FuncOp function) {
        returnOnly(function, function.getBody().front().getTerminator()->getOperand(number), result);
        fixSizes(function, one.inputs);
        return true;
      }))
    return nullptr;
  returnEarly(); // before there is more to look at
  if (inlineCalls())
    returnEarly();
  while (cutOperands() || bypass())
    ;
  for (StringRef attribute : {ModuleInterface::attributeName.data(), "heed.target", "heed.contracts",
                              "heed.instrument", "heed.abi"})
    attempt([&](FuncOp function) { return bool(function->getParentOp()->removeAttr(attribute)); });
  return std::move(current);
}

mlir::OwningOpRef<mlir::ModuleOp> reduce(mlir::ModuleOp module, const EntryInterface &entry,
                                         const InputCase &one, unsigned number, const Tensor &result,
                                         const Candidates &candidates) {
  return Reducer(module, entry.name, candidates).run(entry, one, number, result);
}

} // namespace heed::driver
