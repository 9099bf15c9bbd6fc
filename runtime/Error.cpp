// How the runtime's functions fail.
#include "runtime/Error.h"

#include <stdarg.h>
#include <stdio.h>

int heed_fail(heed_error *error, const char *format, ...) {
  if (!error)
    return -1;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return -1;
}

void heed_append(heed_line *line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int added = vsnprintf(line->text + line->length, sizeof line->text - line->length, format, arguments);
  va_end(arguments);
  if (added > 0)
    line->length += added;
  if (line->length >= sizeof line->text)
    line->length = sizeof line->text - 1;
}
