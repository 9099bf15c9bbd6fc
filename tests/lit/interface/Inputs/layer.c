/* Packs a weight once and calls layer() with it for several numbers of rows. */
#include "runtime/heed_kernel.h"

#include "layer.h"

#include <stdio.h>
#include <string.h>

enum { rows_at_most = 7, depth = 24, cols = 20, panels = 2, width = 16 };

int main(void) {
  static float weight[cols * depth], packed[panels * depth * width], x[rows_at_most * depth],
      y[rows_at_most * cols];
  static _Alignas(64) char workspace[1 << 16];
  for (int i = 0; i < cols * depth; ++i)
    weight[i] = (float)(i * 7 % 23) / 16;
  for (int i = 0; i < rows_at_most * depth; ++i)
    x[i] = (float)(i * 5 % 19) / 8;

  size_t bytes = layer_pack_weight_workspace_bytes(1);
  if (bytes > sizeof workspace ||
      layer_pack_weight(weight, packed, bytes ? workspace : NULL, bytes, NULL) != HEED_OK)
    return printf("expected the weight to be packed\n");
  memset(weight, -1, sizeof weight); /* NaN: it is not needed any more */
  for (int n = 0; n < cols; ++n)
    for (int k = 0; k < depth; ++k)
      if (packed[(n / width * depth + k) * width + n % width] != (float)((n * depth + k) * 7 % 23) / 16)
        return printf("expected weight[%d, %d] in its panel\n", n, k);

  for (int rows = 1; rows <= rows_at_most; ++rows) {
    bytes = layer_workspace_bytes(rows, 1);
    if (bytes > sizeof workspace || layer(x, packed, y, rows, workspace, bytes, NULL) != HEED_OK)
      return printf("expected a call of %d rows to succeed\n", rows);
    for (int m = 0; m < rows; ++m)
      for (int n = 0; n < cols; ++n) {
        float expected = 0; /* all terms and sums are exact */
        for (int k = 0; k < depth; ++k)
          expected += x[m * depth + k] * (float)((n * depth + k) * 7 % 23) / 16;
        if (y[m * cols + n] != expected)
          return printf("expected y[%d, %d] to be %g, but got %g\n", m, n, expected, y[m * cols + n]);
      }
  }

  const heed_module *module = layer_module_query(HEED_ABI_VERSION);
  if (module->entry_count != 2 || strcmp(module->entries[1]->symbol, "layer_pack_weight") != 0 ||
      module->entries[0]->arguments[0]->flags != 0 ||
      module->entries[0]->arguments[1]->flags != HEED_ARGUMENT_PACKED)
    return printf("expected the query to say what is packed and how\n");
  return 0;
}
