// What emitted code may need at most; see Limits.h.
#include "compiler/driver/Limits.h"

#include "compiler/driver/Driver.h"
#include "compiler/driver/Formula.h"
#include "compiler/passes/EntrySizes.h"
#include "compiler/target/Interface.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace llvm;

namespace heed::driver {

void Limits::addFlags(CLI::App &command) {
  command.add_option("--max-workspace", workspace, "Fail where an entry's workspace may exceed this")
      ->type_name("BYTES")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--max-stack", stack, "Fail where a thread's stack may exceed this")
      ->type_name("BYTES")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--size", sizes, "A dynamic size, or threads, at which --max-workspace holds")
      ->type_name("NAME=N");
}

std::map<std::string, double> Limits::parseSizes() const {
  std::map<std::string, double> values;
  for (StringRef argument : sizes) {
    auto [name, text] = argument.split('=');
    int64_t value;
    if (name.empty() || text.getAsInteger(10, value) || value < 0)
      fail("--size", "expected NAME=N with N >= 0, but got " + argument);
    values[name.str()] = static_cast<double>(value);
  }
  return values;
}

/// The arguments of @entry.workspace: the dynamic sizes of the tensors in order, and the threads.
static std::vector<Formula> argumentsOf(const EntryInterface &entry, mlir::func::FuncOp body,
                                        const std::map<std::string, double> &values) {
  auto valueOf = [&](const std::string &name) {
    auto found = values.find(name);
    return found == values.end() ? NAN : found->second;
  };
  std::vector<Formula> arguments;
  for (auto [argument, type] : zip(entry.arguments, body.getArgumentTypes()))
    for (auto [expression, size] : zip_equal(argument.shape, cast<mlir::ShapedType>(type).getShape())) {
      if (!mlir::ShapedType::isDynamic(size))
        continue;
      auto value = static_cast<double>(expression.constant);
      for (auto [term, coefficient] : expression.terms)
        value += static_cast<double>(coefficient) * valueOf(entry.sizes[term]);
      arguments.push_back({expression.str(entry.sizes), value,
                           /*isSum=*/expression.terms.size() > 1 || expression.constant != 0});
    }
  arguments.push_back({"threads", valueOf("threads")});
  return arguments;
}

bool Limits::checkWorkspace(mlir::ModuleOp module) const {
  std::map<std::string, double> values = parseSizes();
  if (!module->hasAttr(ModuleInterface::attributeName))
    return false;
  auto interface = ModuleInterface::get(module);
  if (failed(interface))
    throw Failure("");
  std::vector<std::string> known{"threads"};
  for (const EntryInterface &entry : interface->entries)
    append_range(known, entry.sizes);
  for (const auto &[name, value] : values)
    if (!is_contained(known, name))
      fail("--size", "expected one of " + join(known, ", ") + ", but got " + name);

  for (const EntryInterface &entry : interface->entries) {
    auto body = module.lookupSymbol<mlir::func::FuncOp>(entry.name);
    auto bytes = module.lookupSymbol<mlir::func::FuncOp>(entry.name + workspaceSuffix.str());
    if (!body || !bytes)
      return false;
    Formula needed = formulaOf(bytes, argumentsOf(entry, body, values));
    if (needed.value <= static_cast<double>(*workspace))
      continue;
    mlir::InFlightDiagnostic error = body.emitError("expected a workspace of at most ")
                                     << *workspace << " bytes, but " << entry.name << " needs "
                                     << needed.text;
    if (!std::isnan(needed.value) && needed.text != std::to_string(static_cast<int64_t>(needed.value)))
      error << " = " << static_cast<int64_t>(needed.value);
    throw Failure("");
  }
  return true;
}

void Limits::checkStack(StringRef file, std::optional<uint64_t> bytes) const {
  if (stack && (!bytes || *bytes > static_cast<uint64_t>(*stack)))
    fail(file, "expected at most " + Twine(*stack) + " bytes of stack, but a thread needs " +
                   (bytes ? Twine(*bytes) : Twine("an unknown number")));
}

} // namespace heed::driver
