// Reads and writes .npy files, as numpy.lib.format describes them.
#include "runtime/File.h"

#include <string.h>

static constexpr char magic[] = "\x93NUMPY";
static constexpr size_t magicBytes = 6;
static constexpr int32_t maxRank = 32;
/// numpy itself refuses longer headers; none of ours comes near.
static constexpr size_t maxHeaderBytes = 1 << 16;

static const struct {
  const char *descr;
  heed_type type;
} knownTypes[] = {
    {"<f2", {HEED_TYPE_FLOAT, 16, 1}}, {"<f4", {HEED_TYPE_FLOAT, 32, 1}}, {"<f8", {HEED_TYPE_FLOAT, 64, 1}},
    {"|b1", {HEED_TYPE_BOOL, 8, 1}},   {"|i1", {HEED_TYPE_INT, 8, 1}},    {"<i2", {HEED_TYPE_INT, 16, 1}},
    {"<i4", {HEED_TYPE_INT, 32, 1}},   {"<i8", {HEED_TYPE_INT, 64, 1}},   {"|u1", {HEED_TYPE_UINT, 8, 1}},
    {"<u2", {HEED_TYPE_UINT, 16, 1}},  {"<u4", {HEED_TYPE_UINT, 32, 1}},  {"<u8", {HEED_TYPE_UINT, 64, 1}},
};

namespace {

/// The header: a literal of a Python dictionary with the keys descr, fortran_order and shape.
class HeaderParser {
public:
  HeaderParser(const char *text, size_t length) : text(text), end(text + length) {}

  char descr[64] = {};
  bool fortranOrder = false;
  int32_t rank = 0;
  int64_t sizes[maxRank];

  /// Null, or what was expected.
  const char *parse() {
    unsigned seen = 0;
    if (!consume('{'))
      return "a dictionary";
    while (!consume('}')) {
      char key[32];
      if (!string(key, sizeof key) || !consume(':'))
        return "a key and a value";
      unsigned field = !strcmp(key, "descr")           ? 1
                       : !strcmp(key, "fortran_order") ? 2
                       : !strcmp(key, "shape")         ? 4
                                                       : 0;
      if (!field || (seen & field))
        return "the keys 'descr', 'fortran_order' and 'shape', once each";
      seen |= field;
      if (field == 1 && !string(descr, sizeof descr))
        return "'descr' to be a plain element type";
      if (field == 2 && !boolean(&fortranOrder))
        return "'fortran_order' to be True or False";
      if (field == 4 && !tuple())
        return "'shape' to be a tuple of at most 32 sizes";
      if (!consume(',') && peek() != '}')
        return "a comma or the end of the dictionary";
    }
    skipSpace();
    if (text != end)
      return "nothing after the dictionary";
    return seen == 7 ? nullptr : "the keys 'descr', 'fortran_order' and 'shape', once each";
  }

private:
  void skipSpace() {
    while (text < end && (*text == ' ' || *text == '\n' || *text == '\t'))
      ++text;
  }
  char peek() {
    skipSpace();
    return text < end ? *text : 0;
  }
  bool consume(char c) {
    if (peek() != c)
      return false;
    ++text;
    return true;
  }
  bool string(char *out, size_t capacity) {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return false;
    size_t length = 0;
    for (++text; text < end && *text != quote; ++text) {
      if (length + 1 == capacity)
        return false;
      out[length++] = *text;
    }
    out[length] = 0;
    return consume(quote);
  }
  bool word(const char *expected) {
    skipSpace();
    size_t length = strlen(expected);
    if (size_t(end - text) < length || memcmp(text, expected, length) != 0)
      return false;
    text += length;
    return true;
  }
  bool boolean(bool *out) {
    *out = word("True");
    return *out || word("False");
  }
  bool number(int64_t *out) {
    peek();
    const char *begin = text;
    for (*out = 0; text < end && *text >= '0' && *text <= '9'; ++text)
      if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *text - '0', out))
        return false;
    if (text < end && *text == 'L') // Python 2 wrote long integers so
      ++text;
    return text > begin;
  }
  bool tuple() {
    if (!consume('('))
      return false;
    for (rank = 0; !consume(')'); ++rank) {
      if (rank == maxRank || !number(&sizes[rank]))
        return false;
      bool hasComma = consume(',');
      if (!hasComma && (rank == 0 || peek() != ')')) // "(3)" is no tuple
        return false;
    }
    return true;
  }

  const char *text, *end;
};

} // namespace

/// Reads up to the data, and leaves what the header says in `rank`, `sizes` and `type`.
static int parseFile(const char *path, heed_input &file, heed_tensor *tensor, int64_t *sizes,
                     size_t *dataOffset, heed_error *error) {
  unsigned char prefix[12];
  size_t got = fread(prefix, 1, magicBytes + 2, file.stream);
  if (got < magicBytes || memcmp(prefix, magic, magicBytes) != 0)
    return heed_fail(error, "%s: expected a .npy file, but it does not begin like one", path);
  if (got < magicBytes + 2)
    return heed_fail(error, "%s: expected a header, but the file ends", path);
  unsigned major = prefix[6], minor = prefix[7];
  if (major < 1 || major > 3 || minor != 0)
    return heed_fail(error, "%s: expected format 1.0, 2.0 or 3.0, but got %u.%u", path, major, minor);
  size_t lengthBytes = major == 1 ? 2 : 4, headerBytes = 0;
  if (fread(prefix, 1, lengthBytes, file.stream) != lengthBytes)
    return heed_fail(error, "%s: expected a header, but the file ends", path);
  for (size_t i = lengthBytes; i-- > 0;)
    headerBytes = headerBytes << 8 | prefix[i];
  if (headerBytes > maxHeaderBytes)
    return heed_fail(error, "%s: expected a header of at most %zu bytes, but got %zu", path, maxHeaderBytes,
                     headerBytes);
  if (file.readHeader(path, headerBytes, error))
    return -1;

  HeaderParser header(file.buffer, headerBytes);
  if (const char *expected = header.parse())
    return heed_fail(error, "%s: expected %s in the header", path, expected);
  const heed_type *type = nullptr;
  for (const auto &known : knownTypes)
    if (!strcmp(known.descr, header.descr))
      type = &known.type;
  if (!type && header.descr[0] == '>')
    return heed_fail(error, "%s: expected little-endian data, but got '%s'", path, header.descr);
  if (!type)
    return heed_fail(error, "%s: expected floats of 16 to 64 bits, integers or bools, but got '%s'", path,
                     header.descr);
  if (header.fortranOrder && header.rank > 1)
    return heed_fail(error, "%s: expected data in C order, but it is in Fortran order", path);
  memcpy(sizes, header.sizes, sizeof header.sizes);
  *tensor = {nullptr, *type, header.rank, sizes, nullptr};
  *dataOffset = magicBytes + 2 + lengthBytes + headerBytes;
  return 0;
}

int heed_npy_read(const char *path, heed_tensor *tensor, heed_error *error) {
  *tensor = {};
  heed_input file;
  heed_tensor described;
  int64_t sizes[maxRank];
  size_t dataOffset;
  if (file.open(path, ".npy", error) || parseFile(path, file, &described, sizes, &dataOffset, error))
    return -1;
  // The file's size is compared before memory is asked for: a header may claim anything.
  int64_t count = heed_tensor_count(&described);
  if (count < 0)
    return heed_fail(error, "%s: expected a shape whose bytes fit in 63 bits, but they do not", path);
  long long expected = count * (described.type.bits / 8), found = file.bytes - dataOffset;
  if (found != expected)
    return heed_fail(error, "%s: expected %lld bytes of data, but got %lld", path, expected, found);
  return file.readData(path, &described, tensor, error);
}

int heed_npy_write(const char *path, const heed_tensor *tensor, heed_error *error) {
  const char *descr = nullptr;
  for (const auto &known : knownTypes)
    if (known.type.code == tensor->type.code && known.type.bits == tensor->type.bits)
      descr = known.descr;
  if (!descr)
    return heed_fail(error, "%s: expected a type that .npy has, but got %s", path,
                     heed_type_name(tensor->type));
  heed_line header = {};
  heed_append(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (int32_t i = 0; i < tensor->rank; ++i)
    heed_append(&header, i ? ", %lld" : "%lld", static_cast<long long>(tensor->sizes[i]));
  heed_append(&header, tensor->rank == 1 ? ",), }" : "), }");
  // Data starts on 64 bytes; the header ends with a line feed.
  size_t prefix = magicBytes + 4, padded = (prefix + header.length + 1 + 63) / 64 * 64 - prefix;
  while (header.length + 1 < padded)
    heed_append(&header, " ");
  heed_append(&header, "\n");

  unsigned char version[] = {1, 0, static_cast<unsigned char>(header.length),
                             static_cast<unsigned char>(header.length >> 8)};
  heed_output output;
  if (output.open(path, error))
    return -1;
  bool isWritten = fwrite(magic, 1, magicBytes, output.stream) == magicBytes &&
                   fwrite(version, 1, sizeof version, output.stream) == sizeof version &&
                   fwrite(header.text, 1, header.length, output.stream) == header.length &&
                   heed_write_elements(output.stream, tensor);
  return output.close(path, isWritten, error);
}
