// Integers of a width, as the interpreter keeps them. Private to compiler/interpreter.
#pragma once

#include "compiler/interpreter/Program.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

namespace heed {

/// Bits of an integer or a float, or of the elements of a tensor; index counts as 64.
inline unsigned widthOf(mlir::Type type) {
  type = mlir::getElementTypeOrSelf(type);
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}
/// An integer as it is kept: sign-extended, i1 as 0 or 1.
inline int64_t wrap(uint64_t bits, unsigned width) {
  return width == 1 ? bits & 1 : llvm::SignExtend64(bits, width);
}
inline uint64_t unsignedOf(int64_t value, unsigned width) {
  return width == 64 ? value : value & ((uint64_t(1) << width) - 1);
}
/// i1 as −1 or 0.
inline int64_t signedOf(int64_t value, unsigned width) { return width == 1 ? -value : value; }

// The parts of addScalarOps.
void addFloatOps(OpTable &table);
void addIntegerOps(OpTable &table);
void addCastOps(OpTable &table);

} // namespace heed
