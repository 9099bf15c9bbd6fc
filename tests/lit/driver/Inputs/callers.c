/* Calls two() and soft() from as many threads at once as argument 1 says, each with three threads of its own
 * for the kernels, and compares with a call on one thread. */
#include "soft.h"
#include "two.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rows = 6, depth = 24, cols = 20, slots_at_most = 3, rounds = 10 };

typedef struct {
  float y[rows * cols], z[rows * cols];
} results;

static float x[rows * depth], weight[cols * depth];
static results expected;

typedef struct {
  void (*task)(void *arg, int32_t slot);
  void *arg;
  int32_t slot;
} job;

static void *run_job(void *data) {
  job *j = data;
  j->task(j->arg, j->slot);
  return NULL;
}

static void run_parallel(void *pool, void (*task)(void *arg, int32_t slot), void *arg, int32_t slots) {
  pthread_t threads[slots_at_most];
  job jobs[slots_at_most];
  (void)pool;
  for (int32_t slot = 0; slot < slots; ++slot) {
    jobs[slot] = (job){task, arg, slot};
    pthread_create(&threads[slot], NULL, run_job, &jobs[slot]);
  }
  for (int32_t slot = 0; slot < slots; ++slot)
    pthread_join(threads[slot], NULL);
}

/* Both modules, one on the result of the other; returns a status. */
static int32_t call(results *r, const heed_context *context) {
  int32_t threads = context ? context->threads : 1;
  size_t first = two_workspace_bytes(threads), second = soft_workspace_bytes(rows, cols, threads);
  size_t bytes = first > second ? first : second;
  void *workspace = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
  int32_t status = two(x, weight, r->y, workspace, bytes, context);
  if (status == HEED_OK)
    status = soft(r->y, r->z, rows, cols, workspace, bytes, context);
  memset(workspace, 0, bytes); /* nothing of it is out of bounds between calls */
  free(workspace);
  return status;
}

static void *run_caller(void *failed) {
  heed_context context = {sizeof(heed_context), slots_at_most, NULL, run_parallel, NULL, NULL};
  for (int i = 0; i < rounds; ++i) {
    results found;
    if (call(&found, &context) != HEED_OK || memcmp(&found, &expected, sizeof expected))
      *(int *)failed = 1;
  }
  return NULL;
}

int main(int argc, char **argv) {
  enum { callers_at_most = 16 };
  int callers = argc == 2 ? atoi(argv[1]) : 0, failed[callers_at_most] = {0}, sum = 0;
  pthread_t threads[callers_at_most];
  for (int i = 0; i < rows * depth; ++i)
    x[i] = (float)(i * 7 % 11) / 8;
  for (int i = 0; i < cols * depth; ++i)
    weight[i] = (float)(i * 5 % 13) / 16;
  if (callers < 1 || callers > callers_at_most || call(&expected, NULL) != HEED_OK)
    return 3;
  for (int i = 0; i < callers; ++i)
    pthread_create(&threads[i], NULL, run_caller, &failed[i]);
  for (int i = 0; i < callers; ++i) {
    pthread_join(threads[i], NULL);
    sum += failed[i];
  }
  puts(sum ? "wrong" : "right");
  return sum != 0;
}
