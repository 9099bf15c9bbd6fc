// The attn dialect: registration and generated code. Operations lie in ScoreOps.cpp, ActivationOps.cpp,
// MaskOps.cpp, AttentionOps.cpp and LayerOps.cpp.
#include "dialect/Attn.h"
#include "dialect/Checks.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialect/AttnDialect.cpp.inc"
#include "dialect/AttnEnums.cpp.inc"
#include "dialect/AttnInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/AttnAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "dialect/Attn.cpp.inc"

mlir::Operation *heed::attn::AttnDialect::materializeConstant(mlir::OpBuilder &builder, mlir::Attribute value,
                                                              mlir::Type type, mlir::Location loc) {
  return mlir::arith::ConstantOp::materialize(builder, value, type, loc);
}

void heed::attn::AttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/AttnAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Attn.cpp.inc"
      >();
}
