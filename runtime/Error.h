// How the runtime's functions fail. Not for host programs.
#pragma once

#include "runtime/heed.h"

/// Leaves one line in `error`, which may be null, and returns -1. A line that is too long is cut.
__attribute__((format(printf, 2, 3))) int heed_fail(heed_error *error, const char *format, ...);

/// A line that is put together piece by piece; what does not fit is cut.
struct heed_line {
  char text[1024];
  size_t length;
};
__attribute__((format(printf, 2, 3))) void heed_append(heed_line *line, const char *format, ...);
