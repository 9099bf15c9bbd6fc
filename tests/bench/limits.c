// Measures what this machine can do at most, for the benchmark's percentages: fused multiply-adds with the
// widest vectors of the target it is compiled for, reads from each level of memory, and exponentials.
//
//   limits THREADS SECONDS    prints one JSON object, figures for all threads together
//
// Thread i stays on processor i. A figure is the best of many short runs, all threads in each at once:
// whatever else the machine does can only make it smaller.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
#define ISA "AVX-512"
#define VECTOR_BYTES 64
#define ACCUMULATORS 24
#elif defined(__AVX2__) && defined(__FMA__)
#define ISA "AVX2"
#define VECTOR_BYTES 32
#define ACCUMULATORS 12
#elif defined(__ARM_NEON)
#define ISA "NEON"
#define VECTOR_BYTES 16
#define ACCUMULATORS 24
#else
#define ISA "SSE2"
#define VECTOR_BYTES 16
#define ACCUMULATORS 12
#endif
#define LANES (VECTOR_BYTES / 4)

typedef float Floats __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t Ints __attribute__((vector_size(VECTOR_BYTES)));

enum { maxThreads = 256, expCount = 1024 };

// What a thread works on, and how often it repeats it in one run.
typedef struct {
  float *data;
  size_t bytes;
  int64_t repeats;
} Job;

static volatile float sink;

// 2 * ACCUMULATORS * LANES flops a repeat.
static void multiplyAdd(const Job *job) {
  Floats sums[ACCUMULATORS];
  Floats factor = {0}, addend = {0};
  factor += 0.999f;
  addend += 1e-3f;
  for (int i = 0; i < ACCUMULATORS; ++i)
    sums[i] = addend + (float)i;
  for (int64_t repeat = 0; repeat < job->repeats; ++repeat)
    for (int i = 0; i < ACCUMULATORS; ++i)
      sums[i] = __builtin_elementwise_fma(sums[i], factor, addend);
  for (int i = 1; i < ACCUMULATORS; ++i)
    sums[0] += sums[i];
  sink = sums[0][0];
}

// Reads all bytes once a repeat, as `streams` runs of addresses side by side.
static inline void readAll(const Job *job, size_t streams) {
  enum { unroll = 8 };
  size_t vectors = job->bytes / VECTOR_BYTES / streams / unroll * unroll;
  Ints sums[unroll] = {{0}};
  for (int64_t repeat = 0; repeat < job->repeats; ++repeat) {
    const Ints *data = (const Ints *)job->data;
    for (size_t i = 0; i < vectors; i += unroll)
      for (size_t stream = 0; stream < streams; ++stream)
        for (int j = 0; j < unroll; ++j)
          sums[j] ^= data[stream * vectors + i + j];
    __asm__ volatile("" ::: "memory"); // the data may have changed: read it again
  }
  for (int j = 1; j < unroll; ++j)
    sums[0] ^= sums[j];
  sink = (float)sums[0][0];
}
static void readOneStream(const Job *job) { readAll(job, 1); }
static void readFourStreams(const Job *job) { readAll(job, 4); }

// e^x of expCount numbers a repeat: x = n ln 2 + r, e^r as a polynomial of degree 6, 2^n by the exponent's
// bits.
static void exponentiate(const Job *job) {
  for (int64_t repeat = 0; repeat < job->repeats; ++repeat) {
    Floats *x = (Floats *)job->data;
    for (int i = 0; i < expCount / LANES; ++i) {
      Floats shift = {0};
      shift += 0x1.8p23f;
      Floats rounded = __builtin_elementwise_fma(x[i], shift * 0 + 0x1.715476p0f, shift);
      Ints exponent = ((Ints)rounded - (Ints)shift) << 23;
      Floats n = rounded - shift;
      Floats r = __builtin_elementwise_fma(n, shift * 0 - 0x1.62e43p-1f, x[i]);
      Floats y = shift * 0 + 0x1.6c16c2p-10f;
      static const float coefficients[] = {0x1.111112p-7f, 0x1.555556p-5f, 0x1.555556p-3f, 0.5f, 1.0f, 1.0f};
      for (int c = 0; c < 6; ++c)
        y = __builtin_elementwise_fma(y, r, shift * 0 + coefficients[c]);
      x[i + expCount / LANES] = (Floats)((Ints)y + exponent);
    }
    __asm__ volatile("" ::: "memory");
  }
  sink = job->data[expCount];
}

static double readClock(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}
static double now(void) { return readClock(CLOCK_MONOTONIC); }

// One run on all threads: they start together; the figure counts from the first start to the last end.
typedef struct {
  void (*work)(const Job *);
  Job job;
  pthread_barrier_t *barrier;
  int cpu;
  double begin, end, busy; // seconds
} Thread;

static void *runThread(void *argument) {
  Thread *thread = argument;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(thread->cpu, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
  Job once = thread->job;
  once.repeats = 1;
  thread->work(&once);
  pthread_barrier_wait(thread->barrier);
  double busy = readClock(CLOCK_THREAD_CPUTIME_ID);
  thread->begin = now();
  thread->work(&thread->job);
  thread->end = now();
  thread->busy = readClock(CLOCK_THREAD_CPUTIME_ID) - busy;
  return NULL;
}

// Seconds of the run; `busy`: those that one thread worked.
static double runOnce(int threads, void (*work)(const Job *), float **data, size_t bytes, int64_t repeats,
                      double *busy) {
  Thread state[maxThreads];
  pthread_t handles[maxThreads];
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, threads);
  for (int i = 0; i < threads; ++i) {
    state[i] = (Thread){work, {data[i], bytes, repeats}, &barrier, i, 0, 0, 0};
    if (pthread_create(&handles[i], NULL, runThread, &state[i])) {
      fprintf(stderr, "limits: expected to start %d threads\n", threads);
      exit(1);
    }
  }
  for (int i = 0; i < threads; ++i)
    pthread_join(handles[i], NULL);
  double begin = state[0].begin, end = state[0].end;
  for (int i = 1; i < threads; ++i) {
    begin = state[i].begin < begin ? state[i].begin : begin;
    end = state[i].end > end ? state[i].end : end;
  }
  pthread_barrier_destroy(&barrier);
  *busy = state[0].busy;
  return end - begin;
}

// Units a second, `units` being those of one repeat on one thread.
static double best(int threads, void (*work)(const Job *), float **data, size_t bytes, double units,
                   double seconds) {
  // As many repeats as keep a thread busy for some milliseconds, by its own clock.
  int64_t repeats = 1;
  double time, busy;
  while (runOnce(threads, work, data, bytes, repeats, &busy), busy < 3e-3)
    repeats *= 2;
  double rate = 0, stop = now() + seconds;
  do {
    time = runOnce(threads, work, data, bytes, repeats, &busy);
    if (threads == 1)
      time = busy; // without what others took
    if (units * repeats * threads / time > rate)
      rate = units * repeats * threads / time;
  } while (now() < stop);
  return rate;
}

// Bytes of a cache as the kernel lists them (index 0: L1 data, 2: L2, 3: L3), which in a virtual machine is
// less than CPUID tells.
static size_t cache(int index, size_t otherwise) {
  char path[80];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
  FILE *file = fopen(path, "r");
  size_t kilobytes = 0;
  if (file) {
    if (fscanf(file, "%zuK", &kilobytes) != 1)
      kilobytes = 0;
    fclose(file);
  }
  return kilobytes ? kilobytes << 10 : otherwise;
}

int main(int argc, char **argv) {
  int threads = argc == 3 ? atoi(argv[1]) : 0;
  if (threads < 1 || threads > maxThreads) {
    fprintf(stderr, "usage: limits THREADS SECONDS\n");
    return 2;
  }
  double seconds = atof(argv[2]);
  size_t l1 = cache(0, 32 << 10), l2 = cache(2, 512 << 10), l3 = cache(3, 8 << 20);
  // Well inside a level and well outside the one before; threads share the last one.
  struct {
    const char *name;
    size_t bytes;
  } levels[] = {{"L1", l1 / 2},
                {"L2", l2 / 2},
                {"L3", l3 / 2 / threads < 6 * l2 ? l3 / 2 / threads : 6 * l2},
                {"memory", 4 * l3}};
  float *data[maxThreads];
  for (int i = 0; i < threads; ++i) {
    data[i] = aligned_alloc(4096, 4 * l3);
    if (!data[i]) {
      fprintf(stderr, "limits: expected %zu bytes of memory a thread\n", 4 * l3);
      return 1;
    }
    memset(data[i], 0, 4 * l3);
  }
  printf("{\"isa\": \"%s\", \"threads\": %d, \"l1_bytes\": %zu, \"l2_bytes\": %zu, \"l3_bytes\": %zu", ISA,
         threads, l1, l2, l3);
  printf(", \"flops\": %.4g", best(threads, multiplyAdd, data, 0, 2.0 * ACCUMULATORS * LANES, seconds));
  printf(", \"exps\": %.4g", best(threads, exponentiate, data, 0, expCount, seconds));
  for (size_t i = 0; i < sizeof levels / sizeof *levels; ++i) {
    size_t bytes = levels[i].bytes / (4 * 8 * VECTOR_BYTES) * (4 * 8 * VECTOR_BYTES);
    double one = best(threads, readOneStream, data, bytes, bytes, seconds / 2);
    double four = best(threads, readFourStreams, data, bytes, bytes, seconds / 2);
    printf(", \"%s\": %.4g", levels[i].name, one > four ? one : four);
  }
  printf("}\n");
  return 0;
}
