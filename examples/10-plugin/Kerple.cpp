// The dialect of Kerple.td, and what heed has to know of its operation: how it changes one score.
#include "dialect/Attn.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"

#include "KerpleDialect.h.inc"
#define GET_OP_CLASSES
#include "Kerple.h.inc"

using namespace mlir;
using heed::attn::ScorePoint;
using heed::attn::ScoreRead;

#include "KerpleDialect.cpp.inc"
#define GET_OP_CLASSES
#include "Kerple.cpp.inc"

void kerple::KerpleDialect::initialize() { addOperations<LogBiasOp>(); }

/// The result is as large as the scores.
LogicalResult kerple::LogBiasOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getScores()));
  return success();
}

/// Which tensors are read, and where for the score of (batch, head, query, key): at the head.
SmallVector<ScoreRead> kerple::LogBiasOp::getScoreReads() {
  AffineMap head = AffineMap::get(4, 0, getAffineDimExpr(1, getContext()));
  return {{getR1(), head}, {getR2(), head}};
}

/// What is finite is subtracted: a mask before this operation is as good as one after it.
bool kerple::LogBiasOp::keepsMinusInfinity() { return true; }

/// The score as code. `reads`: an element of r1 and one of r2.
Value kerple::LogBiasOp::buildScore(OpBuilder &builder, Location loc, Value score, const ScorePoint &point,
                                    ValueRange reads) {
  ImplicitLocOpBuilder b(loc, builder);
  Value least = arith::ConstantOp::create(b, b.getF32FloatAttr(0.01f));
  Value r1 = arith::MaximumFOp::create(b, reads[0], least),
        r2 = arith::MaximumFOp::create(b, reads[1], least);
  Value forward = arith::SubIOp::create(b, point.query, point.key);
  Value backward = arith::SubIOp::create(b, point.key, point.query);
  Value steps = arith::IndexCastOp::create(b, b.getI32Type(), arith::MaxSIOp::create(b, forward, backward));
  Value distance = arith::SIToFPOp::create(b, b.getF32Type(), steps);
  Value logarithm = math::Log1pOp::create(b, arith::MulFOp::create(b, r2, distance));
  return arith::SubFOp::create(b, score, arith::MulFOp::create(b, r1, logarithm));
}

/// The score in double precision, from the formula and not from the code: what compiled code is verified
/// with.
double kerple::LogBiasOp::evaluateScore(double score, ArrayRef<int64_t> at, ArrayRef<int64_t>,
                                        function_ref<double(unsigned, ArrayRef<int64_t>)> read) {
  auto rate = [&](unsigned number) { return std::max(read(number, at[1]), double(0.01f)); };
  return score - rate(0) * std::log1p(rate(1) * std::abs(at[2] - at[3]));
}

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "kerple", "1",
          [](DialectRegistry *registry) { registry->insert<kerple::KerpleDialect>(); }};
}
