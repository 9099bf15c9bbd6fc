// heed run: calls an entry of a compiled module on files.
#include "compiler/driver/Trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace llvm;

namespace heed::driver {

/// Named tensors of `NAME=FILE`, or all of `FILE.safetensors`.
static std::map<std::string, HostTensor> readInputs(const std::vector<std::string> &arguments,
                                                    const heed_entry &entry) {
  std::map<std::string, HostTensor> inputs;
  for (StringRef argument : arguments) {
    auto [name, path] = argument.split('=');
    if (path.empty())
      fail("--input", "expected NAME=FILE, but got " + argument);
    if (!inputs.emplace(name.str(), HostTensor::read(path, name)).second)
      fail("--input", "expected each input once, but got " + name + " twice");
  }
  return inputs;
}

namespace {
struct Run {
  std::string module, output, entry, params;
  std::vector<std::string> inputs, taps;
  int32_t threads = 0;
  bool profile = false, json = false;

  void run() const {
    LoadedModule loaded(module, params, threads);
    const heed_entry &found = loaded.findEntry(entry);
    Call call(loaded, found, readInputs(inputs, found));
    Trace trace(taps);
    bool traced = profile || !taps.empty();
    Progress progress("run");
    progress.step(found.symbol);
    call.run(traced ? trace.attachedTo(loaded.context()) : loaded.context());

    auto results = call.results();
    for (const std::string &tap : taps) {
      auto kept = trace.tapped().find(tap);
      if (kept == trace.tapped().end())
        fail("--tap", "expected one of " + join(trace.tappable(), ", ") + ", but got " + tap);
      results.emplace_back(tap, &*kept->second);
    }
    std::vector<std::string> files;
    if (!output.empty())
      files = writeTensors(output, results);
    if (json)
      printJson(results, files, trace);
    else
      printText(results, files, trace);
  }

  void printText(ArrayRef<std::pair<std::string, const heed_tensor *>> results, ArrayRef<std::string> files,
                 const Trace &trace) const {
    for (size_t i = 0; i < results.size(); ++i)
      fmt::print("{}: {}{}\n", results[i].first, describe(*results[i].second),
                 files.empty() ? "" : " → " + files[std::min(i, files.size() - 1)]);
    if (!profile)
      return;
    double sum = 0;
    for (const KernelTime &kernel : trace.times())
      sum += kernel.seconds;
    fmt::print("{:>10}  {:>6}  {:>6}  kernel\n", "ms", "%", "calls");
    for (const KernelTime &kernel : trace.times())
      fmt::print("{:>10.3f}  {:>6.1f}  {:>6}  {}\n", kernel.seconds * 1e3, 100 * kernel.seconds / sum,
                 kernel.calls, kernel.name);
  }

  void printJson(ArrayRef<std::pair<std::string, const heed_tensor *>> results, ArrayRef<std::string> files,
                 const Trace &trace) const {
    nlohmann::ordered_json root;
    for (size_t i = 0; i < results.size(); ++i) {
      const auto &[name, tensor] = results[i];
      auto &entry = root["outputs"][name];
      entry["type"] = heed_type_name(tensor->type);
      entry["shape"] = std::vector<int64_t>(tensor->sizes, tensor->sizes + tensor->rank);
      if (!files.empty())
        entry["file"] = files[std::min(i, files.size() - 1)];
    }
    if (profile)
      for (const KernelTime &kernel : trace.times())
        root["kernels"].push_back(
            {{"name", kernel.name}, {"calls", kernel.calls}, {"seconds", kernel.seconds}});
    fmt::print("{}\n", root.dump(2));
  }
};
} // namespace

void addRun(CLI::App &app) {
  auto run = std::make_shared<Run>();
  CLI::App *command = app.add_subcommand("run", "Call a compiled module on files");
  command->add_option("MODULE", run->module, "A shared library that heed compiled")->required();
  command->add_option("--input", run->inputs, "An input from a .npy or .safetensors file; may be repeated")
      ->type_name("NAME=FILE");
  command->add_option("--output", run->output,
                      "A folder for <name>.npy of each output, or a .safetensors file");
  command->add_option("--entry", run->entry, "The entry to call, where there are several");
  command->add_option("--params", run->params, "The parameter image [NAME.heed beside NAME.so]");
  command->add_option("--threads", run->threads, "Threads; 0: one for each processor")
      ->check(CLI::Range(0, 4096));
  command->add_flag("--profile", run->profile, "Print the time of each kernel");
  command->add_option("--tap", run->taps, "Write this intermediate tensor, too; may be repeated");
  command->add_flag("--json", run->json, "Print JSON");
  command->footer("Example:\n  heed run minilm.so --input input_ids=ids.npy --output out");
  command->callback([run] { run->run(); });
}

} // namespace heed::driver
