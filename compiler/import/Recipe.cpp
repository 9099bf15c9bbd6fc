#include "compiler/import/Recipe.h"

#include "compiler/Error.h"
#include "compiler/import/Json.h"
#include "mlir/IR/Builders.h"
#include "runtime/heed_kernel.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using llvm::Error;
using llvm::Expected;

namespace heed {

static constexpr StringLiteral paramsAttr = "heed.params", recipeAttr = "heed.recipe";

//===--- Recipes as attributes
//----------------------------------------------------------------------------===//

namespace {

/// See Recipe.h.
struct Part {
  std::string tensor;
  std::optional<unsigned> source;
  SmallVector<std::pair<int64_t, int64_t>> slices;
  SmallVector<int64_t> permutation;
};

struct Panels {
  int64_t dim, width;
};

struct Recipe {
  SmallVector<Part> parts;
  int64_t concatenation = 0;
  std::optional<Panels> panels;
  /// Null: the type of the attn.param.
  RankedTensorType logical;
};

} // namespace

static std::optional<int64_t> getInteger(DictionaryAttr dictionary, StringRef key) {
  auto integer = dictionary.getAs<IntegerAttr>(key);
  return integer ? std::optional(integer.getInt()) : std::nullopt;
}

static std::optional<Part> parsePart(DictionaryAttr attribute) {
  Part part;
  auto tensor = attribute.getAs<StringAttr>("tensor");
  if (!tensor)
    return std::nullopt;
  part.tensor = tensor.str();
  if (std::optional<int64_t> source = getInteger(attribute, "source"))
    part.source = *source;
  if (auto slices = attribute.getAs<ArrayAttr>("slices"))
    for (Attribute element : slices) {
      auto slice = dyn_cast<DenseI64ArrayAttr>(element);
      if (!slice || slice.size() != 2)
        return std::nullopt;
      part.slices.emplace_back(slice[0], slice[1]);
    }
  if (auto permutation = attribute.getAs<DenseI64ArrayAttr>("permutation"))
    part.permutation.assign(permutation.asArrayRef().begin(), permutation.asArrayRef().end());
  return part;
}

static std::optional<Recipe> parseRecipe(DictionaryAttr attribute) {
  Recipe recipe;
  SmallVector<Attribute> parts{attribute};
  if (auto list = attribute.getAs<ArrayAttr>("parts"))
    parts.assign(list.begin(), list.end());
  for (Attribute element : parts) {
    auto dictionary = dyn_cast<DictionaryAttr>(element);
    std::optional<Part> part = dictionary ? parsePart(dictionary) : std::nullopt;
    if (!part)
      return std::nullopt;
    recipe.parts.push_back(std::move(*part));
  }
  recipe.concatenation = getInteger(attribute, "concatenation").value_or(0);
  if (auto panels = attribute.getAs<DictionaryAttr>("panels")) {
    std::optional<int64_t> dim = getInteger(panels, "dim"), width = getInteger(panels, "width");
    if (!dim || !width || *dim < 0 || *width < 1)
      return std::nullopt;
    recipe.panels = {*dim, *width};
  }
  if (auto logical = attribute.getAs<TypeAttr>("logical"))
    recipe.logical = dyn_cast<RankedTensorType>(logical.getValue());
  if (recipe.panels && (!recipe.logical || recipe.panels->dim >= recipe.logical.getRank()))
    return std::nullopt;
  return recipe;
}

static DictionaryAttr getRecipes(ModuleOp module) {
  auto recipes = module->getAttrOfType<DictionaryAttr>(recipeAttr);
  return recipes ? recipes : DictionaryAttr::get(module.getContext());
}

/// The recipe of `name`; without one it is the tensor of that name as it is.
static Expected<Recipe> getRecipe(ModuleOp module, StringRef name) {
  Attribute attribute = getRecipes(module).get(name);
  if (!attribute)
    return Recipe{{Part{name.str(), {}, {}, {}}}, 0, {}, {}};
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  std::optional<Recipe> recipe = dictionary ? parseRecipe(dictionary) : std::nullopt;
  if (recipe)
    return std::move(*recipe);
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return makeError("{}: expected a recipe of {}, but got {}", recipeAttr.str(), inQuotes(name), text);
}

RankedTensorType getPanelType(RankedTensorType logical, int64_t dim, int64_t width) {
  SmallVector<int64_t> shape(logical.getShape());
  shape[dim] = llvm::divideCeil(shape[dim], width);
  shape.push_back(width);
  return RankedTensorType::get(shape, logical.getElementType());
}

std::string addPanelRecipe(ModuleOp module, StringRef name, RankedTensorType logical, int64_t dim,
                           int64_t width) {
  Builder builder(module.getContext());
  std::string derived = fmt::format("{}#panels{}", name.str(), width);
  if (dim != 0)
    derived += fmt::format(".dim{}", dim);
  DictionaryAttr recipes = getRecipes(module);
  if (recipes.contains(derived))
    return derived;

  auto original = recipes.getAs<DictionaryAttr>(name);
  NamedAttrList recipe(original);
  if (!original)
    recipe.append("tensor", builder.getStringAttr(name));
  recipe.set("logical", TypeAttr::get(logical));
  recipe.set("panels",
             builder.getDictionaryAttr({builder.getNamedAttr("dim", builder.getI64IntegerAttr(dim)),
                                        builder.getNamedAttr("width", builder.getI64IntegerAttr(width))}));
  NamedAttrList all(recipes);
  all.append(derived, recipe.getDictionary(module.getContext()));
  module->setAttr(recipeAttr, all.getDictionary(module.getContext()));
  return derived;
}

Expected<ParameterInterface> describeParameter(ModuleOp module, StringRef name, RankedTensorType type) {
  Expected<Recipe> recipe = getRecipe(module, name);
  if (!recipe)
    return recipe.takeError();
  RankedTensorType logical = recipe->logical ? recipe->logical : type, stored = logical;
  if (std::optional<Panels> panels = recipe->panels)
    stored = getPanelType(logical, panels->dim, panels->width);
  if (stored.getShape() != type.getShape() || !type.hasStaticShape())
    return makeError("parameter {}: expected shape [{}] by its recipe, but got [{}]", inQuotes(name),
                     fmt::join(stored.getShape(), ", "), fmt::join(type.getShape(), ", "));

  ParameterInterface parameter;
  parameter.name = name.str();
  parameter.elementType = logical.getElementType();
  parameter.shape = logical.getShape().vec();
  llvm::raw_string_ostream(parameter.storage) << type.getElementType();
  if (std::optional<Panels> panels = recipe->panels)
    parameter.storage += fmt::format(" panels of {}", panels->width) +
                         (panels->dim ? fmt::format(" along {}", panels->dim) : "");
  parameter.bytes = type.getNumElements() * elementBytes(type.getElementType());
  return parameter;
}

//===--- Sources
//------------------------------------------------------------------------------------------===//

/// The names in heed.params.
static std::vector<std::string> getSources(ModuleOp module) {
  std::vector<std::string> sources;
  Attribute attribute = module->getAttr(paramsAttr);
  if (auto one = dyn_cast_or_null<StringAttr>(attribute))
    sources.push_back(one.str());
  if (auto list = dyn_cast_or_null<ArrayAttr>(attribute))
    for (auto name : list.getAsRange<StringAttr>())
      sources.push_back(name.str());
  return sources;
}

static std::string resolve(StringRef folder, StringRef name) {
  if (folder.empty() || llvm::sys::path::is_absolute(name))
    return name.str();
  llvm::SmallString<128> path = folder;
  llvm::sys::path::append(path, name);
  return path.str().str();
}

Expected<Checkpoint> openParameters(ModuleOp module, StringRef folder, ArrayRef<std::string> overrides) {
  std::vector<std::string> paths = overrides.vec();
  if (paths.empty())
    for (const std::string &name : getSources(module))
      paths.push_back(resolve(folder, name));
  if (paths.empty())
    return makeError("expected the module to name its parameters in {}, but it names none", paramsAttr.str());
  return Checkpoint::open(paths);
}

void rebaseParameters(ModuleOp module, StringRef from, StringRef to) {
  SmallVector<Attribute> names;
  for (const std::string &name : getSources(module))
    names.push_back(StringAttr::get(module.getContext(), relativePath(resolve(from, name), to)));
  if (names.empty())
    return;
  bool isList = isa<ArrayAttr>(module->getAttr(paramsAttr));
  module->setAttr(paramsAttr, isList ? Attribute(ArrayAttr::get(module.getContext(), names)) : names[0]);
}

//===--- Elements
//-----------------------------------------------------------------------------------------===//

namespace {

/// f32 bits of f16 bits: exact.
uint32_t widenF16(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  if (exponent == 0x1f)
    return sign | 0x7f800000 | fraction << 13;
  if (exponent)
    return sign | (exponent + 112) << 23 | fraction << 13;
  // Subnormal: fraction · 2^-24 is normal in f32.
  return sign | llvm::bit_cast<uint32_t>(float(fraction) * 0x1p-24f);
}

/// f16 bits of f32 bits, to nearest even; a NaN stays quiet.
uint16_t narrowF16(uint32_t bits) {
  uint16_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
  if (magnitude >= 0x477ff000) // rounds to 2^16 or more
    return sign | 0x7c00;
  if (magnitude <
      0x38800000) { // below the least normal: adding 1/2 leaves the result in the low bits, rounded
    float shifted = llvm::bit_cast<float>(magnitude) + 0.5f;
    return sign | (llvm::bit_cast<uint32_t>(shifted) - 0x3f000000);
  }
  uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return sign | ((rounded - (112u << 23)) >> 13);
}

uint16_t narrowBF16(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000)
    return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/// Reads `count` elements `stride` bytes apart, and writes them one after the other.
using ConvertRun = void (*)(const char *from, int64_t stride, int64_t count, char *to);

template <typename From, typename To, To (*convert)(From)>
void convertRun(const char *from, int64_t stride, int64_t count, char *to) {
  for (int64_t i = 0; i < count; ++i, from += stride, to += sizeof(To))
    llvm::support::endian::write<To, llvm::endianness::little>(
        to, convert(llvm::support::endian::read<From, llvm::endianness::little>(from)));
}

template <typename T> T same(T bits) { return bits; }
uint32_t widenBF16(uint16_t bits) { return uint32_t(bits) << 16; }
uint16_t bf16OfF16(uint16_t bits) { return narrowBF16(widenF16(bits)); }
uint16_t f16OfBF16(uint16_t bits) { return narrowF16(widenBF16(bits)); }

/// Null if there is no such conversion.
ConvertRun getConvertRun(StorageType from, StorageType to) {
  using S = StorageType;
  if (from == to)
    switch (storageTypeBytes(from)) {
    case 1:
      return convertRun<uint8_t, uint8_t, same<uint8_t>>;
    case 2:
      return convertRun<uint16_t, uint16_t, same<uint16_t>>;
    case 4:
      return convertRun<uint32_t, uint32_t, same<uint32_t>>;
    default:
      return convertRun<uint64_t, uint64_t, same<uint64_t>>;
    }
  if (from == S::F16 && to == S::F32)
    return convertRun<uint16_t, uint32_t, widenF16>;
  if (from == S::BF16 && to == S::F32)
    return convertRun<uint16_t, uint32_t, widenBF16>;
  if (from == S::F32 && to == S::F16)
    return convertRun<uint32_t, uint16_t, narrowF16>;
  if (from == S::F32 && to == S::BF16)
    return convertRun<uint32_t, uint16_t, narrowBF16>;
  if (from == S::F16 && to == S::BF16)
    return convertRun<uint16_t, uint16_t, bf16OfF16>;
  if (from == S::BF16 && to == S::F16)
    return convertRun<uint16_t, uint16_t, f16OfBF16>;
  return nullptr;
}

/// The element type of a parameter's storage, from its first word.
std::optional<StorageType> getStorageType(const ParameterInterface &parameter) {
  StringRef word = StringRef(parameter.storage).split(' ').first;
  if (word == "i1")
    return StorageType::Bool;
  return parseStorageType(word.upper());
}

//===--- Executing recipes
//--------------------------------------------------------------------------------===//

/// A part as it lies in its file: a strided view.
struct View {
  const char *data;
  SmallVector<int64_t> shape, strides; // in elements; in bytes
  ConvertRun convert;
};

Expected<View> makeView(const Checkpoint &source, const Part &part, StorageType to) {
  Expected<Checkpoint::Entry> entry = source.find(part.tensor, part.source);
  if (!entry)
    return entry.takeError();
  const StoredTensor &tensor = *entry->tensor;
  View view{entry->getData().data(), {}, {}, getConvertRun(tensor.type, to)};
  if (!view.convert)
    return makeError("{}: expected elements that convert to {}, but got {}", entry->str(),
                     storageTypeName(to).str(), storageTypeName(tensor.type).str());

  size_t rank = tensor.shape.size();
  SmallVector<int64_t> shape(ArrayRef(tensor.shape)), strides(rank, storageTypeBytes(tensor.type));
  for (size_t i = rank; i-- > 1;)
    strides[i - 1] = strides[i] * tensor.shape[i];
  if (!part.slices.empty() && part.slices.size() != rank)
    return makeError("{}: expected {} dimensions for its recipe, but got {}", entry->str(),
                     part.slices.size(), rank);
  for (auto [i, slice] : llvm::enumerate(part.slices)) {
    auto [offset, size] = slice;
    if (offset < 0 || size < 0 || offset > shape[i] || size > shape[i] - offset)
      return makeError("{}: expected at least {} + {} in dimension {}, but got {}", entry->str(), offset,
                       size, i, shape[i]);
    view.data += offset * strides[i];
    shape[i] = size;
  }

  SmallVector<int64_t> permutation(part.permutation);
  if (permutation.empty())
    permutation.append(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  if (permutation.size() != rank || !isPermutationVector(permutation))
    return makeError("{}: expected a permutation of {} dimensions in its recipe, but got [{}]", entry->str(),
                     rank, fmt::join(part.permutation, ", "));
  for (int64_t from : permutation) {
    view.shape.push_back(shape[from]);
    view.strides.push_back(strides[from]);
  }
  return view;
}

/// One parameter of the image, ready to be written.
class Production {
public:
  static Expected<Production> plan(ModuleOp module, const Checkpoint &source,
                                   const ParameterInterface &parameter);

  /// Calls `write` with one piece of the stored tensor after the other.
  void run(llvm::function_ref<void(StringRef)> write) const;

  StorageType type;
  /// As stored.
  SmallVector<int64_t> shape;

private:
  /// Copies `count` elements from `index` on along dimension `dim`.
  void copyRun(SmallVector<int64_t> index, size_t dim, int64_t count, char *to) const;

  SmallVector<View> views;
  SmallVector<int64_t> logical;
  size_t concatenation = 0;
  std::optional<Panels> panels;
};

Expected<Production> Production::plan(ModuleOp module, const Checkpoint &source,
                                      const ParameterInterface &parameter) {
  Expected<Recipe> recipe = getRecipe(module, parameter.name);
  if (!recipe)
    return recipe.takeError();
  Production production;
  std::optional<StorageType> type = getStorageType(parameter);
  if (!type)
    return makeError("parameter {}: expected a known storage, but got {}", inQuotes(parameter.name),
                     inQuotes(parameter.storage));
  production.type = *type;
  production.logical.assign(parameter.shape.begin(), parameter.shape.end());
  production.concatenation = recipe->concatenation;
  production.panels = recipe->panels;
  for (const Part &part : recipe->parts) {
    Expected<View> view = makeView(source, part, *type);
    if (!view)
      return view.takeError();
    production.views.push_back(std::move(*view));
  }

  SmallVector<int64_t> made = production.views.front().shape;
  for (const View &view : ArrayRef(production.views).drop_front()) {
    size_t dim = production.concatenation;
    SmallVector<int64_t> other = view.shape;
    bool fits = other.size() == made.size() && dim < made.size();
    if (fits)
      made[dim] += std::exchange(other[dim], made[dim] + other[dim]);
    if (!fits || other != made)
      return makeError("parameter {}: expected parts that differ in dimension {} only, but got [{}] and [{}]",
                       inQuotes(parameter.name), dim, fmt::join(made, ", "), fmt::join(view.shape, ", "));
  }
  if (ArrayRef(made) != ArrayRef(parameter.shape)) {
    Expected<Checkpoint::Entry> entry =
        source.find(recipe->parts.front().tensor, recipe->parts.front().source);
    return makeError("{}: expected shape [{}]{}, but got [{}]", entry->str(),
                     fmt::join(parameter.shape, ", "),
                     recipe->parts.size() > 1 ? " with what its recipe adds" : "", fmt::join(made, ", "));
  }

  production.shape = production.logical;
  if (recipe->panels) {
    production.shape[recipe->panels->dim] =
        llvm::divideCeil(production.shape[recipe->panels->dim], recipe->panels->width);
    production.shape.push_back(recipe->panels->width);
  }
  return production;
}

void Production::copyRun(SmallVector<int64_t> index, size_t dim, int64_t count, char *to) const {
  for (const View &view : views) {
    // Parts before the one that holds the index lie below it.
    int64_t size = concatenation < view.shape.size() ? view.shape[concatenation] : 1;
    if (views.size() > 1 && index[concatenation] >= size) {
      index[concatenation] -= size;
      continue;
    }
    int64_t here = dim == concatenation && views.size() > 1 ? std::min(count, size - index[dim]) : count;
    const char *from = view.data;
    for (auto [i, stride] : llvm::zip_equal(index, view.strides))
      from += i * stride;
    view.convert(from, dim < view.strides.size() ? view.strides[dim] : 0, here, to);
    to += here * storageTypeBytes(type);
    if (!(count -= here))
      return;
    index[dim] = 0;
  }
}

void Production::run(llvm::function_ref<void(StringRef)> write) const {
  // A run is the last dimension as stored: a panel's width, or the last logical dimension.
  size_t rank = logical.size();
  size_t dim = panels ? panels->dim : rank ? rank - 1 : 0;
  int64_t width = panels ? panels->width : rank ? logical.back() : 1;
  ArrayRef<int64_t> outer = ArrayRef(shape).drop_back(shape.empty() ? 0 : 1);
  if (llvm::is_contained(shape, 0))
    return;

  // Pieces of about a mebibyte keep memory flat and calls few.
  size_t runBytes = width * storageTypeBytes(type);
  size_t runsInPiece = std::max<size_t>(1, (size_t(1) << 20) / runBytes), runs = 0;
  SmallVector<char> piece(runsInPiece * runBytes);
  SmallVector<int64_t> index(outer.size(), 0);
  for (bool more = true; more;) {
    char *to = piece.data() + runs * runBytes;
    SmallVector<int64_t> first(index);
    int64_t count = width;
    if (panels) {
      first[dim] *= width;
      count = std::min(width, logical[dim] - first[dim]);
      std::fill(to + count * storageTypeBytes(type), to + runBytes, 0);
    } else if (rank) {
      first.push_back(0);
    }
    copyRun(first, dim, count, to);

    more = false;
    for (size_t i = index.size(); i-- > 0 && !more; index[i] = more ? index[i] : 0)
      more = ++index[i] < outer[i];
    if (++runs == runsInPiece || !more) {
      write(StringRef(piece.data(), runs * runBytes));
      runs = 0;
    }
  }
}

/// All parameters of a module, planned.
struct Image {
  ModuleInterface interface;
  std::vector<Production> productions;

  static Expected<Image> plan(ModuleOp module, const Checkpoint &source);
  void write(llvm::raw_ostream &os, llvm::BLAKE3 *hasher, ImageProgress progress) const;
  std::string header(StringRef digest) const;
};

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

std::string hexDigest(llvm::BLAKE3 &hasher) {
  return llvm::toHex(ArrayRef<uint8_t>(hasher.final<32>()), /*LowerCase=*/true);
}

} // namespace

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
