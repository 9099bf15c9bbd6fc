// What passes remark, as data.
#pragma once

#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <nlohmann/json.hpp>

namespace heed::driver {

/// {"file", "line", "column"} of the first place in a file that the location names; null without one.
nlohmann::ordered_json placeOf(mlir::Location location);

/// While it lives, every remark of a pass goes to `take` instead of the terminal, as
/// {"code", "message", "at", "notes": [{"message", "at"}, …]}; places as above.
class RemarkTaker {
public:
  RemarkTaker(mlir::MLIRContext *context, std::function<void(nlohmann::ordered_json)> take);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace heed::driver
