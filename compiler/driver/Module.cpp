// Compiled modules in this process; see Module.h.
#include "compiler/driver/Module.h"

#include "compiler/import/Safetensors.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heed::driver {

/// The runtime's line as a failure.
static void check(int failed, const heed_error &error) {
  if (failed)
    throw Failure(error.message);
}

//===--- Tensors
//------------------------------------------------------------------------------------------===//

static constexpr std::pair<StorageType, heed_type> types[] = {
    {StorageType::Bool, {HEED_TYPE_BOOL, 8, 1}},    {StorageType::U8, {HEED_TYPE_UINT, 8, 1}},
    {StorageType::I8, {HEED_TYPE_INT, 8, 1}},       {StorageType::U16, {HEED_TYPE_UINT, 16, 1}},
    {StorageType::I16, {HEED_TYPE_INT, 16, 1}},     {StorageType::F16, {HEED_TYPE_FLOAT, 16, 1}},
    {StorageType::BF16, {HEED_TYPE_BFLOAT, 16, 1}}, {StorageType::U32, {HEED_TYPE_UINT, 32, 1}},
    {StorageType::I32, {HEED_TYPE_INT, 32, 1}},     {StorageType::F32, {HEED_TYPE_FLOAT, 32, 1}},
    {StorageType::U64, {HEED_TYPE_UINT, 64, 1}},    {StorageType::I64, {HEED_TYPE_INT, 64, 1}},
    {StorageType::F64, {HEED_TYPE_FLOAT, 64, 1}},
};

static heed_type toHost(StorageType type) {
  return find_if(types, [&](const auto &known) { return known.first == type; })->second;
}

static StorageType toStorage(heed_type type) {
  return find_if(types,
                 [&](const auto &known) {
                   return known.second.code == type.code && known.second.bits == type.bits;
                 })
      ->first;
}

HostTensor::HostTensor(heed_type type, ArrayRef<int64_t> shape) {
  heed_error error;
  driver::check(heed_tensor_allocate(type, shape.size(), shape.data(), &tensor, &error), error);
}

HostTensor HostTensor::read(StringRef path, StringRef name) {
  HostTensor result;
  if (!path.ends_with(".safetensors")) {
    heed_error error;
    driver::check(heed_npy_read(path.str().c_str(), &result.tensor, &error), error);
    return result;
  }
  SafetensorsFile file = unwrap(SafetensorsFile::open(path));
  const StoredTensor *stored = file.find(name);
  if (!stored && file.getTensors().size() == 1)
    stored = &file.getTensors().front();
  if (!stored)
    fail(path, "expected a tensor '" + name + "', but there is none");
  result = HostTensor(toHost(stored->type), stored->shape);
  memcpy(result.tensor.data, file.getData(*stored).data(), stored->bytes);
  return result;
}

std::string describe(const heed_tensor &tensor) {
  std::string text = heed_type_name(tensor.type);
  for (int32_t i = 0; i < tensor.rank; ++i)
    text += (i ? "x" : "[") + std::to_string(tensor.sizes[i]);
  return text + (tensor.rank ? "]" : "");
}

static TensorToWrite toWrite(StringRef name, const heed_tensor &tensor) {
  size_t bytes = heed_tensor_count(&tensor) * (tensor.type.bits / 8);
  return {name.str(),
          toStorage(tensor.type),
          {tensor.sizes, tensor.sizes + tensor.rank},
          {static_cast<const char *>(tensor.data), bytes}};
}

std::vector<std::string>
writeTensors(StringRef place, const std::vector<std::pair<std::string, const heed_tensor *>> &tensors) {
  Outputs outputs;
  if (place.ends_with(".safetensors")) {
    std::vector<TensorToWrite> all;
    for (const auto &[name, tensor] : tensors)
      all.push_back(toWrite(name, *tensor));
    writeSafetensors(outputs.open(place), std::move(all));
    outputs.commit();
    return {place.str()};
  }
  if (std::error_code error = sys::fs::create_directories(place))
    fail(place, "expected a folder to write to, but got: " + error.message());
  std::vector<std::string> files;
  for (const auto &[name, tensor] : tensors) {
    bool isBf16 = tensor->type.code == HEED_TYPE_BFLOAT;
    SmallString<128> path(place);
    sys::path::append(path, name + (isBf16 ? ".safetensors" : ".npy"));
    heed_error error;
    if (isBf16)
      writeSafetensors(outputs.open(path), {toWrite(name, *tensor)});
    else
      check(heed_npy_write(path.c_str(), tensor, &error), error);
    files.push_back(path.str().str());
  }
  outputs.commit();
  return files;
}

//===--- Modules
//------------------------------------------------------------------------------------------===//

/// A library that was cut short would end this process when its missing pages are touched.
static void checkWhole(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return; // the runtime says why
  auto elf = object::ELF64LEFile::create((*file)->getBuffer());
  auto segments = elf ? elf->program_headers() : elf.takeError();
  if (!segments) {
    consumeError(segments.takeError());
    return fail(path, "expected a shared library, but it is none");
  }
  for (const auto &segment : *segments)
    if (segment.p_offset + segment.p_filesz > (*file)->getBufferSize())
      fail(path, "expected a whole shared library, but it ends after " + Twine((*file)->getBufferSize()) +
                     " bytes");
}

LoadedModule::LoadedModule(StringRef path, StringRef paramsPath, int32_t threads) {
  checkWhole(path);
  heed_error error;
  check(heed_library_open(path.str().c_str(), &library, &error), error);
  const heed_parameters *wanted = heed_library_module(library)->parameters;
  std::string image = paramsPath.str();
  if (image.empty() && wanted && !wanted->embedded) {
    SmallString<128> beside(path);
    sys::path::replace_extension(beside, ".heed");
    image = beside.str().str();
  }
  int failed = heed_params_map(heed_library_module(library), image.empty() ? nullptr : image.c_str(), &params,
                               &error) ||
               heed_pool_create(threads, &pool, &error);
  if (failed) {
    heed_params_unmap(params);
    heed_library_close(library);
    check(failed, error);
  }
}

LoadedModule::~LoadedModule() {
  heed_pool_destroy(pool);
  heed_params_unmap(params);
  heed_library_close(library);
}

const heed_entry &LoadedModule::findEntry(StringRef name) const {
  heed_error error;
  const heed_entry *entry =
      heed_find_entry(heed_library_module(library), name.empty() ? nullptr : name.str().c_str(), &error);
  check(!entry, error);
  return *entry;
}

//===--- Calls
//--------------------------------------------------------------------------------------------===//

Call::Call(const LoadedModule &module, const heed_entry &entry, std::map<std::string, HostTensor> inputs,
           ArrayRef<int64_t> sizes)
    : module(module), entry(entry), tensors(entry.argument_count), sizeValues(sizes) {
  for (auto &[name, tensor] : inputs) {
    int32_t index = heed_find_argument(&entry, name.c_str());
    if (index < 0 || entry.arguments[index]->role == HEED_OUTPUT)
      fail(entry.name, "expected an input among " + listNames(entry.arguments, entry.argument_count) +
                           ", but got " + name);
    tensors[index] = std::move(tensor);
  }
  heed_error error;
  std::vector<heed_tensor> given = views();
  if (sizes.empty()) {
    sizeValues.resize(entry.size_count);
    check(heed_infer_sizes(&entry, given.data(), sizeValues.data(), &error), error);
  }
  check(heed_allocate_outputs(&entry, sizeValues.data(), given.data(), &error), error);
  for (int32_t i = 0; i < entry.argument_count; ++i)
    if (given[i].data != tensors[i]->data)
      tensors[i] = HostTensor(given[i]);
}

Call::~Call() { heed_workspace_free(&workspace); }

std::vector<heed_tensor> Call::views() const {
  std::vector<heed_tensor> all;
  for (const HostTensor &tensor : tensors)
    all.push_back(*tensor);
  return all;
}

void Call::run(const heed_context &context) {
  heed_error error;
  check(heed_call(&entry, views().data(), module.parameters(), &workspace, &context, &error), error);
}

std::vector<std::pair<std::string, const heed_tensor *>> Call::results() const {
  std::vector<std::pair<std::string, const heed_tensor *>> results;
  for (int32_t i = 0; i < entry.argument_count; ++i)
    if (entry.arguments[i]->role != HEED_INPUT)
      results.emplace_back(entry.arguments[i]->name, &*tensors[i]);
  return results;
}

} // namespace heed::driver
