// Maps parameter images.
#include "runtime/Error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct heed_params {
  void *mapping; ///< null: embedded in the module
  size_t bytes;
  const void *data;
};

/// A safetensors file begins with the length of its header, then the header.
static constexpr size_t prefixBytes = 8;

/// How the header of an image begins; see heed_kernel.h.
static constexpr char versionKey[] = "{\"__metadata__\":{\"heed.format_version\":\"";
static constexpr char layoutKey[] = "\",\"heed.layout_id\":\"";

/// If `text` continues with `word`, moves past it.
static bool consume(const char **text, const char *end, const char *word) {
  size_t length = strlen(word);
  if (size_t(end - *text) < length || memcmp(*text, word, length) != 0)
    return false;
  *text += length;
  return true;
}

/// The text up to the next quote, cut to `capacity`.
static void readString(const char **text, const char *end, char *out, size_t capacity) {
  size_t length = 0;
  for (; *text < end && **text != '"'; ++*text)
    if (length + 1 < capacity)
      out[length++] = **text;
  out[length] = 0;
}

/// Checks the header in the mapped file; `*data` becomes the offset of the tensor data.
static int checkImage(const heed_parameters *expected, const char *path, const char *file, uint64_t fileBytes,
                      uint64_t *data, heed_error *error) {
  uint64_t headerBytes = 0;
  if (fileBytes >= prefixBytes)
    for (size_t i = prefixBytes; i-- > 0;) // little-endian on every machine
      headerBytes = headerBytes << 8 | static_cast<unsigned char>(file[i]);
  if (fileBytes < prefixBytes || headerBytes > fileBytes - prefixBytes)
    return heed_fail(error, "%s: expected a parameter image, but its %llu bytes do not hold a header", path,
                     static_cast<unsigned long long>(fileBytes));
  const char *text = file + prefixBytes, *end = text + headerBytes;
  if (!consume(&text, end, versionKey))
    return heed_fail(error, "%s: expected a parameter image that heed wrote, but its header is another one",
                     path);
  char version[24], layout[80];
  readString(&text, end, version, sizeof version);
  char wanted[24];
  snprintf(wanted, sizeof wanted, "%u", expected->format_version);
  if (strcmp(version, wanted) != 0)
    return heed_fail(error, "%s: expected format version %s, but got %s", path, wanted, version);
  if (!consume(&text, end, layoutKey))
    return heed_fail(error, "%s: expected a layout id in the header, but there is none", path);
  readString(&text, end, layout, sizeof layout);
  if (strcmp(layout, expected->layout_id) != 0)
    return heed_fail(error, "%s: expected the parameters of this module, layout %s, but got layout %s", path,
                     expected->layout_id, layout);
  *data = prefixBytes + headerBytes;
  if (fileBytes - *data != expected->bytes)
    return heed_fail(error, "%s: expected %llu bytes, but got %llu", path,
                     static_cast<unsigned long long>(*data + expected->bytes),
                     static_cast<unsigned long long>(fileBytes));
  if (*data % HEED_PARAMS_PAGE != 0)
    return heed_fail(error, "%s: expected tensor data to start on a page, but it starts at byte %llu", path,
                     static_cast<unsigned long long>(*data));
  return 0;
}

static int mapImage(const heed_parameters *expected, const char *path, heed_params *params,
                    heed_error *error) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return heed_fail(error, "%s: expected a parameter image, but got: %s", path, strerror(errno));
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
    close(file);
    return heed_fail(error, "%s: expected a parameter image, but got %s", path,
                     S_ISREG(status.st_mode) ? "an empty file" : "something that is no file");
  }
  params->bytes = status.st_size;
  params->mapping = mmap(nullptr, params->bytes, PROT_READ, MAP_SHARED, file, 0);
  int failure = errno;
  close(file);
  if (params->mapping == MAP_FAILED)
    return heed_fail(error, "%s: expected to map %zu bytes, but got: %s", path, params->bytes,
                     strerror(failure));
  uint64_t data;
  if (checkImage(expected, path, static_cast<const char *>(params->mapping), params->bytes, &data, error)) {
    munmap(params->mapping, params->bytes);
    return -1;
  }
  params->data = static_cast<const char *>(params->mapping) + data;
  return 0;
}

int heed_params_map(const heed_module *module, const char *path, heed_params **params, heed_error *error) {
  *params = nullptr;
  heed_params result = {};
  if (!module->parameters && path)
    return heed_fail(error, "%s: expected no parameters, as %s has none", path, module->name);
  if (module->parameters && !path) {
    result.data = module->parameters->embedded;
    if (!result.data)
      return heed_fail(error, "%s: expected a parameter image, but got none", module->name);
  }
  if (path && mapImage(module->parameters, path, &result, error))
    return -1;
  *params = static_cast<heed_params *>(malloc(sizeof(heed_params)));
  if (!*params) {
    if (result.mapping)
      munmap(result.mapping, result.bytes);
    return heed_fail(error, "%s: out of memory", module->name);
  }
  **params = result;
  return 0;
}

int heed_params_beside(const char *module_path, char *path, size_t capacity, heed_error *error) {
  size_t length = strlen(module_path);
  if (length > 3 && strcmp(module_path + length - 3, ".so") == 0)
    length -= 3;
  if (length + sizeof ".heed" > capacity)
    return heed_fail(error, "%s: expected a path shorter than %zu bytes", module_path, capacity);
  snprintf(path, capacity, "%.*s.heed", static_cast<int>(length), module_path);
  return 0;
}

void heed_params_unmap(heed_params *params) {
  if (!params)
    return;
  if (params->mapping)
    munmap(params->mapping, params->bytes);
  free(params);
}

const void *heed_params_data(const heed_params *params) { return params ? params->data : nullptr; }
