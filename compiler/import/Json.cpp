#include "compiler/import/Json.h"

#include "compiler/Error.h"
#include "llvm/Support/MemoryBuffer.h"

using nlohmann::json;
using namespace llvm;

namespace heed {

std::string inQuotes(StringRef text) {
  return json(text.str()).dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
}

/// A value in a message: short, on one line.
static std::string shown(const json &value) {
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
  return text.size() <= 80 ? text : text.substr(0, 77) + "...";
}

Expected<json> parseJson(StringRef text, StringRef place) {
  // The parser keeps the last of equal names silently; a callback sees them all.
  std::vector<std::set<std::string>> names;
  std::optional<std::string> duplicate;
  auto watch = [&](int, json::parse_event_t event, json &parsed) {
    if (event == json::parse_event_t::object_start)
      names.emplace_back();
    else if (event == json::parse_event_t::object_end)
      names.pop_back();
    else if (event == json::parse_event_t::key && !names.back().insert(parsed.get<std::string>()).second &&
             !duplicate)
      duplicate = parsed.get<std::string>();
    return true;
  };
  try {
    json value = json::parse(text.begin(), text.end(), watch);
    if (duplicate)
      return makeError("{}: expected names to occur once, but got {} twice", place.str(),
                       inQuotes(*duplicate));
    return value;
  } catch (const json::parse_error &error) {
    StringRef before = text.take_front(error.byte ? error.byte - 1 : 0);
    size_t line = before.count('\n') + 1, column = before.size() - (before.rfind('\n') + 1) + 1;
    return makeError("{}:{}:{}: expected JSON, but got a syntax error", place.str(), line, column);
  } catch (const json::exception &) {
    return makeError("{}: expected JSON, but got a number out of range", place.str());
  }
}

Expected<json> readJsonObject(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("{}: {}", path.str(), buffer.getError().message());
  Expected<json> value = parseJson((*buffer)->getBuffer(), path);
  if (value && !value->is_object())
    return makeError("{}: expected a JSON object, but got {}", path.str(), shown(*value));
  return value;
}

void Fields::fail(StringRef name, const std::string &expectation) {
  if (!fault.empty())
    return;
  auto it = object.find(name.str());
  fault = fmt::format("{}: {}: expected {}, but got {}", place, inQuotes(name), expectation,
                      it == object.end() ? "nothing" : shown(*it));
}

const json *Fields::find(StringRef name, bool optional, const std::string &expectation) {
  asked.insert(name.str());
  auto it = object.find(name.str());
  if (it != object.end() && !(optional && it->is_null()))
    return &*it;
  if (!optional)
    fail(name, expectation);
  return nullptr;
}

int64_t Fields::integer(StringRef name, int64_t low, int64_t high, std::optional<int64_t> fallback) {
  std::string expectation = fmt::format("an integer in [{}, {}]", low, high);
  const json *value = find(name, fallback.has_value(), expectation);
  if (!value)
    return fallback.value_or(low);
  // An integer above 2^63 is unsigned here, one above 2^64 a float.
  bool fits =
      value->is_number_integer() && (!value->is_number_unsigned() || value->get<uint64_t>() <= INT64_MAX);
  if (fits && value->get<int64_t>() >= low && value->get<int64_t>() <= high)
    return value->get<int64_t>();
  fail(name, expectation);
  return low;
}

double Fields::number(StringRef name, double low, double high, std::optional<double> fallback) {
  std::string expectation = fmt::format("a number in [{}, {}]", low, high);
  const json *value = find(name, fallback.has_value(), expectation);
  if (!value)
    return fallback.value_or(low);
  if (value->is_number() && value->get<double>() >= low && value->get<double>() <= high)
    return value->get<double>();
  fail(name, expectation);
  return low;
}

bool Fields::boolean(StringRef name, std::optional<bool> fallback) {
  const json *value = find(name, fallback.has_value(), "true or false");
  if (value && value->is_boolean())
    return value->get<bool>();
  if (value)
    fail(name, "true or false");
  return fallback.value_or(false);
}

std::string Fields::string(StringRef name, ArrayRef<StringRef> values,
                           const std::optional<std::string> &fallback) {
  std::string expectation = values.empty() ? "text" : "one of";
  for (StringRef value : values)
    expectation += (value == values.front() ? " " : ", ") + inQuotes(value);
  const json *value = find(name, fallback.has_value(), expectation);
  if (!value)
    return fallback.value_or("");
  if (value->is_string() && (values.empty() || is_contained(values, value->get<std::string>())))
    return value->get<std::string>();
  fail(name, expectation);
  return "";
}

void Fields::expect(StringRef name, const json &wanted) {
  const json *value = find(name, /*optional=*/true, "");
  if (value && *value != wanted)
    fail(name, wanted.dump());
}

void Fields::ignore(ArrayRef<StringRef> names) {
  for (StringRef name : names)
    asked.insert(name.str());
}

Error Fields::finish() {
  for (const auto &field : object.items())
    if (fault.empty() && !asked.count(field.key()))
      fault = fmt::format("{}: {}: expected only known fields, but got {}", place, inQuotes(field.key()),
                          shown(field.value()));
  return fault.empty() ? Error::success() : makeError("{}", fault);
}

} // namespace heed
