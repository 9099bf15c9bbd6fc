// The default thread pool: pthreadpool behind heed_context.
#include "runtime/Error.h"

#include <pthreadpool.h>
#include <stdlib.h>

struct heed_pool {
  pthreadpool_t threads;
  heed_context context;
};

namespace {
struct Task {
  void (*run)(void *arg, int32_t slot);
  void *arg;
};
} // namespace

static void runSlot(void *task, size_t slot) {
  static_cast<Task *>(task)->run(static_cast<Task *>(task)->arg, static_cast<int32_t>(slot));
}

static void runParallel(void *pool, void (*task)(void *arg, int32_t slot), void *arg, int32_t slots) {
  Task parcel = {task, arg};
  pthreadpool_parallelize_1d(static_cast<pthreadpool_t>(pool), runSlot, &parcel, slots, 0);
}

int heed_pool_create(int32_t threads, heed_pool **pool, heed_error *error) {
  *pool = nullptr;
  if (threads < 0 || threads > 4096)
    return heed_fail(error, "expected 0 to 4096 threads, but got %d", threads);
  auto *result = static_cast<heed_pool *>(malloc(sizeof(heed_pool)));
  pthreadpool_t pthreads = result ? pthreadpool_create(threads) : nullptr;
  if (!pthreads) {
    free(result);
    return heed_fail(error, "expected to start %d threads, but the system refused", threads);
  }
  result->threads = pthreads;
  result->context = {};
  result->context.struct_size = sizeof(heed_context);
  result->context.threads = static_cast<int32_t>(pthreadpool_get_threads_count(pthreads));
  result->context.pool = pthreads;
  result->context.parallel = runParallel;
  *pool = result;
  return 0;
}

void heed_pool_destroy(heed_pool *pool) {
  if (!pool)
    return;
  pthreadpool_destroy(pool->threads);
  free(pool);
}

const heed_context *heed_pool_context(const heed_pool *pool) { return pool ? &pool->context : nullptr; }
