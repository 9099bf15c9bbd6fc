// The default pool: every slot once, from several callers too.
#include "tests/unit/RuntimeFixture.h"

#include <atomic>
#include <thread>

using namespace heed::test;

static void countSlot(void *counts, int32_t slot) { ++static_cast<std::atomic<int> *>(counts)[slot]; }

TEST(Pool, RunsEachSlotOnce) {
  for (int32_t threads : {1, 2, 5}) {
    heed_pool *pool;
    heed_error error;
    ASSERT_EQ(heed_pool_create(threads, &pool, &error), 0) << error.message;
    const heed_context *context = heed_pool_context(pool);
    EXPECT_EQ(context->threads, threads);
    EXPECT_EQ(context->struct_size, sizeof(heed_context));
    for (int32_t slots = 1; slots <= threads; ++slots) {
      std::atomic<int> counts[5] = {};
      context->parallel(context->pool, countSlot, counts, slots);
      for (int32_t i = 0; i < 5; ++i)
        EXPECT_EQ(counts[i], i < slots ? 1 : 0);
    }
    heed_pool_destroy(pool);
  }
}

TEST(Pool, ServesSeveralCallers) {
  heed_pool *pool;
  ASSERT_EQ(heed_pool_create(2, &pool, nullptr), 0);
  const heed_context *context = heed_pool_context(pool);
  std::atomic<int> counts[2] = {};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 100; ++j)
        context->parallel(context->pool, countSlot, counts, 2);
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(counts[0], 400);
  EXPECT_EQ(counts[1], 400);
  heed_pool_destroy(pool);
}

TEST(Pool, TakesAThreadForEachProcessorAndRefusesNonsense) {
  heed_pool *pool;
  heed_error error;
  ASSERT_EQ(heed_pool_create(0, &pool, &error), 0);
  EXPECT_GE(heed_pool_context(pool)->threads, 1);
  heed_pool_destroy(pool);
  ASSERT_NE(heed_pool_create(-1, &pool, &error), 0);
  EXPECT_STREQ(error.message, "expected 0 to 4096 threads, but got -1");
  EXPECT_EQ(heed_pool_context(nullptr), nullptr);
  heed_pool_destroy(nullptr);
}
