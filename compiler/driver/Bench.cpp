// heed bench: measures an entry of a compiled module on random inputs.
#include "compiler/driver/Trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <random>

using namespace llvm;

namespace heed::driver {

/// Sizes from `NAME=N`; every one that the entry has must be given.
static std::vector<int64_t> parseSizes(const std::vector<std::string> &arguments, const heed_entry &entry) {
  std::vector<int64_t> sizes(entry.size_count, -1);
  for (StringRef argument : arguments) {
    auto [name, text] = argument.split('=');
    int64_t value;
    if (text.getAsInteger(10, value) || value < 0)
      fail("--size", "expected NAME=N with N >= 0, but got " + argument);
    int32_t i = 0;
    while (i < entry.size_count && name != entry.sizes[i]->name)
      ++i;
    if (i == entry.size_count)
      fail("--size", "expected one of " + listNames(entry.sizes, entry.size_count) + ", but got " + name);
    sizes[i] = value;
  }
  for (int32_t i = 0; i < entry.size_count; ++i)
    if (sizes[i] < 0)
      fail("--size", Twine("expected --size ") + entry.sizes[i]->name + "=N, but got none");
  return sizes;
}

/// Random values: floats like normalized activations, integers within their range.
static HostTensor makeInput(const heed_argument &argument, ArrayRef<int64_t> sizes, std::mt19937_64 &random) {
  SmallVector<int64_t> shape;
  for (int32_t i = 0; i < argument.rank; ++i)
    shape.push_back(heed_evaluate(argument.shape[i], sizes.data()));
  HostTensor tensor(argument.type, shape);
  auto fill = [&](auto *data, auto draw) { std::generate_n(data, heed_tensor_count(&*tensor), draw); };
  std::normal_distribution<float> normal;
  void *data = (*tensor).data;
  int64_t low = argument.lower ? heed_evaluate(argument.lower, sizes.data()) : 0;
  int64_t high = argument.upper ? heed_evaluate(argument.upper, sizes.data()) : 1;
  std::uniform_int_distribution<int64_t> integer(low, std::max(low, high));
  auto drawInteger = [&] { return integer(random); };
  // Half types as the upper bits of an f32 and as small multiples of 2^-8: exact values are not the matter
  // here.
  if (argument.type.code == HEED_TYPE_BFLOAT)
    fill(static_cast<uint16_t *>(data), [&] {
      float value = normal(random);
      uint32_t bits;
      memcpy(&bits, &value, sizeof bits);
      return uint16_t(bits >> 16);
    });
  else if (argument.type.code == HEED_TYPE_FLOAT && argument.type.bits == 16)
    fill(static_cast<uint16_t *>(data), [&] { return uint16_t(0x3000 | (random() & 0x8fff)); });
  else if (argument.type.code == HEED_TYPE_FLOAT && argument.type.bits == 64)
    fill(static_cast<double *>(data), [&] { return normal(random); });
  else if (argument.type.code == HEED_TYPE_FLOAT)
    fill(static_cast<float *>(data), [&] { return normal(random); });
  else if (argument.type.bits == 64)
    fill(static_cast<int64_t *>(data), drawInteger);
  else if (argument.type.bits == 32)
    fill(static_cast<int32_t *>(data), drawInteger);
  else if (argument.type.bits == 16)
    fill(static_cast<int16_t *>(data), drawInteger);
  else
    fill(static_cast<int8_t *>(data), drawInteger);
  return tensor;
}

namespace {
struct Bench {
  std::string module, entry, params;
  std::vector<std::string> sizes;
  int32_t threads = 1;
  double seconds = 1;
  uint64_t seed = 1;
  bool json = false;

  void run() const {
    LoadedModule loaded(module, params, threads);
    const heed_entry &found = loaded.findEntry(entry);
    std::vector<int64_t> values = parseSizes(sizes, found);
    std::mt19937_64 random(seed);
    std::map<std::string, HostTensor> inputs;
    for (int32_t i = 0; i < found.argument_count; ++i)
      if (const heed_argument &argument = *found.arguments[i];
          argument.role != HEED_OUTPUT && !(argument.flags & HEED_ARGUMENT_OPTIONAL))
        inputs.emplace(argument.name, makeInput(argument, values, random));
    Call call(loaded, found, std::move(inputs));
    print(found, values, measure(call, loaded.context()));
  }

  /// Seconds of each run, ascending; the first runs, which meet cold caches, are not counted.
  std::vector<double> measure(Call &call, const heed_context &context) const {
    Progress progress("bench");
    progress.step("measuring");
    using Clock = std::chrono::steady_clock;
    auto once = [&] {
      Clock::time_point begin = Clock::now();
      call.run(context);
      return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    once();
    once();
    std::vector<double> times;
    for (double sum = 0; times.size() < 5 || sum < seconds; sum += times.back())
      times.push_back(once());
    llvm::sort(times);
    return times;
  }

  void print(const heed_entry &found, ArrayRef<int64_t> values, ArrayRef<double> times) const {
    double median = times[times.size() / 2], fastest = times.front(), slow = times[times.size() * 9 / 10];
    if (json) {
      nlohmann::ordered_json root = {{"entry", found.name},    {"threads", threads},
                                     {"runs", times.size()},   {"median_seconds", median},
                                     {"min_seconds", fastest}, {"p90_seconds", slow}};
      for (int32_t i = 0; i < found.size_count; ++i)
        root["sizes"][found.sizes[i]->name] = values[i];
      fmt::print("{}\n", root.dump(2));
      return;
    }
    std::string shown;
    for (int32_t i = 0; i < found.size_count; ++i)
      shown += fmt::format(" {}={}", found.sizes[i]->name, values[i]);
    fmt::print("{}{}, threads={}: median {:.3f} ms, fastest {:.3f}, 90 % below {:.3f}, {} runs\n", found.name,
               shown, threads, median * 1e3, fastest * 1e3, slow * 1e3, times.size());
  }
};
} // namespace

void addBench(CLI::App &app) {
  auto bench = std::make_shared<Bench>();
  CLI::App *command = app.add_subcommand("bench", "Measure a compiled module on random inputs");
  command->add_option("MODULE", bench->module, "A shared library that heed compiled")->required();
  command->add_option("--size", bench->sizes, "A dynamic size; each must be given")->type_name("NAME=N");
  command->add_option("--entry", bench->entry, "The entry to call, where there are several");
  command->add_option("--params", bench->params, "The parameter image [NAME.heed beside NAME.so]");
  command->add_option("--threads", bench->threads, "Threads [1]; 0: one for each processor")
      ->check(CLI::Range(0, 4096));
  command->add_option("--seconds", bench->seconds, "Measure at least this long [1]")
      ->check(CLI::Range(0.0, 3600.0));
  command->add_option("--seed", bench->seed, "Of the random inputs [1]");
  command->add_flag("--json", bench->json, "Print JSON");
  command->footer("Example:\n  heed bench minilm.so --size batch=8 --size seq=128 --threads 2");
  command->callback([bench] { bench->run(); });
}

} // namespace heed::driver
