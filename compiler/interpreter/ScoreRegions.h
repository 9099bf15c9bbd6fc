// The regions of attention and online_attention. Private to compiler/interpreter.
#pragma once

#include "compiler/interpreter/Program.h"

namespace heed {

/// The regions of attention and online_attention: what becomes of one score.
class ScoreRegions {
public:
  /// Without `asks`, every pair is kept.
  template <class OpT>
  ScoreRegions(OpT op, Frame &frame, bool asks = true) : reads(frame, op, op.getReads(), op.getReadMaps()) {
    if (!op.getScore().empty())
      score.emplace(frame, op.getScore().front());
    if (asks && !op.getKeep().empty())
      keep.emplace(frame, op.getKeep().front());
  }

  /// `point`: batch, head, query, key, query length, key length. −inf where the pair is not kept.
  mlir::FailureOr<Real> apply(Real value, llvm::ArrayRef<int64_t> point) {
    if (keep) {
      if (mlir::failed(prepare(*keep, 0, point)) || mlir::failed(keep->run()))
        return mlir::failure();
      if (!keep->result().integer)
        return Real(-std::numeric_limits<double>::infinity());
    }
    if (!score)
      return value;
    score->argument(0).scalar = Scalar::of(value);
    if (mlir::failed(prepare(*score, 1, point)) || mlir::failed(score->run()))
      return mlir::failure();
    return score->result().real;
  }

private:
  mlir::LogicalResult prepare(ScalarRegion &region, unsigned first, llvm::ArrayRef<int64_t> point) {
    for (auto [number, index] : llvm::enumerate(point))
      region.argument(first + number).scalar = Scalar::of(index);
    return reads.load(region, first + 6, point.take_front(4));
  }

  Reads reads;
  std::optional<ScalarRegion> score, keep;
};

} // namespace heed
