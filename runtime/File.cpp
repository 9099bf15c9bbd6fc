// Files of tensors, of whatever kind.
#include "runtime/File.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int heed_input::open(const char *path, const char *kind, heed_error *error) {
  struct stat status;
  stream = fopen(path, "rbe");
  if (!stream || fstat(fileno(stream), &status) != 0)
    return heed_fail(error, "%s: expected a %s file, but got: %s", path, kind, strerror(errno));
  if (!S_ISREG(status.st_mode))
    return heed_fail(error, "%s: expected a %s file, but it is no regular file", path, kind);
  bytes = status.st_size;
  return 0;
}

int heed_input::readHeader(const char *path, size_t length, heed_error *error) {
  buffer = static_cast<char *>(malloc(length + 1));
  if (!buffer || fread(buffer, 1, length, stream) != length)
    return heed_fail(error, "%s: expected a header of %zu bytes, but the file ends", path, length);
  return 0;
}

int heed_input::readData(const char *path, const heed_tensor *described, heed_tensor *tensor,
                         heed_error *error) {
  heed_error reason;
  if (heed_tensor_allocate(described->type, described->rank, described->sizes, tensor, &reason))
    return heed_fail(error, "%s: %s", path, reason.message);
  size_t length = heed_tensor_count(tensor) * (tensor->type.bits / 8);
  if (fread(tensor->data, 1, length, stream) != length) {
    heed_tensor_free(tensor);
    return heed_fail(error, "%s: expected %zu bytes of data, but the file ends", path, length);
  }
  if (tensor->type.code == HEED_TYPE_BOOL) // other values would be undefined behaviour in emitted code
    for (size_t i = 0; i < length; ++i)
      if (unsigned value = static_cast<unsigned char *>(tensor->data)[i]; value > 1) {
        heed_tensor_free(tensor);
        return heed_fail(error, "%s: expected bools of 0 or 1, but element %zu is %u", path, i, value);
      }
  return 0;
}

int heed_output::open(const char *path, heed_error *error) {
  size_t length = strlen(path) + 32;
  temporary = static_cast<char *>(malloc(length));
  if (!temporary)
    return heed_fail(error, "%s: out of memory", path);
  snprintf(temporary, length, "%s.%ld.tmp", path, static_cast<long>(getpid()));
  stream = fopen(temporary, "wbxe");
  return stream ? 0 : heed_fail(error, "%s: expected to write a file, but got: %s", path, strerror(errno));
}

int heed_output::close(const char *path, bool isWritten, heed_error *error) {
  int failure = errno;
  if (fclose(stream) != 0 && isWritten) {
    failure = errno;
    isWritten = false;
  }
  stream = nullptr;
  if (isWritten && rename(temporary, path) == 0)
    return 0;
  if (isWritten)
    failure = errno;
  unlink(temporary);
  return heed_fail(error, "%s: expected to write a file, but got: %s", path, strerror(failure));
}

heed_output::~heed_output() {
  if (stream)
    close(temporary, false, nullptr);
  free(temporary);
}

/// Writes the elements below `data`, dimension by dimension.
static bool writeElements(FILE *stream, const heed_tensor *tensor, int32_t dim, const char *data) {
  size_t elementBytes = tensor->type.bits / 8;
  if (!tensor->strides || dim == tensor->rank) {
    heed_tensor rest = *tensor;
    rest.rank -= dim;
    rest.sizes += dim;
    size_t count = heed_tensor_count(&rest);
    return count == 0 || fwrite(data, elementBytes, count, stream) == count;
  }
  for (int64_t i = 0; i < tensor->sizes[dim]; ++i)
    if (!writeElements(stream, tensor, dim + 1, data + i * tensor->strides[dim] * elementBytes))
      return false;
  return true;
}

bool heed_write_elements(FILE *stream, const heed_tensor *tensor) {
  return writeElements(stream, tensor, 0, static_cast<const char *>(tensor->data));
}

static bool isSafetensors(const char *path) {
  static const char suffix[] = ".safetensors";
  size_t length = strlen(path), suffixLength = sizeof suffix - 1;
  return length >= suffixLength && strcmp(path + length - suffixLength, suffix) == 0;
}

int heed_tensor_read(const char *path, const char *name, heed_tensor *tensor, heed_error *error) {
  return isSafetensors(path) ? heed_safetensors_read(path, name, tensor, error)
                             : heed_npy_read(path, tensor, error);
}

int heed_tensor_write(const char *path, const char *name, const heed_tensor *tensor, heed_error *error) {
  return isSafetensors(path) ? heed_safetensors_write(path, name, tensor, error)
                             : heed_npy_write(path, tensor, error);
}
