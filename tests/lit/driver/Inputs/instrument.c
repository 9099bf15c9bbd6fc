/* Calls soft() on memory of which argument 1 elements are there and argument 2 are set; prints the sum. */
#include "soft.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  enum { rows = 3, cols = 8 };
  if (argc != 3)
    return 3;
  int there = atoi(argv[1]), set = atoi(argv[2]);
  float *x = malloc(there * sizeof(float)), y[rows * cols], sum = 0;
  for (int i = 0; i < set; ++i)
    x[i] = i;
  size_t bytes = soft_workspace_bytes(rows, cols, 1);
  void *workspace = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
  int32_t status = soft(x, y, rows, cols, workspace, bytes, NULL);
  for (int i = 0; i < rows * cols; ++i)
    sum += y[i];
  if (status == 0 && sum > 2.999f && sum < 3.001f)
    puts("right");
  free(workspace);
  free(x);
  return status;
}
