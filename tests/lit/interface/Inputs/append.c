/* What may lie beside what: calls append() on tensors in one piece of memory. */
#include "append.h"

#include <stdio.h>

enum { batch = 2, capacity = 3, width = 4, row = capacity * width };

static _Alignas(64) float memory[1024], params[64], separate[64];
static _Alignas(64) char workspace[4096];
static int failures;

/* Strides are those of the batch; rows of the cache lie close together. An index of -1 means that all is
 * well. */
static void expect(const char *what, float *entries, int64_t entry_stride, float *cache, int64_t cache_stride,
                   float *weights, int index) {
  static const int64_t position[batch] = {0, 2};
  size_t bytes = append_workspace_bytes(batch, capacity, 1);
  int32_t expected = index < 0 ? HEED_OK : HEED_OVERLAP | index << 8;
  int32_t status = append(entries, position, cache, weights, params, batch, capacity, entry_stride, width,
                          cache_stride, width, workspace, bytes, NULL);
  if (bytes == 0 || bytes > sizeof workspace)
    printf("expected a workspace of 1 to %zu bytes, but got %zu\n", sizeof workspace, bytes);
  else if (status == expected)
    return;
  printf("%s: expected argument %d, but got %d of %d\n", what, index, HEED_STATUS_KIND(status),
         HEED_STATUS_INDEX(status));
  ++failures;
}

int main(void) {
  float *cache = memory, *end = memory + batch * row, *scratch = (float *)workspace;
  expect("neighbours", end, width, cache, row, end + batch * width, -1);
  expect("entries between the rows of the cache", cache + row, row + width, cache, row + width, separate, -1);
  expect("entries that begin where the cache begins", cache, row, cache, row, separate, 2);
  expect("entries in the first rows of the cache", cache + width, row + width, cache, row + width, separate,
         2);
  expect("entries at the end of a dense cache", end - 1, width, cache, row, separate, 2);
  expect("an output in a dense cache", separate, width, cache, row, end - 1, 3);
  expect("an output in the entries", separate, width, cache, row, separate + width, 3);
  expect("an output in the parameters", separate, width, cache, row, params + 1, 3);
  expect("a cache in the parameters", separate, width, params + 1, row, end, 2);
  expect("entries in the parameters", params, width, cache, row, separate, -1);
  expect("entries in the workspace", scratch, width, cache, row, separate, 0);
  expect("a cache in the workspace", separate, width, scratch + 1, row + width, separate + 32, 2);
  expect("an output in the workspace", separate, width, cache, row, scratch, 3);
  return failures != 0;
}
