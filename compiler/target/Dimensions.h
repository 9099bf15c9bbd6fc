// Dimensions of tensors as expressions of the sizes of an entry.
#pragma once

#include "compiler/target/Interface.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heed {

/// The dimension `dim` of `value`, a tensor inside the entry whose arguments are the first of `interface`,
/// found by going backwards through its operations and calls. Nothing where it does not follow from the
/// arguments, or is not affine.
std::optional<SizeExpr> dimensionOf(mlir::Value value, unsigned dim, const EntryInterface &interface);

/// What the operations of the entry, and of what it calls, need of its sizes beyond what types and names say:
/// "k == w" where keys and values have lengths of different names.
std::vector<RelationInterface> requiredRelations(mlir::func::FuncOp function,
                                                 const EntryInterface &interface);

} // namespace heed
