// Recipes as attributes; see Recipe.h.
#include "compiler/import/Recipe.h"

#include "compiler/Error.h"
#include "compiler/import/Json.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::Expected;

namespace heed {

static constexpr StringLiteral recipeAttr = "heed.recipe";

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

Expected<Recipe> getRecipe(ModuleOp module, StringRef name) {
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

} // namespace heed
