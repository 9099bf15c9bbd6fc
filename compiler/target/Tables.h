// The tables through which a module describes itself, and the function that hands them out.
#pragma once

#include "compiler/target/Interface.h"
#include "compiler/target/Target.h"

namespace heed {

/// On a module whose parameters become part of its object.
inline constexpr llvm::StringLiteral embedParamsAttr = "heed.embed_params";

/// The hidden symbol of the tensor data in such an object.
std::string embeddedParamsSymbol(const ModuleInterface &interface);

/// Adds the structs of runtime/heed_kernel.h that describe `interface`, as constants, and
/// `<module>_module_query`. Of every entry the functions `<symbol>.call` and `<symbol>.bytes` must be there.
void emitTables(mlir::ModuleOp module, const ModuleInterface &interface, const Target &target);

} // namespace heed
