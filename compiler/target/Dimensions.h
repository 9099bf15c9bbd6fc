// Dimensions of tensors as expressions of the sizes of an entry.
#pragma once

#include "compiler/target/Interface.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heed {

/// The dimension `dim` of `value`, a tensor inside the entry whose arguments are the first of `interface`,
/// found by going backwards through its operations and calls. Nothing where it does not follow from the
/// arguments, or is not affine.
std::optional<SizeExpr> dimensionOf(mlir::Value value, unsigned dim, const EntryInterface &interface);

/// What the module says of an entry; it holds before its code runs. Nothing where `function` is none.
std::optional<EntryInterface> interfaceOf(mlir::func::FuncOp function);

/// Whether two dimensions of tensors in one function are known to be equal, by how they come about and by
/// what `interfaceOf` says of the arguments.
bool areEqual(mlir::Value a, unsigned dimA, mlir::Value b, unsigned dimB);

/// What the operations of the entry, and of what it calls, need of its sizes beyond what types and names say:
/// "k == w" where keys and values have lengths of different names.
std::vector<RelationInterface> requiredRelations(mlir::func::FuncOp function,
                                                 const EntryInterface &interface);

} // namespace heed
