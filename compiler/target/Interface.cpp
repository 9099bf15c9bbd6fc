// What a module offers to its callers; see Interface.h.
#include "compiler/target/Interface.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::StringRef;

namespace heed {

//===--- Size expressions
//---------------------------------------------------------------------------------===//

SizeExpr SizeExpr::ofSize(unsigned size) { return {0, {{size, 1}}}; }
SizeExpr SizeExpr::ofConstant(int64_t constant) { return {constant, {}}; }

SizeExpr SizeExpr::operator*(int64_t factor) const {
  SizeExpr product = ofConstant(constant * factor);
  for (auto [size, coefficient] : terms)
    if (factor)
      product.terms.emplace_back(size, coefficient * factor);
  return product;
}

SizeExpr SizeExpr::operator+(const SizeExpr &other) const {
  SizeExpr sum = *this;
  sum.constant += other.constant;
  for (auto [size, coefficient] : other.terms) {
    auto it = llvm::lower_bound(sum.terms, std::make_pair(size, INT64_MIN));
    if (it == sum.terms.end() || it->first != size)
      sum.terms.insert(it, {size, coefficient});
    else if ((it->second += coefficient) == 0)
      sum.terms.erase(it);
  }
  return sum;
}

std::optional<SizeExpr> SizeExpr::parse(StringRef text,
                                        llvm::function_ref<std::optional<unsigned>(StringRef)> sizeOf) {
  // Coefficients this small keep every sum of products of them in 64 bits.
  constexpr int64_t limit = int64_t(1) << 31;
  SizeExpr sum;
  StringRef rest = text.trim();
  for (bool first = true; !rest.empty() || first; first = false) {
    int64_t sign = 1;
    if (rest.consume_front("-"))
      sign = -1;
    else if (!rest.consume_front("+") && !first)
      return std::nullopt;
    // A product of numbers and at most one name.
    SizeExpr term = ofConstant(sign);
    do {
      rest = rest.ltrim();
      StringRef word = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      rest = rest.drop_front(word.size()).ltrim();
      int64_t number;
      if (llvm::to_integer(word, number, 10)) {
        if (number >= limit || llvm::MulOverflow(term.constant, number, term.constant))
          return std::nullopt;
        for (auto &[size, coefficient] : term.terms)
          coefficient *= number;
      } else {
        std::optional<unsigned> size = isCIdentifier(word) && term.isConstant() ? sizeOf(word) : std::nullopt;
        if (!size)
          return std::nullopt;
        term.terms = {{*size, term.constant}};
        term.constant = 0;
      }
    } while (rest.consume_front("*"));
    sum = sum + (term.terms.empty() || term.terms[0].second ? term : SizeExpr());
  }
  return sum;
}

std::string SizeExpr::str(llvm::ArrayRef<std::string> sizes) const {
  std::string text;
  auto add = [&](int64_t coefficient, StringRef size) {
    bool negative = coefficient < 0;
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    uint64_t magnitude = negative ? -uint64_t(coefficient) : coefficient;
    if (size.empty() || magnitude != 1)
      text += std::to_string(magnitude) + (size.empty() ? "" : " * ");
    text += size;
  };
  // A positive term first reads best: "seq - 1", "512 - seq".
  bool constantFirst = constant > 0 && !terms.empty() && terms.front().second < 0;
  if (constantFirst)
    add(constant, "");
  for (auto [size, coefficient] : terms)
    add(coefficient, sizes[size]);
  if (!constantFirst && (constant || terms.empty()))
    add(constant, "");
  return text;
}

std::optional<RelationInterface>
parseRelation(StringRef text, llvm::function_ref<std::optional<unsigned>(StringRef)> sizeOf) {
  for (StringRef sign : {"==", "<=", ">=", "<", ">"}) {
    auto [left, right] = text.split(sign);
    if (left.size() == text.size())
      continue;
    std::optional<SizeExpr> a = SizeExpr::parse(left, sizeOf), b = SizeExpr::parse(right, sizeOf);
    if (!a || !b)
      return std::nullopt;
    SizeExpr difference = sign[0] == '<' ? *b - *a : *a - *b;
    difference.constant -= sign.size() == 1; // strictly: at least one more
    return RelationInterface{sign == "==", difference, text.trim().str()};
  }
  return std::nullopt;
}

//===--- Types and names
//----------------------------------------------------------------------------------===//

bool isInterfaceType(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type) || type.isSignlessInteger(1) ||
         type.isSignlessInteger(8) || type.isSignlessInteger(16) || type.isSignlessInteger(32) ||
         type.isSignlessInteger(64);
}

unsigned elementBytes(Type type) { return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8); }

std::pair<uint8_t, uint8_t> typeCode(Type type) {
  enum { Int = 0, Float = 2, BFloat = 4, Bool = 6 }; // DLPack
  uint8_t bits = 8 * elementBytes(type);
  if (type.isBF16())
    return {BFloat, bits};
  return {isa<FloatType>(type) ? Float : type.isInteger(1) ? Bool : Int, bits};
}

StringRef cTypeName(Type type) {
  if (isa<FloatType>(type))
    return type.isF64() ? "double" : type.isF32() ? "float" : "uint16_t";
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "uint8_t";
  case 8:
    return "int8_t";
  case 16:
    return "int16_t";
  case 32:
    return "int32_t";
  default:
    return "int64_t";
  }
}

bool isCIdentifier(StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

//===--- The attribute
//------------------------------------------------------------------------------------===//

std::optional<unsigned> EntryInterface::findSize(StringRef size) const {
  auto it = llvm::find(sizes, size);
  return it == sizes.end() ? std::nullopt : std::optional<unsigned>(it - sizes.begin());
}

bool EntryInterface::areEqual(const SizeExpr &a, const SizeExpr &b) const {
  SizeExpr difference = a - b;
  return difference == SizeExpr() || llvm::any_of(relations, [&](const RelationInterface &relation) {
           return relation.isEquality &&
                  (relation.expression == difference || relation.expression == difference * -1);
         });
}

unsigned EntryInterface::numStrides() const {
  unsigned count = 0;
  for (const ArgumentInterface &argument : arguments)
    count += argument.numStrides();
  return count;
}

static constexpr StringRef roleNames[] = {"input", "state", "output"};

namespace {

/// Writes dictionaries with the entries that there are.
class Writer {
public:
  explicit Writer(MLIRContext *context) : builder(context) {}

  Attribute write(const ModuleInterface &module) {
    return dictionary({{"name", string(module.name)},
                       {"entries", list(module.entries, [&](const EntryInterface &e) { return write(e); })},
                       {"parameters", module.parameters.empty() ? Attribute() : writeParameters(module)}});
  }

private:
  DictionaryAttr dictionary(std::initializer_list<std::pair<StringRef, Attribute>> entries) {
    NamedAttrList attributes;
    for (auto [name, value] : entries)
      if (value)
        attributes.append(name, value);
    return attributes.getDictionary(builder.getContext());
  }
  template <typename Range, typename Fn> ArrayAttr list(const Range &range, Fn &&write) {
    SmallVector<Attribute> attributes;
    for (const auto &element : range)
      attributes.push_back(write(element));
    return builder.getArrayAttr(attributes);
  }
  Attribute string(StringRef text) { return builder.getStringAttr(text); }
  Attribute flag(bool set) { return set ? builder.getUnitAttr() : Attribute(); }

  Attribute write(const EntryInterface &entry) {
    return dictionary(
        {{"name", string(entry.name)},
         {"symbol", string(entry.symbol)},
         {"arguments", list(entry.arguments, [&](const ArgumentInterface &a) { return write(entry, a); })},
         {"sizes", list(entry.sizes, [&](const std::string &name) { return string(name); })},
         {"relations", entry.relations.empty()
                           ? Attribute()
                           : list(entry.relations, [&](const auto &r) { return string(r.text); })},
         {"params", flag(entry.hasParams)}});
  }

  Attribute write(const EntryInterface &entry, const ArgumentInterface &argument) {
    auto expression = [&](const SizeExpr &expr) -> Attribute {
      if (expr.isConstant())
        return builder.getI64IntegerAttr(expr.constant);
      return string(expr.str(entry.sizes));
    };
    return dictionary({{"name", string(argument.name)},
                       {"role", string(roleNames[int(argument.role)])},
                       {"type", TypeAttr::get(argument.elementType)},
                       {"shape", list(argument.shape, expression)},
                       {"optional", argument.defaultValue ? string(*argument.defaultValue) : Attribute()},
                       {"range", argument.range ? builder.getArrayAttr({expression(argument.range->first),
                                                                        expression(argument.range->second)})
                                                : Attribute()},
                       {"strided", flag(argument.strided)},
                       {"packed", flag(argument.packed)}});
  }

  Attribute writeParameters(const ModuleInterface &module) {
    auto write = [&](const ParameterInterface &parameter) {
      return dictionary({{"name", string(parameter.name)},
                         {"type", TypeAttr::get(parameter.elementType)},
                         {"shape", builder.getDenseI64ArrayAttr(parameter.shape)},
                         {"storage", string(parameter.storage)},
                         {"offset", builder.getI64IntegerAttr(parameter.offset)},
                         {"bytes", builder.getI64IntegerAttr(parameter.bytes)}});
    };
    return dictionary({{"bytes", builder.getI64IntegerAttr(module.parameterBytes)},
                       {"list", list(module.parameters, write)}});
  }

  Builder builder;
};

/// Reads what Writer wrote. What is missing or of the wrong kind is remembered as the first fault.
class Reader {
public:
  std::string fault;

  ModuleInterface read(DictionaryAttr attribute) {
    ModuleInterface module;
    module.name = string(attribute, "name");
    for (DictionaryAttr entry : dictionaries(attribute, "entries"))
      module.entries.push_back(readEntry(entry));
    if (auto parameters = attribute.getAs<DictionaryAttr>("parameters")) {
      module.parameterBytes = integer(parameters, "bytes");
      for (DictionaryAttr parameter : dictionaries(parameters, "list"))
        module.parameters.push_back({string(parameter, "name"), type(parameter),
                                     get<DenseI64ArrayAttr>(parameter, "shape").asArrayRef().vec(),
                                     string(parameter, "storage"), uint64_t(integer(parameter, "offset")),
                                     uint64_t(integer(parameter, "bytes"))});
    }
    return module;
  }

private:
  template <typename T> T get(DictionaryAttr dictionary, StringRef key) {
    if (auto value = dictionary.getAs<T>(key))
      return value;
    if (fault.empty())
      fault = ("expected '" + key + "' in " + llvm::StringRef(ModuleInterface::attributeName)).str();
    if constexpr (std::is_same_v<T, ArrayAttr>)
      return ArrayAttr::get(dictionary.getContext(), {});
    else if constexpr (std::is_same_v<T, DenseI64ArrayAttr>)
      return DenseI64ArrayAttr::get(dictionary.getContext(), {});
    else
      return T();
  }
  std::string string(DictionaryAttr dictionary, StringRef key) {
    auto value = get<StringAttr>(dictionary, key);
    return value ? value.str() : "";
  }
  int64_t integer(DictionaryAttr dictionary, StringRef key) {
    auto value = get<IntegerAttr>(dictionary, key);
    return value ? value.getInt() : 0;
  }
  Type type(DictionaryAttr dictionary) {
    auto value = get<TypeAttr>(dictionary, "type");
    if (value && isInterfaceType(value.getValue()))
      return value.getValue();
    if (fault.empty())
      fault = "expected 'type' to be a type that can cross the interface";
    return IntegerType::get(dictionary.getContext(), 8);
  }
  SmallVector<DictionaryAttr> dictionaries(DictionaryAttr dictionary, StringRef key) {
    return llvm::to_vector(get<ArrayAttr>(dictionary, key).getAsRange<DictionaryAttr>());
  }

  EntryInterface readEntry(DictionaryAttr attribute) {
    EntryInterface entry;
    entry.name = string(attribute, "name");
    entry.symbol = string(attribute, "symbol");
    entry.hasParams = attribute.contains("params");
    for (auto name : get<ArrayAttr>(attribute, "sizes").getAsRange<StringAttr>())
      entry.sizes.push_back(name.str());
    for (DictionaryAttr argument : dictionaries(attribute, "arguments"))
      entry.arguments.push_back(readArgument(entry, argument));
    if (auto relations = attribute.getAs<ArrayAttr>("relations"))
      for (auto text : relations.getAsRange<StringAttr>()) {
        auto relation = parseRelation(text, [&](StringRef name) { return entry.findSize(name); });
        if (relation)
          entry.relations.push_back(*relation);
        else if (fault.empty())
          fault = ("expected a relation between sizes, but got '" + text.getValue() + "'").str();
      }
    return entry;
  }

  ArgumentInterface readArgument(const EntryInterface &entry, DictionaryAttr attribute) {
    auto expression = [&](Attribute value) {
      if (auto integer = dyn_cast<IntegerAttr>(value))
        return SizeExpr::ofConstant(integer.getInt());
      auto text = dyn_cast<StringAttr>(value);
      auto expr =
          SizeExpr::parse(text ? text.getValue() : "", [&](StringRef name) { return entry.findSize(name); });
      if (!expr && fault.empty())
        fault = "expected an expression of sizes in " + ModuleInterface::attributeName.str();
      return expr.value_or(SizeExpr());
    };
    ArgumentInterface argument;
    argument.name = string(attribute, "name");
    argument.elementType = type(attribute);
    std::string role = string(attribute, "role");
    auto it = llvm::find(roleNames, role);
    if (it == std::end(roleNames) && fault.empty())
      fault = "expected role input, state or output, but got '" + role + "'";
    else
      argument.role = Role(it - std::begin(roleNames));
    for (Attribute dim : get<ArrayAttr>(attribute, "shape"))
      argument.shape.push_back(expression(dim));
    if (auto value = attribute.getAs<StringAttr>("optional"))
      argument.defaultValue = value.str();
    if (auto range = attribute.getAs<ArrayAttr>("range"); range && range.size() == 2)
      argument.range.emplace(expression(range[0]), expression(range[1]));
    argument.strided = attribute.contains("strided");
    argument.packed = attribute.contains("packed");
    return argument;
  }
};

} // namespace

FailureOr<ModuleInterface> ModuleInterface::get(ModuleOp module) {
  auto attribute = module->getAttrOfType<DictionaryAttr>(attributeName);
  if (!attribute)
    return module.emitError("expected a module with ") << attributeName << ", which describe-interface adds";
  Reader reader;
  ModuleInterface interface = reader.read(attribute);
  if (!reader.fault.empty())
    return module.emitError(reader.fault);
  return interface;
}

void ModuleInterface::attach(ModuleOp module) const {
  module->setAttr(attributeName, Writer(module.getContext()).write(*this));
}

std::string ModuleInterface::layoutId() const {
  if (parameters.empty())
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << parameterBytes << '\n';
  for (const ParameterInterface &parameter : parameters) {
    os << parameter.name << '\0' << parameter.elementType << '\0' << parameter.storage << '\0'
       << parameter.offset << ' ' << parameter.bytes;
    for (int64_t dim : parameter.shape)
      os << ' ' << dim;
    os << '\n';
  }
  llvm::BLAKE3 hasher;
  hasher.update(text);
  return llvm::toHex(llvm::ArrayRef<uint8_t>(hasher.final<16>()), /*LowerCase=*/true);
}

} // namespace heed
