// One parameter of an image; see Production.h.
#include "compiler/import/Production.h"

#include "compiler/Error.h"
#include "compiler/import/Json.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::Expected;

namespace heed {

/// The element type of a parameter's storage, from its first word.
static std::optional<StorageType> getStorageType(const ParameterInterface &parameter) {
  StringRef word = StringRef(parameter.storage).split(' ').first;
  if (word == "i1")
    return StorageType::Bool;
  return parseStorageType(word.upper());
}

static Expected<View> makeView(const Checkpoint &source, const Part &part, StorageType to) {
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

} // namespace heed
