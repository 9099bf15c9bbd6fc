// The attn dialect: Transformers as graphs of tensors. Reference: dialect/attn.md.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace heed::attn {

/// A tensor read beside the scores, and the map from the coordinates of the scores to its own.
struct ScoreRead {
  mlir::Value tensor;
  mlir::AffineMap map;
};

/// The pair that a score belongs to, as index values. Null where the operation's rank has no such dimension.
struct ScorePoint {
  mlir::Value batch, head, query, key, queryLength, keyLength;
};

/// The letters of each tensor of an attention, such as "bhqd"; see AttentionOp.
struct AttentionLayout {
  llvm::StringRef query, key, value, result;

  /// The position of `letter` in `letters`, or −1.
  static int64_t find(llvm::StringRef letters, char letter) {
    size_t at = letters.find(letter);
    return at == llvm::StringRef::npos ? -1 : static_cast<int64_t>(at);
  }
};

/// Marks operations into which TableGen writes a method; see AttnBase.td.
template <typename Op> class NamesResult : public mlir::OpTrait::TraitBase<Op, NamesResult> {};
template <typename Op>
class ShapedLikeFirstOperand : public mlir::OpTrait::TraitBase<Op, ShapedLikeFirstOperand> {};

} // namespace heed::attn

#include "dialect/AttnDialect.h.inc"
#include "dialect/AttnEnums.h.inc"
#include "dialect/AttnInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/AttnAttributes.h.inc"
#define GET_OP_CLASSES
#include "dialect/Attn.h.inc"
