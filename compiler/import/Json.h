// JSON as configurations and safetensors headers hold it, read without trust.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace heed {

/// Reads `text`. A name that occurs twice in one object is an error. `place` begins the message.
llvm::Expected<nlohmann::json> parseJson(llvm::StringRef text, llvm::StringRef place);

/// Reads a file that holds one object.
llvm::Expected<nlohmann::json> readJsonObject(llvm::StringRef path);

/// `text` in quotes, on one line whatever it holds.
std::string inQuotes(llvm::StringRef text);

/// The fields of an object, asked for by name. The first fault is kept and answers go on with harmless
/// values, so that a reader asks for all it needs and looks at the fault once. A field nobody asked for is a
/// fault too: it may change what the model means.
class Fields {
public:
  Fields(const nlohmann::json &object, llvm::StringRef place) : object(object), place(place) {}

  /// Without a `fallback` the field must be there.
  int64_t integer(llvm::StringRef name, int64_t low, int64_t high, std::optional<int64_t> fallback = {});
  double number(llvm::StringRef name, double low, double high, std::optional<double> fallback = {});
  bool boolean(llvm::StringRef name, std::optional<bool> fallback = {});
  /// `values`: what is allowed; empty: any text.
  std::string string(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> values = {},
                     const std::optional<std::string> &fallback = {});
  /// The field is absent, null or `value`.
  void expect(llvm::StringRef name, const nlohmann::json &value);
  /// The fields say nothing about the values computed.
  void ignore(llvm::ArrayRef<llvm::StringRef> names);

  bool has(llvm::StringRef name) const { return object.contains(name.str()); }
  /// "expected …, but got …" about a field, unless there is a fault already.
  void fail(llvm::StringRef name, const std::string &expectation);

  /// The first fault, or the first field that nobody asked for.
  llvm::Error finish();

private:
  /// The field, or null where it is absent and need not be there.
  const nlohmann::json *find(llvm::StringRef name, bool optional, const std::string &expectation);

  const nlohmann::json &object;
  std::string place;
  std::set<std::string> asked;
  std::string fault;
};

} // namespace heed
