/* A C program with a kernel in it: one object, one header, nothing else. The program owns all memory. */
#include "attention.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 2, HEADS = 3, LENGTH = 37, WIDTH = 64, COUNT = BATCH * HEADS * LENGTH * WIDTH };

static float query[COUNT], key[COUNT], value[COUNT], output[COUNT];

/* Numbers between -1 and 1 that look random. */
static float next(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) / 8388608.0f - 1.0f;
}

/* One row of the result, from the formula. */
static void attend(const float *q, const float *k, const float *v, int row, double *result) {
  double sum = 0;
  for (int e = 0; e < WIDTH; ++e)
    result[e] = 0;
  for (int j = 0; j <= row; ++j) {
    double score = 0;
    for (int d = 0; d < WIDTH; ++d)
      score += (double)q[row * WIDTH + d] * k[j * WIDTH + d];
    double weight = exp(score / 8);
    sum += weight;
    for (int e = 0; e < WIDTH; ++e)
      result[e] += weight * v[j * WIDTH + e];
  }
  for (int e = 0; e < WIDTH; ++e)
    result[e] /= sum;
}

int main(void) {
  for (int i = 0; i < COUNT; ++i) {
    query[i] = next();
    key[i] = next();
    value[i] = next();
  }

  size_t bytes = attention_workspace_bytes(BATCH, HEADS, LENGTH, 1);
  void *workspace = aligned_alloc(64, (bytes + 63) / 64 * 64);
  int32_t status = attention(query, key, value, output, BATCH, HEADS, LENGTH, workspace, bytes, NULL);
  free(workspace);
  if (status) {
    printf("attention: status kind %d, index %d\n", HEED_STATUS_KIND(status), HEED_STATUS_INDEX(status));
    return 1;
  }

  double largest = 0;
  for (int head = 0; head < BATCH * HEADS; ++head)
    for (int row = 0; row < LENGTH; ++row) {
      int begin = head * LENGTH * WIDTH;
      double expected[WIDTH];
      attend(query + begin, key + begin, value + begin, row, expected);
      for (int e = 0; e < WIDTH; ++e) {
        double difference = fabs(output[begin + row * WIDTH + e] - expected[e]);
        if (!(difference <= largest)) /* a NaN, too */
          largest = difference;
      }
    }
  printf("%d heads of %d positions, workspace %zu bytes, largest error %.2g\n", BATCH * HEADS, LENGTH, bytes,
         largest);

  /* A null pointer is a status, not a crash. */
  status = attention(NULL, key, value, output, BATCH, HEADS, LENGTH, NULL, 0, NULL);
  if (HEED_STATUS_KIND(status) != HEED_NULL_TENSOR || HEED_STATUS_INDEX(status) != 0) {
    printf("expected the null tensor 0 to be refused, but got status %d\n", (int)status);
    return 1;
  }
  return !(largest < 1e-5);
}
