// Tensors of the host.
#include "runtime/Error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *heed_type_name(heed_type type) {
  if (type.lanes != 1)
    return "?";
  if (type.code == HEED_TYPE_BOOL && type.bits == 8)
    return "i1";
  if (type.code == HEED_TYPE_BFLOAT && type.bits == 16)
    return "bf16";
  static const struct {
    uint8_t code, bits;
    const char *name;
  } names[] = {{HEED_TYPE_FLOAT, 16, "f16"}, {HEED_TYPE_FLOAT, 32, "f32"}, {HEED_TYPE_FLOAT, 64, "f64"},
               {HEED_TYPE_INT, 8, "i8"},     {HEED_TYPE_INT, 16, "i16"},   {HEED_TYPE_INT, 32, "i32"},
               {HEED_TYPE_INT, 64, "i64"},   {HEED_TYPE_UINT, 8, "u8"},    {HEED_TYPE_UINT, 16, "u16"},
               {HEED_TYPE_UINT, 32, "u32"},  {HEED_TYPE_UINT, 64, "u64"}};
  for (const auto &known : names)
    if (known.code == type.code && known.bits == type.bits)
      return known.name;
  return "?";
}

int64_t heed_tensor_count(const heed_tensor *tensor) {
  int64_t bytes = tensor->type.bits / 8, count = 1;
  for (int32_t i = 0; i < tensor->rank; ++i) {
    int64_t size = tensor->sizes[i];
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return -1;
  }
  return __builtin_mul_overflow(count, bytes, &bytes) ? -1 : count;
}

int heed_tensor_allocate(heed_type type, int32_t rank, const int64_t *sizes, heed_tensor *tensor,
                         heed_error *error) {
  heed_tensor result = {nullptr, type, rank, sizes, nullptr};
  int64_t count = heed_tensor_count(&result);
  // The sizes lie behind the elements, so that one pointer releases all.
  size_t elementBytes = count < 0 ? 0 : count * (type.bits / 8), sizesBytes = rank * sizeof(int64_t), total;
  size_t padding = -elementBytes % HEED_ALIGNMENT, tail = -sizesBytes % HEED_ALIGNMENT;
  bool overflows = __builtin_add_overflow(elementBytes, padding + sizesBytes + tail + HEED_ALIGNMENT, &total);
  void *memory =
      count < 0 || overflows || total > PTRDIFF_MAX ? nullptr : aligned_alloc(HEED_ALIGNMENT, total);
  if (!memory) {
    *tensor = {};
    return heed_fail(error, "out of memory for a tensor of rank %d", rank);
  }
  memset(memory, 0, total);
  auto *ownSizes = reinterpret_cast<int64_t *>(static_cast<char *>(memory) + elementBytes + padding);
  if (rank)
    memcpy(ownSizes, sizes, sizesBytes);
  result.data = memory;
  result.sizes = ownSizes;
  *tensor = result;
  return 0;
}

void heed_tensor_free(heed_tensor *tensor) {
  free(tensor->data);
  *tensor = {};
}
