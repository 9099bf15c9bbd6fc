// The files that a module's parameters come from; see ParameterSources.h.
#include "compiler/import/ParameterSources.h"

#include "compiler/Error.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using llvm::Expected;

namespace heed {

static constexpr StringLiteral paramsAttr = "heed.params";

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

} // namespace heed
