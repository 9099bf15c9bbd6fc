/* Calls layer() on fixed numbers and compares with the sums written out. */
#include "layer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The tensor data of an image, which follow a header whose length comes first. */
static void *readParams(const char *path) {
  FILE *file = fopen(path, "rb");
  uint64_t header;
  if (!file || fread(&header, sizeof header, 1, file) != 1 || fseek(file, 0, SEEK_END))
    exit(2);
  size_t start = sizeof header + header, bytes = (size_t)ftell(file) - start;
  void *params = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!params || fseek(file, (long)start, SEEK_SET) || fread(params, 1, bytes, file) != bytes)
    exit(2);
  fclose(file);
  return params;
}

int main(int argc, char **argv) {
  enum { rows = 7 };
  float x[rows * 20], y[rows * 20], big[rows * 24];
  for (int i = 0; i < rows * 20; ++i)
    x[i] = 0.25f * i;
  if (argc != 2)
    return 3;
  size_t bytes = layer_twice_workspace_bytes(rows, 1);
  void *workspace = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
  if (layer_twice(x, y, rows, workspace, bytes, NULL))
    return 4;
  for (int i = 0; i < rows * 20; ++i)
    if (y[i] != 2 * x[i])
      return 5;

  /* Linear: f(2 x) - f(x) = f(x) - f(0). */
  void *params = readParams(argv[1]);
  float results[3][rows * 20];
  for (int factor = 0; factor < 3; ++factor) {
    for (int i = 0; i < rows * 24; ++i)
      big[i] = 0.125f * (i % 17 - 8) * factor;
    bytes = layer_workspace_bytes(rows, 1);
    workspace = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    if (layer(big, results[factor], params, rows, workspace, bytes, NULL))
      return 6;
  }
  float largest = 0;
  for (int i = 0; i < rows * 20; ++i) {
    largest = fmaxf(largest, fabsf(results[1][i] - results[0][i]));
    if (!(fabsf(results[2][i] - 2 * results[1][i] + results[0][i]) < 1e-4f))
      return 7;
  }
  puts(largest > 0.5f ? "right" : "all the same");
  return 0;
}
