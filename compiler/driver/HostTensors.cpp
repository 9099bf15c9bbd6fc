// The interpreter's tensors in memory; see HostTensors.h.
#include "compiler/driver/HostTensors.h"

#include "compiler/target/Interface.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/APFloat.h"

using namespace llvm;

namespace heed::driver {

/// Calls `visit` with a null pointer to the type that holds an element in memory: float, double, uint16_t for
/// halves, or an integer.
template <typename Visit> static void dispatch(mlir::Type type, Visit visit) {
  unsigned bytes = elementBytes(type);
  if (type.isF32())
    visit(static_cast<float *>(nullptr));
  else if (type.isF64())
    visit(static_cast<double *>(nullptr));
  else if (isa<mlir::FloatType>(type))
    visit(static_cast<uint16_t *>(nullptr));
  else if (bytes == 1)
    visit(static_cast<int8_t *>(nullptr));
  else if (bytes == 2)
    visit(static_cast<int16_t *>(nullptr));
  else if (bytes == 4)
    visit(static_cast<int32_t *>(nullptr));
  else
    visit(static_cast<int64_t *>(nullptr));
}

static uint16_t toHalf(double value, const fltSemantics &semantics) {
  APFloat number(value);
  bool losesInfo;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

static double fromHalf(uint16_t bits, const fltSemantics &semantics) {
  APFloat number(semantics, APInt(16, bits));
  bool losesInfo;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

HostTensor toHost(const Tensor &tensor) {
  auto [code, bits] = typeCode(tensor.elementType);
  HostTensor host({code, bits, 1}, tensor.shape);
  dispatch(tensor.elementType, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    auto *data = static_cast<T *>((*host).data);
    if (auto half = dyn_cast<mlir::FloatType>(tensor.elementType); half && std::is_same_v<T, uint16_t>)
      llvm::transform(tensor.values, data, [&](double x) { return toHalf(x, half.getFloatSemantics()); });
    else if (tensor.isFloat())
      llvm::transform(tensor.values, data, [](double x) { return static_cast<T>(x); });
    else
      llvm::transform(tensor.integers, data, [](int64_t x) { return static_cast<T>(x); });
  });
  return host;
}

/// `count` elements at `data`.
static void readElements(Tensor &tensor, const void *data, int64_t count) {
  dispatch(tensor.elementType, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    ArrayRef<T> elements(static_cast<const T *>(data), count);
    if (auto half = dyn_cast<mlir::FloatType>(tensor.elementType); half && std::is_same_v<T, uint16_t>)
      llvm::transform(elements, tensor.values.begin(),
                      [&](T x) { return fromHalf(x, half.getFloatSemantics()); });
    else if (tensor.isFloat())
      llvm::copy(elements, tensor.values.begin());
    else
      llvm::copy(elements, tensor.integers.begin());
  });
}

Tensor fromHost(mlir::Type elementType, const heed_tensor &tensor) {
  Tensor result(elementType, {tensor.sizes, size_t(tensor.rank)});
  readElements(result, tensor.data, result.size());
  return result;
}

static mlir::Type elementType(mlir::MLIRContext *context, StorageType type) {
  switch (type) {
  case StorageType::F16:
    return mlir::Float16Type::get(context);
  case StorageType::BF16:
    return mlir::BFloat16Type::get(context);
  case StorageType::F32:
    return mlir::Float32Type::get(context);
  case StorageType::F64:
    return mlir::Float64Type::get(context);
  case StorageType::Bool:
    return mlir::IntegerType::get(context, 1);
  default:
    return mlir::IntegerType::get(context, 8 * storageTypeBytes(type));
  }
}

Tensor readTensor(mlir::MLIRContext *context, StorageType type, ArrayRef<int64_t> shape, const void *data) {
  Tensor result(elementType(context, type), shape);
  readElements(result, data, result.size());
  return result;
}

std::vector<std::pair<std::string, Tensor>> callCompiled(const LoadedModule &compiled,
                                                         const EntryInterface &entry,
                                                         mlir::func::FuncOp function, const InputCase &one) {
  // A state is both: it comes last among the inputs, and its new value is the result it is tied to.
  std::map<std::string, HostTensor> inputs;
  std::map<unsigned, std::string> stateOfResult;
  for (const auto &[number, tensor] : llvm::enumerate(one.inputs)) {
    const ArgumentInterface &argument = entry.arguments[number];
    if (!one.absent[number])
      inputs.emplace(argument.name, toHost(tensor));
    if (auto tied = function.getArgAttrOfType<mlir::IntegerAttr>(number, "attn.state"))
      stateOfResult[tied.getInt()] = argument.name;
  }
  const heed_entry &found = compiled.findEntry(entry.name);
  Call call(compiled, found, std::move(inputs), one.sizes);
  call.run(compiled.context());

  std::vector<std::pair<std::string, Tensor>> results;
  int32_t output = one.inputs.size();
  for (const auto &[number, type] : llvm::enumerate(function.getResultTypes())) {
    auto state = stateOfResult.find(number);
    int32_t argument =
        state == stateOfResult.end() ? output++ : heed_find_argument(&found, state->second.c_str());
    results.emplace_back(found.arguments[argument]->name,
                         fromHost(mlir::getElementTypeOrSelf(type), *call.argument(argument)));
  }
  return results;
}

} // namespace heed::driver
