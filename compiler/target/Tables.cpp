// The tables through which a module describes itself; see runtime/heed_kernel.h for the structs.
#include "compiler/target/Tables.h"
#include "compiler/target/CpuCheck.h"
#include "runtime/heed_kernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

#include <variant>

using namespace mlir;

namespace heed {
namespace {

/// The address of a global, or null where the name is empty.
struct Address {
  std::string symbol;
};
struct I32 {
  int64_t value;
};
struct I64 {
  int64_t value;
};
/// A heed_type.
struct DataType {
  Type type;
};
using Field = std::variant<I32, I64, DataType, Address>;

class TableEmitter {
public:
  TableEmitter(ModuleOp module, const ModuleInterface &interface)
      : interface(interface), b(module.getLoc(), OpBuilder::atBlockEnd(module.getBody())),
        embedsParams(module->hasAttr(embedParamsAttr)) {}

  Address emitModule(StringRef target) {
    std::vector<Address> entries;
    for (const EntryInterface &entry : interface.entries)
      entries.push_back(emit(entry));
    Address parameters = interface.parameters.empty() ? Address() : emitParameters();
    return structure({I32{HEED_ABI_VERSION}, text(interface.name), text(target), count(entries),
                      pointers(entries), parameters});
  }

private:
  template <typename T> static I32 count(const std::vector<T> &list) { return {int64_t(list.size())}; }

  Address emit(const EntryInterface &entry) {
    std::vector<Address> arguments, sizes, relations;
    for (const ArgumentInterface &argument : entry.arguments)
      arguments.push_back(emit(entry, argument));
    for (const std::string &size : entry.sizes)
      sizes.push_back(structure({text(size)}));
    for (const RelationInterface &relation : entry.relations)
      relations.push_back(structure({I32{relation.isEquality ? HEED_EQUAL_ZERO : HEED_AT_LEAST_ZERO},
                                     emit(entry, relation.expression), text(relation.text)}));
    return structure({count(arguments), count(sizes), I32{entry.numStrides()}, count(relations),
                      I32{entry.hasParams}, text(entry.name), text(entry.symbol), pointers(arguments),
                      pointers(sizes), pointers(relations), Address{entry.symbol + ".call"},
                      Address{entry.symbol + ".bytes"}});
  }

  Address emit(const EntryInterface &entry, const ArgumentInterface &argument) {
    std::vector<Address> shape;
    for (const SizeExpr &dim : argument.shape)
      shape.push_back(emit(entry, dim));
    int role = argument.role == Role::Input   ? HEED_INPUT
               : argument.role == Role::State ? HEED_STATE
                                              : HEED_OUTPUT;
    int flags = (argument.defaultValue ? HEED_ARGUMENT_OPTIONAL : 0) |
                (argument.strided ? HEED_ARGUMENT_STRIDED : 0) | (argument.packed ? HEED_ARGUMENT_PACKED : 0);
    Address lower, upper;
    if (argument.range) {
      lower = emit(entry, argument.range->first);
      upper = emit(entry, argument.range->second);
    }
    return structure({I32{role}, I32{HEED_HOST}, I32{flags}, text(argument.name),
                      DataType{argument.elementType}, count(shape), pointers(shape),
                      argument.defaultValue ? text(*argument.defaultValue) : Address(), lower, upper});
  }

  Address emit(const EntryInterface &entry, const SizeExpr &expr) {
    std::string text = expr.str(entry.sizes);
    auto [it, isNew] = expressions.try_emplace(entry.symbol + ": " + text);
    if (!isNew)
      return it->second;
    std::vector<int32_t> sizes;
    std::vector<int64_t> coefficients;
    for (auto [size, coefficient] : expr.terms) {
      sizes.push_back(size);
      coefficients.push_back(coefficient);
    }
    return it->second = structure({count(sizes), numbers<int32_t>(sizes), numbers<int64_t>(coefficients),
                                   I64{expr.constant}, this->text(text)});
  }

  Address emitParameters() {
    std::vector<Address> parameters;
    for (const ParameterInterface &parameter : interface.parameters)
      parameters.push_back(structure({I32{int64_t(parameter.shape.size())}, text(parameter.name),
                                      DataType{parameter.elementType}, numbers<int64_t>(parameter.shape),
                                      text(parameter.storage), I64{int64_t(parameter.offset)},
                                      I64{int64_t(parameter.bytes)}}));
    return structure({I32{HEED_PARAMS_FORMAT_VERSION}, text(interface.layoutId()),
                      I64{int64_t(interface.parameterBytes)}, emitEmbedded(), count(parameters),
                      pointers(parameters)});
  }

  /// The tensor data inside the object, which is added to it when it is written.
  Address emitEmbedded() {
    if (!embedsParams)
      return {};
    std::string name = embeddedParamsSymbol(interface);
    auto global = LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/true,
                                         LLVM::Linkage::External, name, Attribute());
    global.setVisibility_(LLVM::Visibility::Hidden);
    return {name};
  }

  /// A constant struct that begins with its size, as all do.
  Address structure(llvm::ArrayRef<Field> fields) {
    SmallVector<Type> types{b.getI32Type()};
    for (const Field &field : fields)
      types.push_back(typeOf(field));
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
    uint64_t bytes = 0, alignment = 4;
    for (Type type : types) { // as C lays it out on every 64-bit target
      uint64_t size = isa<LLVM::LLVMPointerType>(type) || type.isInteger(64) ? 8 : 4;
      uint64_t own = isa<LLVM::LLVMStructType>(type) ? 2 : size;
      bytes = llvm::alignTo(bytes, own) + size;
      alignment = std::max(alignment, own);
    }
    bytes = llvm::alignTo(bytes, alignment);
    return constant(type, [&] {
      Value value = LLVM::UndefOp::create(b, type);
      value = LLVM::InsertValueOp::create(b, value, build(I32{int64_t(bytes)}), int64_t(0));
      for (auto [i, field] : llvm::enumerate(fields))
        value = LLVM::InsertValueOp::create(b, value, build(field), i + 1);
      return value;
    });
  }

  Address pointers(const std::vector<Address> &list) {
    if (list.empty())
      return {};
    auto type = LLVM::LLVMArrayType::get(pointer(), list.size());
    return constant(type, [&] {
      Value value = LLVM::UndefOp::create(b, type);
      for (auto [i, address] : llvm::enumerate(list))
        value = LLVM::InsertValueOp::create(b, value, build(address), i);
      return value;
    });
  }

  template <typename T> Address numbers(llvm::ArrayRef<T> values) {
    if (values.empty())
      return {};
    Type element = b.getIntegerType(8 * sizeof(T));
    auto shaped = RankedTensorType::get(values.size(), element);
    return global(LLVM::LLVMArrayType::get(element, values.size()), DenseElementsAttr::get(shaped, values));
  }

  Address text(StringRef text) {
    auto [it, isNew] = texts.try_emplace(text);
    if (isNew) {
      std::string terminated = text.str() + '\0';
      it->second =
          global(LLVM::LLVMArrayType::get(b.getI8Type(), terminated.size()), b.getStringAttr(terminated));
    }
    return it->second;
  }

  Address global(Type type, Attribute value) {
    std::string name = interface.name + ".table." + std::to_string(numGlobals++);
    LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Private, name, value);
    return {name};
  }
  Address constant(Type type, llvm::function_ref<Value()> build) {
    Address address = global(type, {});
    OpBuilder::InsertionGuard guard(b);
    auto op = cast<LLVM::GlobalOp>(b.getInsertionBlock()->back());
    b.setInsertionPointToEnd(&op.getInitializerRegion().emplaceBlock());
    LLVM::ReturnOp::create(b, ValueRange(build()));
    return address;
  }

  Type pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }
  Type typeOf(const Field &field) {
    if (std::holds_alternative<I32>(field))
      return b.getI32Type();
    if (std::holds_alternative<I64>(field))
      return b.getI64Type();
    if (std::holds_alternative<Address>(field))
      return pointer();
    return LLVM::LLVMStructType::getLiteral(b.getContext(), {b.getI8Type(), b.getI8Type(), b.getI16Type()});
  }
  Value build(const Field &field) {
    if (auto *number = std::get_if<I32>(&field))
      return integer(32, number->value);
    if (auto *number = std::get_if<I64>(&field))
      return integer(64, number->value);
    if (auto *address = std::get_if<Address>(&field)) {
      if (address->symbol.empty())
        return LLVM::ZeroOp::create(b, pointer());
      return LLVM::AddressOfOp::create(b, pointer(), address->symbol);
    }
    auto [code, bits] = typeCode(std::get<DataType>(field).type);
    Value value = LLVM::UndefOp::create(b, typeOf(field));
    value = LLVM::InsertValueOp::create(b, value, integer(8, code), int64_t(0));
    value = LLVM::InsertValueOp::create(b, value, integer(8, bits), 1);
    return LLVM::InsertValueOp::create(b, value, integer(16, 1), 2);
  }
  Value integer(unsigned bits, int64_t value) {
    Type type = b.getIntegerType(bits);
    return LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, value));
  }

  const ModuleInterface &interface;
  ImplicitLocOpBuilder b;
  llvm::StringMap<Address> texts, expressions;
  unsigned numGlobals = 0;
  bool embedsParams;
};

} // namespace

std::string embeddedParamsSymbol(const ModuleInterface &interface) { return interface.name + ".params"; }

void emitTables(ModuleOp module, const ModuleInterface &interface, const Target &target) {
  auto versions = module->getAttrOfType<StringAttr>(Target::versionsName);
  Address table =
      TableEmitter(module, interface).emitModule(versions ? versions.getValue() : StringRef(target.name));
  MLIRContext *context = module.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), i32 = IntegerType::get(context, 32);
  auto query = createBaselineFunction(module, target, interface.name + "_module_query", pointer, {i32},
                                      /*exported=*/true);
  Block &body = query.getBody().front();
  ImplicitLocOpBuilder b(module.getLoc(), OpBuilder::atBlockBegin(&body));
  Value version = LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(HEED_ABI_VERSION));
  Value isKnown = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, body.getArgument(0), version);
  Value address = LLVM::AddressOfOp::create(b, pointer, table.symbol),
        null = LLVM::ZeroOp::create(b, pointer);
  LLVM::ReturnOp::create(b, ValueRange(LLVM::SelectOp::create(b, isKnown, address, null)));
}

} // namespace heed
