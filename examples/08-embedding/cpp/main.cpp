// A C++ program that lends the kernel its own threads. The result is the same on any number of them, bit for
// bit.
#include "attention.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace {

/// Runs every slot on a thread of its own. A program with a pool would hand the slots to that.
void parallel(void *, void (*task)(void *arg, int32_t slot), void *arg, int32_t slots) {
  std::vector<std::thread> threads;
  for (int32_t slot = 1; slot < slots; ++slot)
    threads.emplace_back(task, arg, slot);
  task(arg, 0);
  for (std::thread &thread : threads)
    thread.join();
}

constexpr int64_t batch = 1, heads = 4, length = 200, count = batch * heads * length * 64;

std::vector<float> run(const std::vector<float> &query, const std::vector<float> &key,
                       const std::vector<float> &value, int32_t threads) {
  heed_context context = {};
  context.struct_size = sizeof context;
  context.threads = threads;
  context.parallel = parallel;

  std::vector<float> output(count);
  size_t bytes = attention_workspace_bytes(batch, heads, length, threads);
  std::unique_ptr<void, void (*)(void *)> workspace(std::aligned_alloc(64, (bytes + 63) / 64 * 64),
                                                    std::free);
  int32_t status = attention(query.data(), key.data(), value.data(), output.data(), batch, heads, length,
                             workspace.get(), bytes, &context);
  if (status != HEED_OK) {
    std::printf("attention: status kind %d, index %d\n", HEED_STATUS_KIND(status), HEED_STATUS_INDEX(status));
    std::exit(1);
  }
  return output;
}

} // namespace

int main() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> query(count), key(count), value(count);
  for (std::vector<float> *tensor : {&query, &key, &value})
    for (float &x : *tensor)
      x = normal(random);

  std::vector<float> one = run(query, key, value, 1);
  for (int32_t threads : {2, 3, 8})
    if (run(query, key, value, threads) != one) {
      std::printf("expected the result of %d threads to equal that of one\n", threads);
      return 1;
    }
  // The first position sees itself alone.
  for (int64_t e = 0; e < 64; ++e)
    if (std::abs(one[e] - value[e]) > 1e-6f) {
      std::printf("expected the first row to be the first value\n");
      return 1;
    }
  std::puts("the same result on 1, 2, 3 and 8 threads");
}
