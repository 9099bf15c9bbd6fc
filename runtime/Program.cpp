// The program around one module: reads tensors from files, calls an entry, writes files.
#include "runtime/Error.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static constexpr char usage[] = R"(usage: %s --input NAME=FILE ... --output DIR [options]

Runs one entry of the compiled model '%s'.

  --input NAME=FILE       a tensor for each input, .npy or .safetensors; optional ones may be left out
  --output DIR            writes DIR/NAME.npy for each output (bf16: DIR/NAME.safetensors)
  --entry NAME            which entry, where there are several
  --params FILE           the parameter image; default: beside this program, with the suffix .heed
  --threads N             0 (default): one for each processor
  --help

)";

namespace {

/// Everything a run holds, released at its end.
struct Run {
  explicit Run(const heed_module *module) : module(module) {}
  Run(const Run &) = delete;
  ~Run() {
    for (int32_t i = 0; tensors && i < entry->argument_count; ++i)
      heed_tensor_free(&tensors[i]);
    free(tensors);
    free(sizes);
    heed_params_unmap(params);
    heed_pool_destroy(pool);
  }

  int parse(int argc, char **argv, heed_error *error);
  int readInputs(int argc, char **argv, heed_error *error);
  int mapParams(heed_error *error);
  int call(heed_error *error);
  int writeOutputs(heed_error *error);

  const heed_module *module;
  const char *outputFolder = nullptr, *entryName = nullptr, *paramsPath = nullptr;
  long threads = 0;
  const heed_entry *entry = nullptr;
  heed_tensor *tensors = nullptr;
  int64_t *sizes = nullptr;
  heed_params *params = nullptr;
  heed_pool *pool = nullptr;
};

int Run::parse(int argc, char **argv, heed_error *error) {
  for (int i = 1; i < argc; i += 2) {
    const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : nullptr;
    const char **text = !strcmp(option, "--output")   ? &outputFolder
                        : !strcmp(option, "--entry")  ? &entryName
                        : !strcmp(option, "--params") ? &paramsPath
                                                      : nullptr;
    bool isInput = !strcmp(option, "--input"), isThreads = !strcmp(option, "--threads");
    if (!text && !isInput && !isThreads)
      return heed_fail(error, "expected an option, but got '%s'; see --help", option);
    if (!value)
      return heed_fail(error, "expected a value after %s", option);
    if (text)
      *text = value;
    char *end = nullptr;
    if (isThreads && ((threads = strtol(value, &end, 10)) < 0 || threads > 4096 || end == value || *end))
      return heed_fail(error, "expected 0 to 4096 threads, but got '%s'", value);
  }
  if (!outputFolder)
    return heed_fail(error, "expected --output DIR; see --help");
  entry = heed_find_entry(module, entryName, error);
  return entry ? 0 : -1;
}

int Run::readInputs(int argc, char **argv, heed_error *error) {
  tensors = static_cast<heed_tensor *>(calloc(entry->argument_count + 1, sizeof(heed_tensor)));
  sizes = static_cast<int64_t *>(calloc(entry->size_count + 1, sizeof(int64_t)));
  if (!tensors || !sizes)
    return heed_fail(error, "out of memory");
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--input") != 0)
      continue;
    char *name = argv[i + 1], *file = strchr(name, '=');
    if (!file)
      return heed_fail(error, "expected --input NAME=FILE, but got '%s'", name);
    *file++ = 0;
    int32_t number = heed_find_argument(entry, name);
    if (number < 0 || entry->arguments[number]->role == HEED_OUTPUT) {
      heed_line names = {};
      for (int32_t j = 0; j < entry->argument_count && entry->arguments[j]->role != HEED_OUTPUT; ++j)
        heed_append(&names, "%s%s", j ? ", " : "", entry->arguments[j]->name);
      return heed_fail(error, "expected one of the inputs %s, but got '%s'", names.text, name);
    }
    if (tensors[number].data)
      return heed_fail(error, "expected input '%s' once, but got it twice", name);
    if (heed_tensor_read(file, name, &tensors[number], error))
      return -1;
  }
  return 0;
}

int Run::mapParams(heed_error *error) {
  char program[PATH_MAX], beside[PATH_MAX];
  const char *path = paramsPath;
  if (!path && module->parameters && !module->parameters->embedded) {
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
      return heed_fail(error, "expected to find this program's file, but got: %s", strerror(errno));
    program[length] = 0;
    if (heed_params_beside(program, beside, sizeof beside, error))
      return -1;
    path = beside;
  }
  return path || module->parameters ? heed_params_map(module, path, &params, error) : 0;
}

int Run::call(heed_error *error) {
  if (heed_pool_create(static_cast<int32_t>(threads), &pool, error) ||
      heed_infer_sizes(entry, tensors, sizes, error) || heed_allocate_outputs(entry, sizes, tensors, error))
    return -1;
  return heed_call(entry, tensors, heed_params_data(params), nullptr, heed_pool_context(pool), error);
}

int Run::writeOutputs(heed_error *error) {
  if (mkdir(outputFolder, 0777) != 0 && errno != EEXIST)
    return heed_fail(error, "%s: expected to make a folder, but got: %s", outputFolder, strerror(errno));
  for (int32_t i = 0; i < entry->argument_count; ++i) {
    const heed_argument *argument = entry->arguments[i];
    if (argument->role == HEED_INPUT)
      continue;
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s.npy", outputFolder, argument->name) >=
        static_cast<int>(sizeof path))
      return heed_fail(error, "%s: expected a shorter path", outputFolder);
    if (heed_tensor_write(path, argument->name, &tensors[i], error))
      return -1;
  }
  return 0;
}

} // namespace

int heed_program(const heed_module *module, int argc, char **argv) {
  const char *name = argc > 0 ? argv[0] : "program";
  for (int i = 1; i < argc; ++i)
    if (!strcmp(argv[i], "--help")) {
      printf(usage, name, module ? module->name : "?");
      return 0;
    }
  heed_error error;
  if (!module) {
    fprintf(stderr, "%s: error: expected a module that speaks ABI version %d\n", name, HEED_ABI_VERSION);
    return 1;
  }
  Run run(module);
  // Nothing is written before everything has been computed.
  if (run.parse(argc, argv, &error) || run.readInputs(argc, argv, &error) || run.mapParams(&error) ||
      run.call(&error) || run.writeOutputs(&error)) {
    fprintf(stderr, "%s: error: %s\n", name, error.message);
    return 1;
  }
  return 0;
}
