// The tables through which a module describes itself, and the function that hands them out.
#pragma once

#include "compiler/target/Interface.h"
#include "compiler/target/Target.h"

namespace heed {

/// Adds the structs of runtime/heed_kernel.h that describe `interface`, as constants, and
/// `<module>_module_query`. Of every entry the functions `<symbol>.call` and `<symbol>.bytes` must be there.
void emitTables(mlir::ModuleOp module, const ModuleInterface &interface, const Target &target);

} // namespace heed
