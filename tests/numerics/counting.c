/* Stands in for the runtime of the thread sanitizer, to which code compiled with --instrument=thread tells
 * every access: counts the bytes read and written in each of some regions of memory, and outside of them all.
 * Exactly what is told is counted; one thread only. */
#include <stdint.h>
#include <string.h>

enum { regions_at_most = 16 };

static struct region {
  uintptr_t begin, end;
} regions[regions_at_most];
static int region_count;
static uint64_t counts[regions_at_most + 1][2]; /* the last is for what lies outside */

void count_in(const void *begin, uint64_t bytes) {
  regions[region_count].begin = (uintptr_t)begin;
  regions[region_count++].end = (uintptr_t)begin + bytes;
}

void forget_regions(void) {
  region_count = 0;
  memset(counts, 0, sizeof counts);
}

/* is_write: 0 or 1. region: in the order in which they were given; one past the last for all other memory. */
uint64_t counted(int region, int is_write) {
  return counts[region == region_count ? regions_at_most : region][is_write];
}

static void count(const void *address, uint64_t bytes, int is_write) {
  uintptr_t begin = (uintptr_t)address;
  for (int i = 0; i < region_count; ++i)
    if (begin >= regions[i].begin && begin < regions[i].end) {
      counts[i][is_write] += bytes;
      return;
    }
  counts[regions_at_most][is_write] += bytes;
}

void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}

#define ACCESS(bytes)                                                                                        \
  void __tsan_read##bytes(const void *p) { count(p, bytes, 0); }                                             \
  void __tsan_write##bytes(const void *p) { count(p, bytes, 1); }                                            \
  void __tsan_unaligned_read##bytes(const void *p) { count(p, bytes, 0); }                                   \
  void __tsan_unaligned_write##bytes(const void *p) { count(p, bytes, 1); }                                  \
  void __tsan_read_write##bytes(const void *p) { count(p, bytes, 0), count(p, bytes, 1); }                   \
  void __tsan_unaligned_read_write##bytes(const void *p) { count(p, bytes, 0), count(p, bytes, 1); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_read_range(const void *p, uint64_t bytes) { count(p, bytes, 0); }
void __tsan_write_range(const void *p, uint64_t bytes) { count(p, bytes, 1); }

void *__tsan_memcpy(void *to, const void *from, uint64_t bytes) {
  count(from, bytes, 0), count(to, bytes, 1);
  return memcpy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, uint64_t bytes) {
  count(from, bytes, 0), count(to, bytes, 1);
  return memmove(to, from, bytes);
}

void *__tsan_memset(void *to, int byte, uint64_t bytes) {
  count(to, bytes, 1);
  return memset(to, byte, bytes);
}

int32_t __tsan_atomic32_load(const int32_t *p, int order) {
  (void)order;
  return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

void __tsan_atomic32_store(int32_t *p, int32_t value, int order) {
  (void)order;
  __atomic_store_n(p, value, __ATOMIC_SEQ_CST);
}
