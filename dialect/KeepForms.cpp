// One form for each of several spellings of a mask; see AttentionOp::canonicalize.
#include "dialect/Checks.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace heed::attn {

/// Whether `read` is a constant of which element (query, key) says key <= query, read by query and key.
static bool isTriangle(Value read, AffineMap map) {
  DenseElementsAttr constant;
  auto type = dyn_cast<RankedTensorType>(read.getType());
  if (!type || !type.getElementType().isInteger(1) || type.getRank() < 2 || map.getNumResults() < 2 ||
      !matchPattern(read, m_Constant(&constant)) || constant.isSplat())
    return false;
  int64_t rank = type.getRank(), keys = type.getDimSize(rank - 1), queries = type.getDimSize(rank - 2);
  if (constant.getNumElements() != keys * queries)
    return false;
  for (auto [result, expr] : llvm::enumerate(map.getResults())) {
    int64_t fromEnd = rank - static_cast<int64_t>(result);
    AffineExpr needed = fromEnd > 2 ? getAffineConstantExpr(0, map.getContext())
                                    : getAffineDimExpr(4 - fromEnd, map.getContext());
    if (expr != needed)
      return false;
  }
  for (auto [number, keep] : llvm::enumerate(constant.getValues<bool>())) {
    auto at = static_cast<int64_t>(number);
    if (keep != (at % keys <= at / keys))
      return false;
  }
  return true;
}

/// What `op`, in a keep region with these indices, is in another form; null where it has none.
static Value simplify(Operation *op, AttentionOp attention, RewriterBase &rewriter) {
  Block &body = attention.getKeep().front();
  Value query = body.getArgument(2), key = body.getArgument(3), keyLength = body.getArgument(5);
  auto causal = [&] {
    return CausalOp::create(rewriter, op->getLoc(), query, key, ValueRange()).getResult();
  };
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    Value less = compare.getLhs(), more = compare.getRhs();
    if (compare.getPredicate() == arith::CmpIPredicate::sge)
      std::swap(less, more);
    else if (compare.getPredicate() != arith::CmpIPredicate::sle)
      return {};
    return less == key && more == query ? causal() : Value();
  }
  if (auto prefix = dyn_cast<PrefixOp>(op)) // keys from there on do not exist
    return prefix.getKey() == key && prefix.getLength() == keyLength && !attention.getKeyOffset()
               ? arith::ConstantOp::create(rewriter, op->getLoc(), rewriter.getBoolAttr(true)).getResult()
               : Value();
  auto both = dyn_cast<arith::AndIOp>(op);
  if (!both)
    return {};
  // Windows of the same pair meet in a window; causal is one that is open before.
  struct Window {
    Value query, key;
    int64_t before, after;
  };
  auto getWindow = [](Value value) -> std::optional<Window> {
    if (auto window = value.getDefiningOp<WindowOp>())
      return Window{window.getQuery(), window.getKey(), static_cast<int64_t>(window.getBefore()),
                    static_cast<int64_t>(window.getAfter())};
    if (auto causal = value.getDefiningOp<CausalOp>(); causal && causal.getAlignment() == Alignment::TopLeft)
      return Window{causal.getQuery(), causal.getKey(), std::numeric_limits<int64_t>::max(), 0};
    return std::nullopt;
  };
  auto a = getWindow(both.getLhs()), b = getWindow(both.getRhs());
  if (!a || !b || a->query != b->query || a->key != b->key)
    return {};
  int64_t before = std::min(a->before, b->before), after = std::min(a->after, b->after);
  if (before == std::numeric_limits<int64_t>::max() && after == 0)
    return CausalOp::create(rewriter, op->getLoc(), a->query, a->key, ValueRange());
  return WindowOp::create(rewriter, op->getLoc(), a->query, a->key, before, after);
}

/// Drops reads that no region reads.
static bool dropReads(AttentionOp op, RewriterBase &rewriter) {
  bool changed = false;
  for (unsigned number = op.getReads().size(); number-- > 0;) {
    auto isUsed = [&](Region &region, unsigned first) {
      return !region.empty() && !region.getArgument(first + number).use_empty();
    };
    if (isUsed(op.getScore(), 7) || isUsed(op.getKeep(), 6))
      continue;
    changed = true;
    rewriter.modifyOpInPlace(op, [&] {
      SmallVector<Attribute> maps(op.getReadMaps().getValue());
      maps.erase(maps.begin() + number);
      op.getReadsMutable().erase(number);
      op.setReadMapsAttr(rewriter.getArrayAttr(maps));
      if (op.hasScore())
        op.getScore().eraseArgument(7 + number);
      if (op.hasKeep())
        op.getKeep().eraseArgument(6 + number);
    });
  }
  return changed;
}

LogicalResult simplifyMask(AttentionOp op, PatternRewriter &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  bool changed = false;
  if (op.hasKeep()) {
    Block &body = op.getKeep().front();
    for (auto [number, read, map] :
         llvm::enumerate(op.getReads(), op.getReadMaps().getAsValueRange<AffineMapAttr>())) {
      BlockArgument argument = body.getArgument(6 + number);
      if (argument.use_empty() || !isTriangle(read, map))
        continue;
      rewriter.setInsertionPointToStart(&body);
      Value causal =
          CausalOp::create(rewriter, op.getLoc(), body.getArgument(2), body.getArgument(3), ValueRange());
      rewriter.replaceAllUsesWith(argument, causal);
      changed = true;
    }
    for (Operation &inner : llvm::make_early_inc_range(body.without_terminator())) {
      rewriter.setInsertionPoint(&inner);
      if (Value simpler = simplify(&inner, op, rewriter)) {
        rewriter.replaceOp(&inner, simpler);
        changed = true;
      }
    }
  }
  changed |= dropReads(op, rewriter);
  return success(changed);
}

} // namespace heed::attn
