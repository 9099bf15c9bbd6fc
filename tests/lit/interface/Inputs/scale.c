/* Calls the entry of scale.mlir through both forms. With the argument "old", on a CPU that lacks its
 * instructions. */
#include "runtime/heed_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t scale(const float *x, const int64_t *ids, float *y, int64_t rows, int64_t cols, void *workspace,
              size_t workspace_bytes, const heed_context *context);
size_t scale_workspace_bytes(int64_t rows, int64_t cols, int32_t threads);
const heed_module *scale_module_query(uint32_t abi_version);

static float x[] = {1, 2, 3, 4, 5, 6}, y[8];
static int64_t ids[] = {1, 2};
static _Alignas(64) char scratch[1024];
static int failures;

/* What to expect: an index of -1 means that the kind has none. */
static void expect(const char *what, int32_t status, int kind, int index) {
  int32_t expected = kind | (index < 0 ? 0 : index) << 8;
  if (status == expected)
    return;
  printf("%s: expected status %d of %d, but got %d of %d\n", what, kind, index, HEED_STATUS_KIND(status),
         HEED_STATUS_INDEX(status));
  ++failures;
}
static void expectValues(const char *what, float a, float b) {
  if (y[0] != a || y[5] != b) {
    printf("%s: expected %g and %g, but got %g and %g\n", what, a, b, y[0], y[5]);
    ++failures;
  }
  memset(y, 0, sizeof y);
}

/* Both forms, which must agree. */
static int32_t call(const float *in, const int64_t *index, float *out, int64_t rows, int64_t cols,
                    void *workspace, size_t bytes, const heed_context *context) {
  const heed_entry *entry = scale_module_query(HEED_ABI_VERSION)->entries[0];
  void *tensors[] = {(void *)in, (void *)index, out};
  int64_t sizes[] = {rows, cols};
  int32_t uniform = entry->call(tensors, sizes, NULL, NULL, workspace, bytes, context);
  int32_t typed = scale(in, index, out, rows, cols, workspace, bytes, context);
  expect("the typed form", typed, HEED_STATUS_KIND(uniform), HEED_STATUS_INDEX(uniform));
  if (entry->workspace_bytes(sizes, 1) != scale_workspace_bytes(rows, cols, 1))
    expect("the typed workspace", -1, 0, 0);
  return typed;
}

static void parallel(void *pool, void (*task)(void *arg, int32_t slot), void *arg, int32_t slots) {
  for (int32_t slot = 0; slot < slots; ++slot)
    task(arg, slot);
}

int main(int argc, char **argv) {
  size_t bytes = scale_workspace_bytes(2, 3, 1);
  if (argc > 1 && !strcmp(argv[1], "old")) {
    expect("an older CPU", call(x, ids, y, 2, 3, scratch, bytes, NULL), HEED_UNSUPPORTED_CPU, -1);
    expectValues("an older CPU", 0, 0);
    return failures != 0;
  }

  expect("sizes that fit", call(x, ids, y, 2, 3, scratch, bytes, NULL), HEED_OK, -1);
  expectValues("sizes that fit", 2, 36);
  expect("no indices", call(x, NULL, y, 2, 3, scratch, bytes, NULL), HEED_OK, -1);
  expectValues("no indices", 2, 30);
  heed_context context = {sizeof context, 2, NULL, parallel, NULL, NULL};
  expect("a context", call(x, ids, y, 2, 3, scratch, bytes, &context), HEED_OK, -1);
  expectValues("a context", 2, 36);
  expect("no rows", call(NULL, NULL, NULL, 0, 3, NULL, 0, NULL), HEED_OK, -1);

  expect("a null input", call(NULL, ids, y, 2, 3, scratch, bytes, NULL), HEED_NULL_TENSOR, 0);
  expect("a null output", call(x, ids, NULL, 2, 3, scratch, bytes, NULL), HEED_NULL_TENSOR, 2);
  expect("half an element", call(x, ids, (float *)((char *)y + 2), 1, 3, scratch, bytes, NULL),
         HEED_MISALIGNED_TENSOR, 2);
  expect("an output that is an input", call(x, ids, x, 2, 3, scratch, bytes, NULL), HEED_OVERLAP, 2);
  expect("one element shared", call(x, ids, x + 5, 2, 3, scratch, bytes, NULL), HEED_OVERLAP, 2);
  expect("one element shared below", call(y + 2, ids, y, 1, 3, scratch, bytes, NULL), HEED_OVERLAP, 2);
  expect("neighbours", call(y + 4, ids, y, 1, 3, scratch, bytes, NULL), HEED_OK, -1);
  expect("a negative size", call(x, ids, y, -1, 3, scratch, bytes, NULL), HEED_NEGATIVE_SIZE, 0);
  expect("another negative size", call(x, ids, y, 2, INT64_MIN, scratch, bytes, NULL), HEED_NEGATIVE_SIZE, 1);
  expect("a violated relation", call(x, ids, y, 1, 101, scratch, bytes, NULL), HEED_RELATION_VIOLATED, 0);
  expect("bytes beyond 63 bits", call(x, ids, y, INT64_MAX / 3, 3, scratch, bytes, NULL), HEED_BAD_SHAPE, 0);
  expect("a workspace beyond 64 bits",
         call(x, ids, (float *)((uintptr_t)1 << 62), (int64_t)1 << 57, 1, scratch, SIZE_MAX - 1, NULL),
         HEED_WORKSPACE_TOO_SMALL, -1);
  expect("a small workspace", call(x, ids, y, 2, 3, scratch, bytes - 1, NULL), HEED_WORKSPACE_TOO_SMALL, -1);
  expect("a null workspace", call(x, ids, y, 2, 3, NULL, bytes, NULL), HEED_WORKSPACE_TOO_SMALL, -1);
  expect("a workspace off by one", call(x, ids, y, 2, 3, scratch + 1, bytes, NULL), HEED_MISALIGNED_WORKSPACE,
         -1);
  heed_context wrong = {0, 1, NULL, parallel, NULL, NULL},
               idle = {sizeof idle, 0, NULL, parallel, NULL, NULL};
  expect("an empty context", call(x, ids, y, 2, 3, scratch, bytes, &wrong), HEED_BAD_CONTEXT, -1);
  expect("no threads", call(x, ids, y, 2, 3, scratch, bytes, &idle), HEED_BAD_CONTEXT, -1);
  ids[1] = 3;
  expect("an index past the end", call(x, ids, y, 2, 3, scratch, bytes, NULL), HEED_INDEX_OUT_OF_RANGE, 1);
  ids[1] = -1;
  expect("a negative index", call(x, ids, y, 2, 3, scratch, bytes, NULL), HEED_INDEX_OUT_OF_RANGE, 1);
  expectValues("everything refused", 0, 0);

  if (scale_workspace_bytes(-1, 3, 1) != SIZE_MAX || scale_workspace_bytes(2, 101, 1) != SIZE_MAX ||
      scale_workspace_bytes(2, 3, 0) != SIZE_MAX ||
      scale_workspace_bytes((int64_t)1 << 58, 3, 1) != SIZE_MAX ||
      scale_workspace_bytes(INT64_MAX / 32, 1, 1) != SIZE_MAX)
    expect("sizes out of range", -1, 0, 0);
  if (scale_module_query(HEED_ABI_VERSION + 1))
    expect("another ABI version", -1, 0, 0);
  return failures != 0;
}
