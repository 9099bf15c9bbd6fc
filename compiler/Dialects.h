// Every dialect and interface implementation that heed's programs know, registered in one place.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace heed {

void registerDialects(mlir::DialectRegistry &registry);

} // namespace heed
