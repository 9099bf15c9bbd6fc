// Questions about one (query, key) pair.
#include "compiler/interpreter/Program.h"

#include "dialect/Attn.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace heed {

static Scalar answer(bool keep) { return Scalar::of(int64_t(keep)); }

static OpTable::ScalarFunction buildCausal(Operation *op) {
  if (cast<attn::CausalOp>(op).getAlignment() == attn::Alignment::TopLeft)
    return [](const Scalar *x) { return answer(x[1].integer <= x[0].integer); };
  // query, key, query length, key length
  return [](const Scalar *x) { return answer(x[1].integer <= x[0].integer + x[3].integer - x[2].integer); };
}

static OpTable::ScalarFunction buildWindow(Operation *op) {
  int64_t before = cast<attn::WindowOp>(op).getBefore(), after = cast<attn::WindowOp>(op).getAfter();
  return [=](const Scalar *x) {
    int64_t query = x[0].integer, key = x[1].integer;
    return answer(query - key <= before && key - query <= after);
  };
}

static OpTable::ScalarFunction buildPrefix(Operation *) {
  return [](const Scalar *x) { return answer(x[0].integer < x[1].integer); };
}

static OpTable::ScalarFunction buildChunk(Operation *op) {
  int64_t width = cast<attn::ChunkOp>(op).getWidth();
  return [=](const Scalar *x) {
    return answer(llvm::divideFloorSigned(x[0].integer, width) ==
                  llvm::divideFloorSigned(x[1].integer, width));
  };
}

static OpTable::ScalarFunction buildDilated(Operation *op) {
  int64_t step = cast<attn::DilatedOp>(op).getStep();
  return [=](const Scalar *x) { return answer((x[0].integer - x[1].integer) % step == 0); };
}

static OpTable::ScalarFunction buildSameDocument(Operation *) {
  return [](const Scalar *x) { return answer(x[0].integer == x[1].integer); };
}

void addMaskOps(OpTable &table) {
  table.addScalar<attn::CausalOp>(buildCausal);
  table.addScalar<attn::WindowOp>(buildWindow);
  table.addScalar<attn::PrefixOp>(buildPrefix);
  table.addScalar<attn::ChunkOp>(buildChunk);
  table.addScalar<attn::DilatedOp>(buildDilated);
  table.addScalar<attn::SameDocumentOp>(buildSameDocument);
}

} // namespace heed
