// Reads and writes single tensors as safetensors files: an 8-byte little-endian length, a JSON header of that
// length, and the data. Parameter images are mapped by Params.cpp; this is for inputs and outputs.
#include "runtime/File.h"

#include <string.h>

static constexpr int32_t maxRank = 32;
static constexpr size_t maxNameBytes = 256, prefixBytes = 8;
/// The limit of the format's own library.
static constexpr uint64_t maxHeaderBytes = 100000000;

static const struct {
  const char *dtype;
  heed_type type;
} knownTypes[] = {
    {"F16", {HEED_TYPE_FLOAT, 16, 1}}, {"BF16", {HEED_TYPE_BFLOAT, 16, 1}}, {"F32", {HEED_TYPE_FLOAT, 32, 1}},
    {"F64", {HEED_TYPE_FLOAT, 64, 1}}, {"BOOL", {HEED_TYPE_BOOL, 8, 1}},    {"I8", {HEED_TYPE_INT, 8, 1}},
    {"I16", {HEED_TYPE_INT, 16, 1}},   {"I32", {HEED_TYPE_INT, 32, 1}},     {"I64", {HEED_TYPE_INT, 64, 1}},
    {"U8", {HEED_TYPE_UINT, 8, 1}},    {"U16", {HEED_TYPE_UINT, 16, 1}},    {"U32", {HEED_TYPE_UINT, 32, 1}},
    {"U64", {HEED_TYPE_UINT, 64, 1}},
};

namespace {

/// What the header says of one tensor.
struct Described {
  char name[maxNameBytes];
  heed_type type;
  int32_t rank;
  int64_t sizes[maxRank], begin, end;
};

/// Reads the JSON that the format allows: objects of tensors, and of texts in __metadata__.
class HeaderParser {
public:
  HeaderParser(const char *text, size_t length) : text(text), end(text + length) {}

  /// Null, or what was expected. The tensor called `name`, or the only one, is left in `found`.
  const char *parse(const char *name) {
    if (!consume('{'))
      return "an object";
    for (bool isFirst = true; !consume('}'); isFirst = false) {
      if (!isFirst && !consume(','))
        return "a comma or the end of the object";
      Described tensor = {};
      if (!string(tensor.name, maxNameBytes) || !consume(':'))
        return "names of less than 256 bytes, without \\u escapes, and their tensors";
      if (!strcmp(tensor.name, "__metadata__")) {
        if (!metadata())
          return "__metadata__ to hold texts";
        continue;
      }
      if (const char *expected = describe(&tensor))
        return expected;
      bool isWanted = !strcmp(tensor.name, name);
      if (isWanted && hasName)
        return "each name once";
      hasName |= isWanted;
      if (isWanted || (count == 0 && !hasName))
        found = tensor;
      ++count;
    }
    if (peek())
      return "nothing after the object";
    return nullptr;
  }

  Described found = {};
  bool hasName = false;
  int64_t count = 0;

private:
  char peek() {
    while (text < end && (*text == ' ' || *text == '\n' || *text == '\t' || *text == '\r'))
      ++text;
    return text < end ? *text : 0;
  }
  bool consume(char c) {
    if (peek() != c)
      return false;
    ++text;
    return true;
  }
  bool string(char *out, size_t capacity) {
    if (!consume('"'))
      return false;
    size_t length = 0;
    for (; text < end && *text != '"'; ++text) {
      char c = *text;
      if (c == '\\') {
        static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
        const char *escape = nullptr;
        if (++text < end)
          for (const char *known = escapes; *known; known += 2)
            if (*known == *text)
              escape = known + 1;
        if (!escape)
          return false;
        c = *escape;
      }
      if (c == 0 || length + 1 == capacity)
        return false;
      out[length++] = c;
    }
    out[length] = 0;
    return consume('"');
  }
  bool number(int64_t *out) {
    peek();
    const char *begin = text;
    for (*out = 0; text < end && *text >= '0' && *text <= '9'; ++text)
      if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *text - '0', out))
        return false;
    return text > begin;
  }
  /// At most `capacity` numbers.
  bool numbers(int64_t *out, int32_t capacity, int32_t *count) {
    if (!consume('['))
      return false;
    for (*count = 0; !consume(']'); ++*count)
      if (*count == capacity || (*count && !consume(',')) || !number(&out[*count]))
        return false;
    return true;
  }
  bool metadata() {
    if (!consume('{'))
      return false;
    for (bool isFirst = true; !consume('}'); isFirst = false)
      if ((!isFirst && !consume(',')) || !skipString() || !consume(':') || !skipString())
        return false;
    return true;
  }
  bool skipString() {
    if (!consume('"'))
      return false;
    for (; text < end && *text != '"'; ++text)
      text += *text == '\\' && text + 1 < end;
    return consume('"');
  }
  const char *describe(Described *tensor) {
    unsigned seen = 0;
    if (!consume('{'))
      return "a tensor to be an object";
    for (bool isFirst = true; !consume('}'); isFirst = false) {
      char key[16], dtype[8];
      if ((!isFirst && !consume(',')) || !string(key, sizeof key) || !consume(':'))
        return "a tensor to have 'dtype', 'shape' and 'data_offsets'";
      unsigned field = !strcmp(key, "dtype")          ? 1
                       : !strcmp(key, "shape")        ? 2
                       : !strcmp(key, "data_offsets") ? 4
                                                      : 0;
      if (!field || (seen & field))
        return "a tensor to have 'dtype', 'shape' and 'data_offsets'";
      seen |= field;
      if (field == 1) {
        if (!string(dtype, sizeof dtype))
          return "a known dtype";
        for (const auto &known : knownTypes)
          if (!strcmp(known.dtype, dtype))
            tensor->type = known.type;
        if (!tensor->type.bits)
          return "a known dtype";
      }
      if (field == 2 && !numbers(tensor->sizes, maxRank, &tensor->rank))
        return "a shape of at most 32 sizes";
      int64_t offsets[2];
      int32_t numOffsets;
      if (field == 4) {
        if (!numbers(offsets, 2, &numOffsets) || numOffsets != 2)
          return "two data_offsets";
        tensor->begin = offsets[0];
        tensor->end = offsets[1];
      }
    }
    return seen == 7 ? nullptr : "a tensor to have 'dtype', 'shape' and 'data_offsets'";
  }

  const char *text, *end;
};

} // namespace

int heed_safetensors_read(const char *path, const char *name, heed_tensor *tensor, heed_error *error) {
  *tensor = {};
  heed_input file;
  if (file.open(path, "safetensors", error))
    return -1;
  unsigned char prefix[prefixBytes];
  uint64_t headerBytes = 0;
  if (fread(prefix, 1, prefixBytes, file.stream) != prefixBytes)
    return heed_fail(error, "%s: expected a safetensors file, but it ends before its header", path);
  for (size_t i = prefixBytes; i-- > 0;)
    headerBytes = headerBytes << 8 | prefix[i];
  if (headerBytes > maxHeaderBytes || headerBytes > file.bytes - prefixBytes)
    return heed_fail(error, "%s: expected a header within %lld bytes, but got one of %llu", path, file.bytes,
                     static_cast<unsigned long long>(headerBytes));
  if (file.readHeader(path, headerBytes, error))
    return -1;

  HeaderParser header(file.buffer, headerBytes);
  if (const char *expected = header.parse(name))
    return heed_fail(error, "%s: expected %s in the header", path, expected);
  if (!header.hasName && header.count != 1)
    return heed_fail(error, "%s: expected a tensor '%s', or one alone, but got %lld others", path, name,
                     static_cast<long long>(header.count));
  const Described &found = header.found;
  heed_tensor described = {nullptr, found.type, found.rank, found.sizes, nullptr};
  int64_t count = heed_tensor_count(&described), bytes = count * (found.type.bits / 8);
  int64_t dataBytes = file.bytes - prefixBytes - headerBytes;
  if (count < 0)
    return heed_fail(error, "%s: expected a shape whose bytes fit in 63 bits, but they do not", path);
  if (found.begin > found.end || found.end > dataBytes)
    return heed_fail(error, "%s: expected data_offsets within %lld bytes, but got [%lld, %lld]", path,
                     static_cast<long long>(dataBytes), static_cast<long long>(found.begin),
                     static_cast<long long>(found.end));
  if (found.end - found.begin != bytes)
    return heed_fail(error, "%s: expected %lld bytes of data, but got %lld", path,
                     static_cast<long long>(bytes), static_cast<long long>(found.end - found.begin));
  if (fseeko(file.stream, found.begin, SEEK_CUR) != 0)
    return heed_fail(error, "%s: expected to read at byte %lld of the data", path,
                     static_cast<long long>(found.begin));
  return file.readData(path, &described, tensor, error);
}

int heed_safetensors_write(const char *path, const char *name, const heed_tensor *tensor, heed_error *error) {
  const char *dtype = nullptr;
  for (const auto &known : knownTypes)
    if (known.type.code == tensor->type.code && known.type.bits == tensor->type.bits)
      dtype = known.dtype;
  int64_t count = heed_tensor_count(tensor);
  if (!dtype || count < 0)
    return heed_fail(error, "%s: expected a type that safetensors has, but got %s", path,
                     heed_type_name(tensor->type));
  heed_line header = {};
  heed_append(&header, "{\"");
  for (const char *c = name; *c; ++c)
    heed_append(&header, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
  heed_append(&header, "\":{\"dtype\":\"%s\",\"shape\":[", dtype);
  for (int32_t i = 0; i < tensor->rank; ++i)
    heed_append(&header, i ? ",%lld" : "%lld", static_cast<long long>(tensor->sizes[i]));
  heed_append(&header, "],\"data_offsets\":[0,%lld]}}",
              static_cast<long long>(count * (tensor->type.bits / 8)));
  while ((prefixBytes + header.length) % HEED_ALIGNMENT != 0) // data starts aligned
    heed_append(&header, " ");
  unsigned char prefix[prefixBytes] = {};
  for (size_t i = 0; i < sizeof header.length; ++i)
    prefix[i] = static_cast<unsigned char>(header.length >> 8 * i);
  heed_output output;
  if (output.open(path, error))
    return -1;
  bool isWritten = fwrite(prefix, 1, prefixBytes, output.stream) == prefixBytes &&
                   fwrite(header.text, 1, header.length, output.stream) == header.length &&
                   heed_write_elements(output.stream, tensor);
  return output.close(path, isWritten, error);
}
