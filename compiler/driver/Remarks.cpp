// Remarks as data; see Remarks.h.
#include "compiler/driver/Remarks.h"

#include "mlir/IR/Location.h"

using namespace llvm;
using nlohmann::ordered_json;

namespace heed::driver {

ordered_json placeOf(mlir::Location location) {
  ordered_json place;
  location->walk([&](mlir::Location part) {
    auto file = dyn_cast<mlir::FileLineColLoc>(part);
    if (!file)
      return mlir::WalkResult::advance();
    place = {{"file", file.getFilename().str()}, {"line", file.getLine()}, {"column", file.getColumn()}};
    return mlir::WalkResult::interrupt();
  });
  return place;
}

/// "[code] message" in its two parts.
static std::pair<StringRef, StringRef> splitCode(StringRef text) {
  if (!text.consume_front("["))
    return {"", text};
  auto [code, message] = text.split("] ");
  return {code, message};
}

static ordered_json describe(mlir::Diagnostic &remark) {
  std::string text = remark.str();
  auto [code, message] = splitCode(text);
  ordered_json notes = ordered_json::array();
  for (mlir::Diagnostic &note : remark.getNotes())
    notes.push_back({{"message", note.str()}, {"at", placeOf(note.getLocation())}});
  return {{"code", code.str()},
          {"message", message.str()},
          {"at", placeOf(remark.getLocation())},
          {"notes", std::move(notes)}};
}

RemarkTaker::RemarkTaker(mlir::MLIRContext *context, std::function<void(ordered_json)> take)
    : handler(context, [take = std::move(take)](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Remark)
          return mlir::failure();
        take(describe(diagnostic));
        return mlir::success();
      }) {}

} // namespace heed::driver
