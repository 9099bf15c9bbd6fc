// The parameter image of a module; see ParameterImage.h.
#include "compiler/import/ParameterImage.h"

#include "compiler/Error.h"
#include "compiler/import/Json.h"
#include "compiler/import/Production.h"
#include "runtime/heed_kernel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::Error;
using llvm::Expected;

namespace heed {

namespace {

/// All parameters of a module, planned.
struct Image {
  ModuleInterface interface;
  std::vector<Production> productions;

  static Expected<Image> plan(ModuleOp module, const Checkpoint &source);
  void write(llvm::raw_ostream &os, llvm::BLAKE3 *hasher, ImageProgress progress) const;
  std::string header(StringRef digest) const;
};

} // namespace

Expected<Image> Image::plan(ModuleOp module, const Checkpoint &source) {
  Image image;
  FailureOr<ModuleInterface> interface = ModuleInterface::get(module);
  if (failed(interface))
    return makeError("expected a module whose parameters are laid out, but it is not");
  image.interface = std::move(*interface);
  for (const ParameterInterface &parameter : image.interface.parameters) {
    Expected<Production> production = Production::plan(module, source, parameter);
    if (!production)
      return production.takeError();
    image.productions.push_back(std::move(*production));
  }
  return image;
}

void Image::write(llvm::raw_ostream &os, llvm::BLAKE3 *hasher, ImageProgress progress) const {
  uint64_t written = 0;
  auto put = [&](StringRef piece) {
    os << piece;
    if (hasher)
      hasher->update(piece);
    written += piece.size();
    progress(written, interface.parameterBytes);
  };
  auto pad = [&](uint64_t end) { put(std::string(end - written, '\0')); };
  for (auto [parameter, production] : llvm::zip_equal(interface.parameters, productions)) {
    pad(parameter.offset);
    production.run(put);
  }
  pad(interface.parameterBytes);
}

/// The length and JSON of the header, which ends on a page.
std::string Image::header(StringRef digest) const {
  using json = nlohmann::ordered_json;
  json metadata = {{"heed.format_version", std::to_string(HEED_PARAMS_FORMAT_VERSION)},
                   {"heed.layout_id", interface.layoutId()},
                   {"heed.digest", digest.str()}};
  json header = {{"__metadata__", json()}};
  uint64_t end = 0;
  // The format wants no holes: what lies between parameters is a tensor too.
  auto pad = [&](uint64_t to) {
    if (to > end)
      header[fmt::format("#padding.{}", end)] = {
          {"dtype", "U8"}, {"shape", {to - end}}, {"data_offsets", {end, to}}};
    end = to;
  };
  for (auto [parameter, production] : llvm::zip_equal(interface.parameters, productions)) {
    pad(parameter.offset);
    end += parameter.bytes;
    header[parameter.name] = {
        {"dtype", storageTypeName(production.type).str()},
        {"shape", std::vector<int64_t>(production.shape.begin(), production.shape.end())},
        {"data_offsets", {parameter.offset, end}}};
    std::string type;
    llvm::raw_string_ostream(type) << parameter.elementType;
    metadata[parameter.name] =
        fmt::format("{}[{}] as {}", type, fmt::join(parameter.shape, ", "), parameter.storage);
  }
  pad(interface.parameterBytes);
  header["__metadata__"] = metadata;

  std::string text = header.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
  text.resize(llvm::alignTo(8 + text.size(), HEED_PARAMS_PAGE) - 8, ' ');
  char length[8];
  llvm::support::endian::write64le(length, text.size());
  return std::string(length, sizeof length) + text;
}

static std::string hexDigest(llvm::BLAKE3 &hasher) {
  return llvm::toHex(ArrayRef<uint8_t>(hasher.final<32>()), /*LowerCase=*/true);
}

Error writeParameterImage(ModuleOp module, const Checkpoint &source, llvm::raw_pwrite_stream &os,
                          ImageProgress progress) {
  Expected<Image> image = Image::plan(module, source);
  if (!image)
    return image.takeError();
  // The digest is known at the end, its length before.
  uint64_t start = os.tell();
  os << image->header(std::string(64, '0'));
  llvm::BLAKE3 hasher;
  image->write(os, &hasher, progress);
  std::string header = image->header(hexDigest(hasher));
  os.pwrite(header.data(), header.size(), start);
  return Error::success();
}

Error writeParameterImage(ModuleOp module, const Checkpoint &source, StringRef path, ImageProgress progress) {
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  Error error = code ? Error::success() : writeParameterImage(module, source, os, progress);
  os.flush();
  if (!code)
    code = os.error();
  os.clear_error(); // or the destructor ends the process
  if (error || !code)
    return error;
  return makeError("{}: {}", path.str(), code.message());
}

Error writeParameterData(ModuleOp module, const Checkpoint &source, llvm::raw_ostream &os,
                         ImageProgress progress) {
  Expected<Image> image = Image::plan(module, source);
  if (!image)
    return image.takeError();
  image->write(os, nullptr, progress);
  return Error::success();
}

Error checkParameterImage(StringRef path) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.takeError();
  auto wanted = file->getMetadata().find("heed.digest");
  if (wanted == file->getMetadata().end())
    return makeError("{}: expected a parameter image with heed.digest, but it has none", path.str());
  llvm::BLAKE3 hasher;
  for (const StoredTensor &tensor : file->getTensors())
    hasher.update(file->getData(tensor));
  if (std::string digest = hexDigest(hasher); digest != wanted->second)
    return makeError("{}: expected data with digest {}, but got {}", path.str(), wanted->second, digest);
  return Error::success();
}

} // namespace heed
