#include "compiler/import/Safetensors.h"

#include "compiler/Error.h"
#include "compiler/import/Json.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using nlohmann::json;
using namespace llvm;

namespace heed {

static constexpr struct {
  StringLiteral name;
  unsigned bytes;
} storageTypes[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"U16", 2}, {"I16", 2}, {"F16", 2}, {"BF16", 2},
                    {"U32", 4},  {"I32", 4}, {"F32", 4}, {"U64", 8}, {"I64", 8}, {"F64", 8}};

StringRef storageTypeName(StorageType type) { return storageTypes[size_t(type)].name; }
unsigned storageTypeBytes(StorageType type) { return storageTypes[size_t(type)].bytes; }

std::optional<StorageType> parseStorageType(StringRef name) {
  for (size_t i = 0; i < std::size(storageTypes); ++i)
    if (storageTypes[i].name == name)
      return StorageType(i);
  return std::nullopt;
}

//===--- One file
//-----------------------------------------------------------------------------------------===//

/// The longest header that the reference implementation reads.
static constexpr uint64_t maxHeaderBytes = 100'000'000;

Expected<SafetensorsFile> SafetensorsFile::open(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("{}: {}", path.str(), buffer.getError().message());
  SafetensorsFile file;
  file.path = path.str();
  file.buffer = std::move(*buffer);
  if (Error error = file.parseHeader())
    return error;
  return file;
}

/// A number ≥ 0 that fits in 63 bits; JSON numbers beyond 64 bits are floats here.
static std::optional<uint64_t> parseSize(const json &value) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > INT64_MAX)
    return std::nullopt;
  return value.get<uint64_t>();
}

/// Reads one entry of the header. `dataBegin`, `fileEnd`: offsets in the file.
static Expected<StoredTensor> parseTensor(const std::string &name, const json &entry,
                                          const std::string &place, uint64_t dataBegin, uint64_t fileEnd) {
  auto field = [&](const char *key) {
    return entry.is_object() && entry.contains(key) ? entry[key] : json();
  };
  json dtype = field("dtype"), shape = field("shape"), offsets = field("data_offsets");
  if (!entry.is_object() || entry.size() != 3 || !dtype.is_string() || !shape.is_array() ||
      !offsets.is_array() || offsets.size() != 2)
    return makeError("{}: expected dtype, shape and two data_offsets, but got other fields", place);

  auto type = parseStorageType(dtype.get<std::string>());
  if (!type)
    return makeError("{}: expected a known element type, but got {}", place,
                     inQuotes(dtype.get<std::string>()));
  StoredTensor tensor{name, *type, {}, 0, storageTypeBytes(*type)};
  for (const json &dim : shape) {
    std::optional<uint64_t> size = parseSize(dim);
    if (!size)
      return makeError("{}: expected sizes in [0, 2^63), but got {}", place, dim.dump());
    tensor.shape.push_back(*size);
    bool overflow = false;
    tensor.bytes = SaturatingMultiply(tensor.bytes, *size, &overflow);
    if (overflow || tensor.bytes > INT64_MAX)
      return makeError("{}: expected a size in [0, 2^63) bytes, but shape {} overflows", place, shape.dump());
  }

  std::optional<uint64_t> begin = parseSize(offsets[0]), end = parseSize(offsets[1]);
  if (!begin || !end || *begin > *end || *end > fileEnd - dataBegin)
    return makeError("{}: expected data within the {} bytes there are, but got offsets {}", place,
                     fileEnd - dataBegin, offsets.dump());
  if (*end - *begin != tensor.bytes)
    return makeError("{}: expected {} bytes for {}{}, but got {}", place, tensor.bytes,
                     storageTypeName(*type).str(), shape.dump(), *end - *begin);
  tensor.offset = dataBegin + *begin;
  if (tensor.offset % storageTypeBytes(*type))
    return makeError("{}: expected data on a multiple of {} bytes, but it starts at byte {} of the file",
                     place, storageTypeBytes(*type), tensor.offset);
  return tensor;
}

Error SafetensorsFile::parseHeader() {
  StringRef contents = buffer->getBuffer();
  if (contents.size() < 8)
    return makeError("{}: expected a safetensors file of at least 8 bytes, but got {}", path,
                     contents.size());
  uint64_t headerBytes = support::endian::read64le(contents.data()), fileEnd = contents.size();
  if (headerBytes > maxHeaderBytes || headerBytes > fileEnd - 8)
    return makeError("{}: expected a safetensors header of at most {} bytes, but its length is {}", path,
                     std::min(maxHeaderBytes, fileEnd - 8), headerBytes);
  Expected<json> header = parseJson(contents.substr(8, headerBytes), path + ": header");
  if (!header)
    return header.takeError();
  if (!header->is_object())
    return makeError("{}: expected the header to be a JSON object, but it is a {}", path,
                     header->type_name());

  for (const auto &[name, entry] : header->items()) {
    if (name == "__metadata__") {
      if (!entry.is_object() || !all_of(entry, [](const json &value) { return value.is_string(); }))
        return makeError("{}: expected \"__metadata__\" to hold names and text, but it does not", path);
      metadata = entry.get<std::map<std::string, std::string>>();
      continue;
    }
    Expected<StoredTensor> tensor = parseTensor(
        name, entry, fmt::format("{}: tensor {}", path, inQuotes(name)), 8 + headerBytes, fileEnd);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }

  llvm::sort(tensors, [](const StoredTensor &a, const StoredTensor &b) {
    return std::tie(a.offset, a.bytes, a.name) < std::tie(b.offset, b.bytes, b.name);
  });
  uint64_t end = 8 + headerBytes;
  for (const StoredTensor &tensor : tensors) {
    if (tensor.offset != end)
      return makeError(
          "{}: tensor {}: expected data from byte {} on, where the one before ends, but got {} {}", path,
          inQuotes(tensor.name), end, tensor.offset < end ? "an overlap from" : "a hole up to",
          tensor.offset);
    end = tensor.offset + tensor.bytes;
    numbers[tensor.name] = &tensor - tensors.data();
  }
  if (end != fileEnd)
    return makeError("{}: expected the last tensor to end with the file at byte {}, but it ends at {}", path,
                     fileEnd, end);
  return Error::success();
}

const StoredTensor *SafetensorsFile::find(StringRef name) const {
  auto it = numbers.find(name);
  return it == numbers.end() ? nullptr : &tensors[it->second];
}

//===--- Several files
//------------------------------------------------------------------------------------===//

std::string Checkpoint::Entry::str() const {
  return fmt::format("{}: tensor {}", file->getPath().str(), inQuotes(tensor->name));
}

Expected<Checkpoint> Checkpoint::open(ArrayRef<std::string> paths) {
  Checkpoint checkpoint;
  checkpoint.paths = paths.vec();
  for (auto [source, path] : enumerate(paths)) {
    bool isIndex = sys::path::extension(path) == ".json";
    if (Error error = isIndex ? checkpoint.addIndex(path, source) : checkpoint.addFile(path, source))
      return error;
  }
  return checkpoint;
}

Error Checkpoint::addFile(StringRef path, unsigned source) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.takeError();
  files.emplace_back(source, std::make_unique<SafetensorsFile>(std::move(*file)));
  return Error::success();
}

Error Checkpoint::addIndex(StringRef path, unsigned source) {
  Expected<json> index = readJsonObject(path);
  if (!index)
    return index.takeError();
  json map = index->contains("weight_map") ? (*index)["weight_map"] : json();
  if (!map.is_object() || !all_of(map, [](const json &value) { return value.is_string(); }))
    return makeError("{}: expected \"weight_map\" to hold names of tensors and files, but it does not",
                     path.str());

  std::map<std::string, std::set<std::string>> namesByFile;
  for (const auto &[name, file] : map.items())
    namesByFile[file.get<std::string>()].insert(name);
  for (const auto &[file, names] : namesByFile) {
    if (file != sys::path::filename(file) || sys::path::extension(file) != ".safetensors")
      return makeError("{}: expected the name of a .safetensors file beside it, but got {}", path.str(),
                       inQuotes(file));
    SmallString<128> shard = sys::path::parent_path(path);
    sys::path::append(shard, file);
    if (Error error = addFile(shard, source))
      return error;
    const SafetensorsFile &opened = *files.back().second;
    for (const std::string &name : names)
      if (!opened.find(name))
        return makeError("{}: expected tensor {}, which {} places here, but it is absent", shard.str().str(),
                         inQuotes(name), path.str());
    for (const StoredTensor &tensor : opened.getTensors())
      if (!names.count(tensor.name))
        return makeError("{}: tensor {}: expected {} to place it here, but it does not", shard.str().str(),
                         inQuotes(tensor.name), path.str());
  }
  return Error::success();
}

Expected<Checkpoint::Entry> Checkpoint::find(StringRef name, std::optional<unsigned> source) const {
  for (const auto &[owner, file] : files)
    if (!source || owner == *source)
      if (const StoredTensor *tensor = file->find(name))
        return Entry{file.get(), tensor};
  std::string places =
      source && *source < paths.size() ? paths[*source] : fmt::format("{}", fmt::join(paths, ", "));
  return makeError("{}: expected tensor {}, but there is none", places, inQuotes(name));
}

bool Checkpoint::contains(StringRef name) const {
  return any_of(files, [&](const auto &file) { return file.second->find(name); });
}

std::vector<Checkpoint::Entry> Checkpoint::getEntries() const {
  std::vector<Entry> entries;
  for (const auto &[source, file] : files)
    for (const StoredTensor &tensor : file->getTensors())
      entries.push_back({file.get(), &tensor});
  return entries;
}

//===--- Writing
//------------------------------------------------------------------------------------------===//

void writeSafetensors(raw_ostream &os, std::vector<TensorToWrite> tensors,
                      const std::map<std::string, std::string> &metadata) {
  llvm::sort(tensors, [](const TensorToWrite &a, const TensorToWrite &b) {
    unsigned aBytes = storageTypeBytes(a.type), bBytes = storageTypeBytes(b.type);
    return std::tie(bBytes, a.name) < std::tie(aBytes, b.name);
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  uint64_t end = 0;
  for (const TensorToWrite &tensor : tensors) {
    header[tensor.name] = {{"dtype", storageTypeName(tensor.type).str()},
                           {"shape", tensor.shape},
                           {"data_offsets", {end, end + tensor.data.size()}}};
    end += tensor.data.size();
  }
  std::string text = header.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
  text.resize(alignTo(text.size(), 8), ' ');
  char length[8];
  support::endian::write64le(length, text.size());
  os.write(length, sizeof length) << text;
  for (const TensorToWrite &tensor : tensors)
    os << tensor.data;
}

std::string relativePath(StringRef path, StringRef folder) {
  SmallString<128> to, from;
  if (sys::fs::real_path(path, to) || sys::fs::real_path(folder.empty() ? "." : folder, from))
    return path.str();
  auto toPart = sys::path::begin(to), toEnd = sys::path::end(to);
  auto fromPart = sys::path::begin(from), fromEnd = sys::path::end(from);
  while (toPart != toEnd && fromPart != fromEnd && *toPart == *fromPart)
    ++toPart, ++fromPart;
  SmallString<128> relative;
  for (; fromPart != fromEnd; ++fromPart)
    sys::path::append(relative, "..");
  for (; toPart != toEnd; ++toPart)
    sys::path::append(relative, *toPart);
  return relative.str().str();
}

} // namespace heed
