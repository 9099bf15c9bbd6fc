// Computes what the module offers to its callers from the graph; see Passes.td.
#include "compiler/passes/Passes.h"
#include "compiler/target/Interface.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

namespace heed {
#define GEN_PASS_DEF_DESCRIBEINTERFACE
#include "compiler/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr StringLiteral nameAttr = "attn.name", shapeAttr = "attn.shape", optionalAttr = "attn.optional",
                        rangeAttr = "attn.range", stridedAttr = "attn.strided", stateAttr = "attn.state",
                        requireAttr = "attn.require";

/// A call on the way from the entry to a value; null: the value is in the entry itself.
struct Frame {
  ValueRange operands;
  const Frame *caller;
};

/// Dimensions of tensors as expressions of the sizes of an entry, followed backwards through its operations.
class Dimensions {
public:
  Dimensions(func::FuncOp entry, const EntryInterface &interface) : entry(entry), interface(interface) {}

  /// The dimension `dim` of `value`; nothing where it does not follow from the inputs, or is not affine.
  std::optional<SizeExpr> of(Value value, unsigned dim, const Frame *frame = nullptr) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || dim >= type.getRank())
      return std::nullopt;
    if (!type.isDynamicDim(dim))
      return SizeExpr::ofConstant(type.getDimSize(dim));
    if (auto argument = dyn_cast<BlockArgument>(value))
      return ofArgument(argument, dim, frame);

    Operation *op = value.getDefiningOp();
    unsigned index = cast<OpResult>(value).getResultNumber();
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr());
      if (!callee || callee.isExternal())
        return std::nullopt;
      Frame inner{call.getOperands(), frame};
      return of(callee.front().getTerminator()->getOperand(index), dim, &inner);
    }
    if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
      return of(style.getTiedOpOperand(cast<OpResult>(value))->get(), dim, frame);
    if (auto shaped = dyn_cast<ReifyRankedShapedTypeOpInterface>(op))
      return ofReified(shaped, index, dim, frame);
    if (op->hasTrait<OpTrait::SameOperandsAndResultShape>() ||
        op->hasTrait<OpTrait::SameOperandsAndResultType>())
      return of(op->getOperand(0), dim, frame);
    return std::nullopt;
  }

private:
  std::optional<SizeExpr> ofArgument(BlockArgument argument, unsigned dim, const Frame *frame) {
    if (!isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return std::nullopt;
    if (frame)
      return of(frame->operands[argument.getArgNumber()], dim, frame->caller);
    return interface.arguments[argument.getArgNumber()].shape[dim];
  }

  /// Asks the op to say its shape in IR, reads that, and removes it again.
  std::optional<SizeExpr> ofReified(ReifyRankedShapedTypeOpInterface op, unsigned index, unsigned dim,
                                    const Frame *frame) {
    struct Listener : OpBuilder::Listener {
      void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { created.push_back(op); }
      SmallVector<Operation *> created;
    } listener;
    OpBuilder builder(op->getContext(), &listener);
    builder.setInsertionPoint(op);
    ReifiedRankedShapedTypeDims shapes;
    std::optional<SizeExpr> result;
    if (succeeded(op.reifyResultShapes(builder, shapes)) && index < shapes.size() &&
        dim < shapes[index].size())
      result = ofIndex(shapes[index][dim], frame);
    for (Operation *created : llvm::reverse(listener.created))
      created->erase();
    return result;
  }

  std::optional<SizeExpr> ofIndex(OpFoldResult index, const Frame *frame) {
    if (std::optional<int64_t> constant = getConstantIntValue(index))
      return SizeExpr::ofConstant(*constant);
    auto value = dyn_cast<Value>(index);
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (!op)
      return std::nullopt;
    auto operand = [&](unsigned i) { return ofIndex(op->getOperand(i), frame); };
    if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      std::optional<int64_t> number = dim.getConstantIndex();
      return number ? of(dim.getSource(), *number, frame) : std::nullopt;
    }
    if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
      std::optional<SizeExpr> a = operand(0), b = operand(1);
      if (!a || !b)
        return std::nullopt;
      if (isa<arith::AddIOp>(op))
        return *a + *b;
      if (isa<arith::SubIOp>(op))
        return *a - *b;
      if (a->isConstant() || b->isConstant())
        return a->isConstant() ? *b * a->constant : *a * b->constant;
    }
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
      return ofAffine(apply.getAffineMap().getResult(0), apply.getMapOperands(),
                      apply.getAffineMap().getNumDims(), frame);
    return std::nullopt;
  }

  std::optional<SizeExpr> ofAffine(AffineExpr expr, ValueRange operands, unsigned numDims,
                                   const Frame *frame) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return SizeExpr::ofConstant(constant.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return ofIndex(operands[dim.getPosition()], frame);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return ofIndex(operands[numDims + symbol.getPosition()], frame);
    auto binary = cast<AffineBinaryOpExpr>(expr);
    std::optional<SizeExpr> a = ofAffine(binary.getLHS(), operands, numDims, frame);
    std::optional<SizeExpr> b = ofAffine(binary.getRHS(), operands, numDims, frame);
    if (!a || !b)
      return std::nullopt;
    if (expr.getKind() == AffineExprKind::Add)
      return *a + *b;
    if (expr.getKind() == AffineExprKind::Mul && b->isConstant())
      return *a * b->constant;
    return std::nullopt;
  }

  func::FuncOp entry;
  const EntryInterface &interface;
};

/// Reads one entry's attributes.
class EntryReader {
public:
  EntryReader(func::FuncOp function, StringRef module) : function(function) {
    entry.name = function.getSymName();
    entry.symbol = entry.name == module ? entry.name : (module + "_" + entry.name).str();
  }

  FailureOr<EntryInterface> read() {
    if (!isCIdentifier(entry.name))
      return function.emitError("expected the name of an entry to be a C identifier, but got '")
             << entry.name << "'";
    if (!function.getBody().hasOneBlock())
      return function.emitError("expected an entry with one block");
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (failed(readInput(i)))
        return failure();
    sizesMayBeAdded = false; // bounds and relations speak of what the inputs name
    if (failed(readBounds()) || failed(readRelations()))
      return failure();
    sizesMayBeAdded = true; // by an output: a capacity that the caller chooses
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (!tied.contains(i) && failed(readOutput(i)))
        return failure();
    if (failed(checkArgumentNames()))
      return failure();
    return std::move(entry);
  }

private:
  /// The index of a size; a name that is not there yet is added where `sizesMayBeAdded`.
  std::optional<unsigned> sizeOf(StringRef name) {
    if (auto size = entry.findSize(name); size || !sizesMayBeAdded)
      return size;
    entry.sizes.push_back(name.str());
    return entry.sizes.size() - 1;
  }

  /// A name for a dimension that has none: "<argument>_dim<i>".
  SizeExpr addUnnamed(StringRef argument, unsigned dim) {
    std::string name = (argument + "_dim" + Twine(dim)).str();
    for (char &c : name)
      c = llvm::isAlnum(c) ? c : '_';
    while (!isCIdentifier(name) || entry.findSize(name))
      name.insert(0, "_");
    entry.sizes.push_back(name);
    return SizeExpr::ofSize(entry.sizes.size() - 1);
  }

  /// Type, name and shape, as inputs and outputs have them. `place` begins messages: "argument 2".
  LogicalResult readTensor(ArgumentInterface &argument, Type type, DictionaryAttr attributes,
                           StringRef place) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !isInterfaceType(tensor.getElementType()))
      return function.emitError(place)
             << ": expected a ranked tensor of f16, bf16, f32, f64, i1, i8, i16, i32 or i64, but got "
             << type;
    argument.elementType = tensor.getElementType();
    if (Attribute attribute = attributes.get(nameAttr)) {
      auto name = dyn_cast<StringAttr>(attribute);
      if (!name || name.getValue().empty())
        return function.emitError(place) << ": expected attn.name to be a string, but got " << attribute;
      argument.name = name.str();
    }
    return success();
  }

  LogicalResult readShape(ArgumentInterface &argument, RankedTensorType type, DictionaryAttr attributes,
                          StringRef place, function_ref<std::optional<SizeExpr>(unsigned)> derive) {
    ArrayAttr shape;
    if (Attribute attribute = attributes.get(shapeAttr)) {
      shape = dyn_cast<ArrayAttr>(attribute);
      if (!shape || int64_t(shape.size()) != type.getRank())
        return function.emitError(place)
               << ": expected attn.shape to have " << type.getRank() << " elements, but got " << attribute;
    }
    for (auto [i, extent] : llvm::enumerate(type.getShape())) {
      std::optional<SizeExpr> dim;
      if (!shape)
        dim = ShapedType::isDynamic(extent) ? std::nullopt : std::optional(SizeExpr::ofConstant(extent));
      else if (auto number = dyn_cast<IntegerAttr>(shape[i]))
        dim = SizeExpr::ofConstant(number.getInt());
      else if (auto text = dyn_cast<StringAttr>(shape[i]);
               !text || !(dim = SizeExpr::parse(text, [&](StringRef name) { return sizeOf(name); })))
        return function.emitError(place) << ": expected attn.shape[" << i
                                         << "] to be a size, a name or a sum of them, but got " << shape[i];
      if (dim && dim->isConstant() == ShapedType::isDynamic(extent))
        return function.emitError(place) << ": expected attn.shape[" << i << "] to "
                                         << (dim->isConstant() ? "name a dynamic dimension"
                                                               : "be the static dimension " + Twine(extent))
                                         << ", but got " << shape[i];
      if (dim && dim->isConstant() && dim->constant != extent)
        return function.emitError(place)
               << ": expected attn.shape[" << i << "] to be " << extent << ", but got " << dim->constant;
      std::optional<SizeExpr> derived = derive(i);
      if (dim && derived && !(*dim == *derived))
        return function.emitError(place)
               << ": expected dimension " << i << " to be '" << derived->str(entry.sizes)
               << "', as the inputs make it, but attn.shape says '" << dim->str(entry.sizes) << "'";
      if (!dim)
        dim = derived;
      if (!dim)
        return function.emitError(place) << ": expected attn.shape to name dimension " << i
                                         << ", which does not follow from the inputs";
      argument.shape.push_back(*dim);
    }
    return success();
  }

  LogicalResult readInput(unsigned i) {
    ArgumentInterface argument;
    argument.name = "arg" + std::to_string(i);
    DictionaryAttr attributes = function.getArgAttrDict(i);
    if (!attributes)
      attributes = DictionaryAttr::get(function.getContext());
    std::string place = "argument " + std::to_string(i);
    Type type = function.getArgumentTypes()[i];
    if (failed(readTensor(argument, type, attributes, place)))
      return failure();
    place = "argument '" + argument.name + "'";
    auto tensor = cast<RankedTensorType>(type);
    if (failed(readShape(argument, tensor, attributes, place, [&](unsigned dim) -> std::optional<SizeExpr> {
          if (!attributes.contains(shapeAttr) && tensor.isDynamicDim(dim))
            return addUnnamed(argument.name, dim);
          return std::nullopt;
        })))
      return failure();

    if (Attribute attribute = attributes.get(optionalAttr)) {
      auto value = dyn_cast<StringAttr>(attribute);
      if (!value || (value != "ones" && value != "zeros"))
        return function.emitError(place)
               << ": expected attn.optional to be \"ones\" or \"zeros\", but got " << attribute;
      argument.defaultValue = value.str();
    }
    argument.strided = attributes.contains(stridedAttr);
    if (argument.strided && argument.defaultValue)
      return function.emitError(place)
             << ": expected attn.optional on a dense argument, but it is attn.strided";
    if (Attribute attribute = attributes.get(stateAttr)) {
      auto result = dyn_cast<IntegerAttr>(attribute);
      if (!result || result.getInt() < 0 || result.getInt() >= function.getNumResults())
        return function.emitError(place) << ": expected attn.state to be the number of a result below "
                                         << function.getNumResults() << ", but got " << attribute;
      if (!tied.insert(result.getInt()).second)
        return function.emitError(place)
               << ": expected one state for result " << result.getInt() << ", but another argument has it";
      if (Type other = function.getResultTypes()[result.getInt()]; other != type)
        return function.emitError(place) << ": expected the type of result " << result.getInt() << ", "
                                         << other << ", but got " << type;
      if (argument.defaultValue)
        return function.emitError(place) << ": expected a state to be present, but it is attn.optional";
      argument.role = Role::State;
    } else if (!entry.arguments.empty() && entry.arguments.back().role == Role::State) {
      return function.emitError(place)
             << ": expected inputs before states, but '" << entry.arguments.back().name << "' is a state";
    }
    entry.arguments.push_back(std::move(argument));
    return success();
  }

  LogicalResult readOutput(unsigned i) {
    ArgumentInterface argument;
    argument.role = Role::Output;
    argument.name = "result" + std::to_string(i);
    DictionaryAttr attributes = function.getResultAttrDict(i);
    if (!attributes)
      attributes = DictionaryAttr::get(function.getContext());
    std::string place = "result " + std::to_string(i);
    Type type = function.getResultTypes()[i];
    if (failed(readTensor(argument, type, attributes, place)))
      return failure();
    place = "result '" + argument.name + "'";
    Value value = function.front().getTerminator()->getOperand(i);
    if (failed(readShape(argument, cast<RankedTensorType>(type), attributes, place,
                         [&](unsigned dim) { return Dimensions(function, entry).of(value, dim); })))
      return failure();
    argument.strided = attributes.contains(stridedAttr);
    entry.arguments.push_back(std::move(argument));
    return success();
  }

  /// Bounds of index data may name sizes of any input.
  LogicalResult readBounds() {
    for (auto [i, argument] : llvm::enumerate(entry.arguments)) {
      Attribute attribute = function.getArgAttr(i, rangeAttr);
      if (!attribute)
        continue;
      auto bound = [&](Attribute value) -> std::optional<SizeExpr> {
        if (auto number = dyn_cast<IntegerAttr>(value))
          return SizeExpr::ofConstant(number.getInt());
        auto text = dyn_cast<StringAttr>(value);
        return text ? SizeExpr::parse(text, [&](StringRef name) { return sizeOf(name); }) : std::nullopt;
      };
      auto range = dyn_cast<ArrayAttr>(attribute);
      std::optional<SizeExpr> lower, upper;
      if (!range || range.size() != 2 || !(lower = bound(range[0])) || !(upper = bound(range[1])))
        return function.emitError("argument '")
               << argument.name
               << "': expected attn.range to be [lower, upper], numbers or sums of sizes, but got "
               << attribute;
      if (!argument.elementType.isSignlessInteger() || argument.elementType.isInteger(1) ||
          argument.strided || argument.role != Role::Input)
        return function.emitError("argument '")
               << argument.name << "': expected attn.range on a dense input of integers";
      argument.range.emplace(*lower, *upper);
    }
    return success();
  }

  LogicalResult readRelations() {
    Attribute attribute = function->getAttr(requireAttr);
    if (!attribute)
      return success();
    auto relations = dyn_cast<ArrayAttr>(attribute);
    if (!relations)
      return function.emitError("expected attn.require to be a list of relations, but got ") << attribute;
    for (Attribute element : relations) {
      auto text = dyn_cast<StringAttr>(element);
      auto relation = text ? parseRelation(text, [&](StringRef name) { return sizeOf(name); }) : std::nullopt;
      if (!relation)
        return function.emitError("expected attn.require to hold relations between sizes such as "
                                  "\"seq <= 512\", but got ")
               << element;
      entry.relations.push_back(*relation);
    }
    return success();
  }

  LogicalResult checkArgumentNames() {
    llvm::StringSet<> names;
    for (const ArgumentInterface &argument : entry.arguments)
      if (!names.insert(argument.name).second)
        return function.emitError("expected arguments and results to have names of their own, but two are '")
               << argument.name << "'";
    return success();
  }

  func::FuncOp function;
  EntryInterface entry;
  bool sizesMayBeAdded = true;
  llvm::SmallDenseSet<int64_t> tied;
};

/// Whether `function` reads parameters, itself or through a call.
bool usesParams(func::FuncOp function, llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (!seen.insert(function).second)
    return false;
  return function
      .walk([&](Operation *op) {
        if (op->getName().getStringRef() == "attn.param")
          return WalkResult::interrupt();
        if (auto call = dyn_cast<func::CallOp>(op))
          if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr()))
            if (usesParams(callee, seen))
              return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

struct DescribeInterface : impl::DescribeInterfaceBase<DescribeInterface> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ModuleInterface interface;
    interface.name = moduleName(module);
    if (!isCIdentifier(interface.name) || interface.name == "heed") {
      module.emitError("expected the name of the module to be a C identifier other than 'heed', but got '")
          << interface.name << "'";
      return signalPassFailure();
    }
    module.setSymName(interface.name);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function.isPublic() || function.isExternal())
        continue;
      FailureOr<EntryInterface> entry = EntryReader(function, interface.name).read();
      if (failed(entry))
        return signalPassFailure();
      llvm::SmallPtrSet<Operation *, 8> seen;
      entry->hasParams = usesParams(function, seen);
      interface.entries.push_back(std::move(*entry));
    }
    if (interface.entries.empty()) {
      module.emitError("expected a public function with a body to be the entry, but found none");
      return signalPassFailure();
    }
    interface.attach(module);
  }

  /// A module without a name takes that of its file.
  static std::string moduleName(ModuleOp module) {
    if (std::optional<StringRef> name = module.getSymName())
      return name->str();
    auto loc = module->getLoc()->findInstanceOf<FileLineColLoc>();
    std::string name = loc ? llvm::sys::path::stem(loc.getFilename().getValue()).str() : "";
    for (char &c : name)
      c = llvm::isAlnum(c) ? c : '_';
    return isCIdentifier(name) ? name : "model";
  }
};

} // namespace
} // namespace heed
