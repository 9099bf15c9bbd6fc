// Tensors as the oracle keeps them; see Tensor.h.
#include "compiler/interpreter/Tensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

#include <cassert>

using namespace mlir;

namespace heed {

Tensor::Tensor(Type elementType, ArrayRef<int64_t> shape) : elementType(elementType), shape(shape) {
  int64_t count = countElements(shape, INT64_MAX);
  assert(count >= 0 && "sizes are checked by the caller");
  if (isFloat())
    values.resize(count);
  else
    integers.resize(count);
}

Tensor Tensor::ofFloats(FloatType elementType, ArrayRef<int64_t> shape, std::vector<double> values) {
  Tensor tensor;
  tensor.elementType = elementType;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.values = std::move(values);
  tensor.round();
  return tensor;
}

Tensor Tensor::ofIntegers(Type elementType, ArrayRef<int64_t> shape, std::vector<int64_t> values) {
  Tensor tensor;
  tensor.elementType = elementType;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.integers = std::move(values);
  return tensor;
}

void Tensor::setReal(int64_t at, Real x) {
  values[at] = x.value;
  if (x.variance != 0 && variance.empty())
    trackVariance();
  if (!variance.empty())
    variance[at] = x.variance;
}

void Tensor::copyElement(int64_t at, const Tensor &source, int64_t from) {
  if (isFloat())
    setReal(at, source.real(from));
  else
    integers[at] = source.integers[from];
}

int64_t Tensor::offset(ArrayRef<int64_t> coordinate) const {
  if (coordinate.size() != shape.size())
    return -1;
  int64_t offset = 0;
  for (auto [position, size] : llvm::zip_equal(coordinate, shape)) {
    if (position < 0 || position >= size)
      return -1;
    offset = offset * size + position;
  }
  return offset;
}

void Tensor::round() {
  auto type = dyn_cast<FloatType>(elementType);
  if (!type)
    return;
  for (double &value : values)
    value = roundTo(type, value);
}

double roundTo(FloatType type, double value) {
  if (type.isF64() || std::isnan(value))
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  llvm::APFloat rounded(value);
  bool losesInfo;
  rounded.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  rounded.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.convertToDouble();
}

double rounding(FloatType type, double value) {
  if (!std::isfinite(value))
    return 0;
  double size = std::fabs(value);
  // Conversions to f16 keep subnormals in every mode; f32 arithmetic, on which bf16 rests, may flush them.
  if (type.isF16())
    return std::fmax(size * 0x1p-11, 0x1p-25);
  if (size < FLT_MIN)
    return size;
  return size * std::ldexp(1.0, -static_cast<int>(type.getFPMantissaWidth()));
}

double overflowOf(FloatType type) {
  if (type.isF16())
    return 0x1.ffep15;
  if (type.isBF16())
    return 0x1.ffp127;
  return type.isF32() ? kOverflowF32 : std::numeric_limits<double>::infinity();
}

Real roundedLike(Type type, Real x) {
  auto floatType = dyn_cast<FloatType>(type);
  if (floatType && floatType.getWidth() < 32 && std::isfinite(x.value)) {
    x.variance += square(rounding(floatType, x.value)) / 3; // anywhere within the half step
    if (std::fabs(x.value) + kConfidence * x.deviation() >= overflowOf(floatType) && Overflow::note())
      return {std::copysign(std::numeric_limits<double>::infinity(), x.value)};
  }
  return Perturbation::settle(x);
}

int64_t countElements(ArrayRef<int64_t> shape, int64_t limit) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return -1;
  return count > limit ? -1 : count;
}

SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  return strides;
}

bool advance(MutableArrayRef<int64_t> coordinate, ArrayRef<int64_t> shape) {
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
    if (++coordinate[dim] < shape[dim])
      return true;
    coordinate[dim] = 0;
  }
  return false;
}

std::string showShape(ArrayRef<int64_t> shape) {
  auto show = [](int64_t size) {
    return ShapedType::isDynamic(size) ? std::string("?") : std::to_string(size);
  };
  return "[" + llvm::join(llvm::map_range(shape, show), ", ") + "]";
}

} // namespace heed
