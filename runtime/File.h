// What the readers and writers of tensor files share. Not for host programs.
#pragma once

#include "runtime/Error.h"

#include <stdio.h>
#include <stdlib.h>

/// A file to read and a buffer for its header, released at the end of a scope.
struct heed_input {
  FILE *stream = nullptr;
  char *buffer = nullptr;
  long long bytes = 0; ///< of the file

  /// Opens a regular file. `kind` is what was expected: ".npy".
  int open(const char *path, const char *kind, heed_error *error);
  /// Fills the buffer with the next `length` bytes, the header.
  int readHeader(const char *path, size_t length, heed_error *error);
  /// Allocates a tensor as `described` and fills it with the next bytes.
  int readData(const char *path, const heed_tensor *described, heed_tensor *tensor, heed_error *error);

  heed_input() = default;
  heed_input(const heed_input &) = delete;
  ~heed_input() {
    if (stream)
      fclose(stream);
    free(buffer);
  }
};

/// A file written under another name and renamed when it is whole.
struct heed_output {
  FILE *stream = nullptr;
  char *temporary = nullptr;

  int open(const char *path, heed_error *error);
  /// Closes the file; it takes its place if `isWritten`, else nothing is left.
  int close(const char *path, bool isWritten, heed_error *error);

  heed_output() = default;
  heed_output(const heed_output &) = delete;
  ~heed_output();
};

/// Writes the elements of a tensor in row-major order. False where the system refuses.
bool heed_write_elements(FILE *stream, const heed_tensor *tensor);
