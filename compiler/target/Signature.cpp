// Reads what the author of a graph says of an entry; see Signature.h.
#include "compiler/target/Signature.h"
#include "compiler/target/Dimensions.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace heed {

static constexpr StringLiteral nameAttr = "attn.name", shapeAttr = "attn.shape",
                               optionalAttr = "attn.optional", rangeAttr = "attn.range",
                               stridedAttr = "attn.strided", stateAttr = "attn.state",
                               requireAttr = "attn.require";

namespace {

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
    llvm::append_range(entry.relations, requiredRelations(function, entry));
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
      if (!name || name.getValue().empty() || name.getValue().contains('/'))
        return function.emitError(place)
               << ": expected attn.name to be a string without '/', but got " << attribute;
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
    argument.packed = attributes.contains(packedAttr);
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
                         [&](unsigned dim) { return dimensionOf(value, dim, entry); })))
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

} // namespace

std::string moduleName(ModuleOp module) {
  if (std::optional<StringRef> name = module.getSymName())
    return name->str();
  auto loc = module->getLoc()->findInstanceOf<FileLineColLoc>();
  std::string name = loc ? llvm::sys::path::stem(loc.getFilename().getValue()).str() : "";
  for (char &c : name)
    c = llvm::isAlnum(c) ? c : '_';
  return isCIdentifier(name) ? name : "model";
}

FailureOr<EntryInterface> readSignature(func::FuncOp function, StringRef module) {
  return EntryReader(function, module).read();
}

} // namespace heed
