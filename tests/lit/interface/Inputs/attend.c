/* Embeds the kernel of attend.mlir: one object, one header, no other library. */
#include "attend.h"

#include <math.h>
#include <stdio.h>

enum { heads = 2, queries = 3, keys = 5, width = 16 };

static void run_in_turn(void *pool, void (*task)(void *arg, int32_t slot), void *arg, int32_t slots) {
  int32_t slot;
  (void)pool;
  for (slot = 0; slot < slots; ++slot)
    task(arg, slot);
}

int main(void) {
  static float query[heads * queries * width], key[heads * keys * width], value[heads * keys * width];
  static float alone[heads * queries * width], shared[heads * queries * width];
  static double workspace[1 << 16];
  char *aligned = (char *)workspace + (64 - (uintptr_t)workspace % 64) % 64;
  size_t needed = attend_workspace_bytes(heads, queries, keys, 3);
  heed_context context = {sizeof(heed_context), 3, 0, run_in_turn, 0, 0};
  int h, q, k, d, i;
  if (needed > sizeof workspace - 64)
    return printf("expected a workspace of at most %u bytes, but got %u\n", (unsigned)sizeof workspace,
                  (unsigned)needed);
  for (i = 0; i < heads * keys * width; ++i) {
    key[i] = (float)(i * 7 % 11) / 8;
    value[i] = (float)(i * 5 % 13) / 8;
  }
  for (i = 0; i < heads * queries * width; ++i)
    query[i] = (float)(i * 3 % 17) / 8;

  if (attend(query, key, value, alone, heads, queries, keys, aligned, needed, 0) != HEED_OK ||
      attend(query, key, value, shared, heads, queries, keys, aligned, needed, &context) != HEED_OK)
    return printf("expected both calls to succeed\n");
  if (HEED_STATUS_KIND(attend(query, key, value, shared, heads, queries, 0, aligned, needed, 0)) !=
      HEED_RELATION_VIOLATED)
    return printf("expected a call without keys to be refused\n");

  for (h = 0; h < heads; ++h)
    for (q = 0; q < queries; ++q) {
      double weights[keys], sum = 0;
      for (k = 0; k < keys; ++k) {
        double score = 0;
        for (d = 0; d < width; ++d)
          score += query[(h * queries + q) * width + d] * key[(h * keys + k) * width + d];
        sum += weights[k] = exp(score / 4);
      }
      for (d = 0; d < width; ++d) {
        double expected = 0;
        float found = alone[(h * queries + q) * width + d];
        for (k = 0; k < keys; ++k)
          expected += weights[k] / sum * value[(h * keys + k) * width + d];
        if (!(fabs(found - expected) < 1e-5))
          return printf("expected output[%d, %d, %d] to be %g, but got %g\n", h, q, d, expected, found);
        if (found != shared[(h * queries + q) * width + d])
          return printf("expected the result not to depend on the threads\n");
      }
    }
  return 0;
}
