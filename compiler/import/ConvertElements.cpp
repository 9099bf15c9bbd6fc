// Elements of one type of storage as those of another; see ConvertElements.h.
#include "compiler/import/ConvertElements.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace heed {

/// f32 bits of f16 bits: exact.
static uint32_t widenF16(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  if (exponent == 0x1f)
    return sign | 0x7f800000 | fraction << 13;
  if (exponent)
    return sign | (exponent + 112) << 23 | fraction << 13;
  // Subnormal: fraction · 2^-24 is normal in f32.
  return sign | llvm::bit_cast<uint32_t>(float(fraction) * 0x1p-24f);
}

/// f16 bits of f32 bits, to nearest even; a NaN stays quiet.
static uint16_t narrowF16(uint32_t bits) {
  uint16_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
  if (magnitude >= 0x477ff000) // rounds to 2^16 or more
    return sign | 0x7c00;
  if (magnitude <
      0x38800000) { // below the least normal: adding 1/2 leaves the result in the low bits, rounded
    float shifted = llvm::bit_cast<float>(magnitude) + 0.5f;
    return sign | (llvm::bit_cast<uint32_t>(shifted) - 0x3f000000);
  }
  uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return sign | ((rounded - (112u << 23)) >> 13);
}

static uint16_t narrowBF16(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000)
    return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

template <typename From, typename To, To (*convert)(From)>
static void convertRun(const char *from, int64_t stride, int64_t count, char *to) {
  for (int64_t i = 0; i < count; ++i, from += stride, to += sizeof(To))
    llvm::support::endian::write<To, llvm::endianness::little>(
        to, convert(llvm::support::endian::read<From, llvm::endianness::little>(from)));
}

template <typename T> static T same(T bits) { return bits; }
static uint32_t widenBF16(uint16_t bits) { return uint32_t(bits) << 16; }
static uint16_t bf16OfF16(uint16_t bits) { return narrowBF16(widenF16(bits)); }
static uint16_t f16OfBF16(uint16_t bits) { return narrowF16(widenBF16(bits)); }

ConvertRun getConvertRun(StorageType from, StorageType to) {
  using S = StorageType;
  if (from == to)
    switch (storageTypeBytes(from)) {
    case 1:
      return convertRun<uint8_t, uint8_t, same<uint8_t>>;
    case 2:
      return convertRun<uint16_t, uint16_t, same<uint16_t>>;
    case 4:
      return convertRun<uint32_t, uint32_t, same<uint32_t>>;
    default:
      return convertRun<uint64_t, uint64_t, same<uint64_t>>;
    }
  if (from == S::F16 && to == S::F32)
    return convertRun<uint16_t, uint32_t, widenF16>;
  if (from == S::BF16 && to == S::F32)
    return convertRun<uint16_t, uint32_t, widenBF16>;
  if (from == S::F32 && to == S::F16)
    return convertRun<uint32_t, uint16_t, narrowF16>;
  if (from == S::F32 && to == S::BF16)
    return convertRun<uint32_t, uint16_t, narrowBF16>;
  if (from == S::F16 && to == S::BF16)
    return convertRun<uint16_t, uint16_t, bf16OfF16>;
  if (from == S::BF16 && to == S::F16)
    return convertRun<uint16_t, uint16_t, f16OfBF16>;
  return nullptr;
}

} // namespace heed
