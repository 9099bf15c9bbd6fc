#include "compiler/import/Family.h"

#include "compiler/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace heed {

std::string fillText(StringRef text, const std::map<std::string, std::string> &values) {
  std::string filled;
  for (;;) {
    auto [before, rest] = text.split("${");
    filled += before;
    if (rest.empty())
      return filled;
    auto [name, after] = rest.split('}');
    assert(values.count(name.str()) && "a placeholder without a value");
    filled += values.at(name.str());
    text = after;
  }
}

std::string wrapText(StringRef line, StringRef indent) {
  constexpr size_t columns = 110;
  std::string wrapped, rest = line.str();
  while (rest.size() > columns) {
    size_t comma = rest.rfind(", ", columns - 1);
    if (comma == std::string::npos)
      break;
    wrapped += rest.substr(0, comma + 1) + "\n";
    rest = indent.str() + rest.substr(comma + 2);
  }
  return wrapped + rest;
}

std::string floatText(double value) {
  std::string text = fmt::format("{}", value); // shortest that reads back exactly
  if (text.find('.') == std::string::npos)     // MLIR's numbers have a point
    text.insert(std::min(text.find('e'), text.size()), ".0");
  return text;
}

Weights::Weights(const Checkpoint &checkpoint, std::string prefix, StringRef probe)
    : checkpoint(checkpoint), prefix(checkpoint.contains(prefix + probe.str()) ? std::move(prefix) : "") {}

std::string Weights::get(StringRef name, ArrayRef<int64_t> shape) {
  std::string full = prefix + name.str();
  // Checkpoints converted from TensorFlow call a norm's weight and bias so.
  if (StringRef stem = name; !checkpoint.contains(full))
    for (auto [now, then] :
         {std::pair("LayerNorm.weight", "LayerNorm.gamma"), {"LayerNorm.bias", "LayerNorm.beta"}})
      if (stem.consume_back(now) && checkpoint.contains(prefix + stem.str() + then))
        full = prefix + stem.str() + then;

  used.insert(full);
  Expected<Checkpoint::Entry> entry = checkpoint.find(full);
  if (!entry) {
    std::string message = toString(entry.takeError());
    if (fault.empty())
      fault = message;
    return full;
  }
  const StoredTensor &tensor = *entry->tensor;
  if (fault.empty() && !is_contained({StorageType::F32, StorageType::F16, StorageType::BF16}, tensor.type))
    fault = fmt::format("{}: expected F32, F16 or BF16, but got {}", entry->str(),
                        storageTypeName(tensor.type).str());
  if (fault.empty() && ArrayRef(tensor.shape) != shape)
    fault = fmt::format("{}: expected shape [{}], but got [{}]", entry->str(), fmt::join(shape, ", "),
                        fmt::join(tensor.shape, ", "));
  return full;
}

Error Weights::finish(ArrayRef<StringRef> unused) {
  for (const Checkpoint::Entry &entry : checkpoint.getEntries()) {
    StringRef name = entry.tensor->name;
    if (!fault.empty() || used.count(name.str()))
      continue;
    name.consume_front(prefix);
    if (none_of(unused, [&](StringRef begin) { return name.starts_with(begin); }))
      fault = fmt::format("{}: expected only weights that config.json accounts for, but got this one",
                          entry.str());
  }
  return fault.empty() ? Error::success() : makeError("{}", fault);
}

} // namespace heed
