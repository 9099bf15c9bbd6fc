// Attention in one operation, whole and in steps over the keys. See AttnAttentionOps.td.
#include "dialect/Checks.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace heed::attn {

// attention

AttentionLayout AttentionOp::getLetters() {
  auto [operands, result] = getLayout().split("->");
  auto [query, rest] = operands.split(',');
  auto [key, value] = rest.split(',');
  return {query, key, value, result};
}

/// Refuses `letters` unless they are `needed` and, in any order, nothing else but b and h, each once.
static LogicalResult verifyLetters(Operation *op, StringRef what, StringRef letters, StringRef needed) {
  std::string allowed = "bh" + needed.str();
  bool complete = llvm::all_of(needed, [&](char letter) { return letters.count(letter) == 1; });
  bool known = llvm::all_of(letters, [&](char letter) { return StringRef(allowed).contains(letter); });
  if (!complete || !known || letters.count('b') > 1 || letters.count('h') > 1)
    return op->emitOpError("expected layout of ")
           << what << " to have letters " << needed << ", and b and h at most once, but got '" << letters
           << "'";
  return success();
}

static int64_t getSize(Value tensor, StringRef letters, char letter) {
  int64_t dim = AttentionLayout::find(letters, letter);
  return dim < 0 ? 1 : cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

LogicalResult AttentionOp::verify() {
  AttentionLayout letters = getLetters();
  struct Operand {
    StringRef name;
    Value tensor;
    StringRef letters, needed;
  } tensors[] = {{"query", getQuery(), letters.query, "qd"},
                 {"key", getKey(), letters.key, "kd"},
                 {"value", getValue(), letters.value, "ke"},
                 {"result", getResult(), letters.result, "qe"}};
  for (auto [name, tensor, own, needed] : tensors) {
    if (failed(verifyLetters(*this, name, own, needed))) // C1
      return failure();
    for (char letter : {'b', 'h'})
      if (own.contains(letter) != letters.query.contains(letter)) // C2
        return emitOpError("expected letter ")
               << letter << " in all of layout '" << getLayout() << "' or in none";
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.getRank() != static_cast<int64_t>(own.size())) // C3
      return emitOpError("expected ") << name << " of rank " << own.size() << " by layout '" << own
                                      << "', but got rank " << type.getRank();
    if (name != "result" && type.getElementType() != getQuery().getType().getElementType()) // C4
      return emitOpError("expected query, key and value of one element type, but got ")
             << getQuery().getType().getElementType() << " and " << type.getElementType();
  }

  auto sizeOf = [&](const Operand &operand, char letter) {
    return getSize(operand.tensor, operand.letters, letter);
  };
  auto &[query, key, value, result] = tensors;
  struct Pair {
    StringRef what;
    char letter;
    const Operand &a, &b;
  } pairs[] = {{"batch", 'b', query, key},  {"batch", 'b', query, value},  {"batch", 'b', query, result},
               {"heads", 'h', key, value},  {"heads", 'h', query, result}, {"length", 'q', query, result},
               {"length", 'k', key, value}, {"width", 'd', query, key},    {"width", 'e', value, result}};
  for (auto &[what, letter, a, b] : pairs) // C5, C6
    if (!mayEqual(sizeOf(a, letter), sizeOf(b, letter)))
      return emitOpError("expected ") << a.name << " " << what << " to equal " << b.name << " " << what
                                      << ", but got " << sizeOf(a, letter) << " and " << sizeOf(b, letter);
  if (sizeOf(query, 'd') == 0 || sizeOf(value, 'e') == 0) // C14
    return emitOpError("expected widths of at least 1, but got ")
           << sizeOf(query, 'd') << " for keys and " << sizeOf(value, 'e') << " for values";
  int64_t heads = sizeOf(query, 'h'), shared = sizeOf(key, 'h');
  if (!mayEqual(heads, shared) && (shared == 0 || heads % shared != 0)) // C6
    return emitOpError("expected key heads to divide query heads, but got ") << shared << " and " << heads;

  int64_t batch = sizeOf(query, 'b');
  if (Value lengths = getKeyLengths())
    if (failed(verifyShape(*this, "key_lengths", lengths.getType(), {batch}))) // C7
      return failure();
  if (failed(verifyPosition(*this, "query_offset", getQueryOffset(), batch)) || // C8
      failed(verifyPosition(*this, "key_offset", getKeyOffset(), batch)))
    return failure();
  if (Value sinks = getSinks())
    if (failed(verifyShape(*this, "sinks", sinks.getType(), {heads}))) // C9
      return failure();
  if (!getScale().isFinite()) // C10
    return emitOpError("expected a finite scale, but got ") << getScale().convertToDouble();
  if (Value logSumExp = getLogSumExp()) {
    SmallVector<int64_t> shape(getResult().getType().getShape());
    shape.erase(shape.begin() + AttentionLayout::find(letters.result, 'e'));
    if (failed(verifyShape(*this, "log_sum_exp", logSumExp.getType(), shape))) // C11
      return failure();
  }

  SmallVector<int64_t> sizes{batch, heads, sizeOf(query, 'q'), sizeOf(key, 'k')};
  if (getQueryOffset()) // positions are absolute then, and may pass the lengths
    sizes[2] = ShapedType::kDynamic;
  if (getKeyOffset())
    sizes[3] = ShapedType::kDynamic;
  RegionSignature signatures[] = {RegionSignature::score(getContext()), RegionSignature::keep(getContext())};
  if (failed(verifyReads(*this, getReads(), getReadMaps(), sizes)) || // C12
      failed(verifySignatures(*this, signatures, getReads(), getReadMaps())))
    return failure();
  WalkResult aligned = getKeep().walk([&](CausalOp causal) {
    if (!getQueryOffset() || causal.getAlignment() == Alignment::TopLeft ||
        causal.getLengths()[0] != getKeep().getArgument(4)) // C13
      return WalkResult::advance();
    causal.emitOpError("expected top_left alignment under a query_offset, but got bottom_right");
    return WalkResult::interrupt();
  });
  return failure(aligned.wasInterrupted());
}

LogicalResult AttentionOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  AttentionLayout letters = getLetters();
  auto sizeOf = [&](char letter) {
    Value tensor = letter == 'e' ? getValue() : getQuery();
    StringRef own = letter == 'e' ? letters.value : letters.query;
    return tensor::getMixedSize(builder, getLoc(), tensor, AttentionLayout::find(own, letter));
  };
  std::string result = letters.result.str(), rows = result;
  rows.erase(rows.find('e'), 1);
  reifyShape(builder, getResult(), [&](int64_t dim) { return sizeOf(result[dim]); }, shapes);
  if (getLogSumExp())
    reifyShape(builder, getLogSumExp(), [&](int64_t dim) { return sizeOf(rows[dim]); }, shapes);
  return success();
}

void AttentionOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  bool isScore = &region == &getScore();
  (isScore ? RegionSignature::score(getContext()) : RegionSignature::keep(getContext()))
      .setNames(region, setName);
}

void AttentionOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "attended");
  if (getLogSumExp())
    setName(getLogSumExp(), "log_sum_exp");
}

/// Brings masks to one form, and drops regions that change nothing.
LogicalResult AttentionOp::canonicalize(AttentionOp op, PatternRewriter &rewriter) {
  if (succeeded(simplifyMask(op, rewriter)))
    return success();
  auto yielded = [](Region &region) { return region.front().getTerminator()->getOperand(0); };
  bool sameScore = op.hasScore() && yielded(op.getScore()) == op.getScore().getArgument(0);
  bool keepsAll = op.hasKeep() && matchPattern(yielded(op.getKeep()), m_One());
  if (!sameScore && !keepsAll)
    return rewriter.notifyMatchFailure(op, "regions change scores or keep some pairs only");
  rewriter.modifyOpInPlace(op, [&] {
    if (sameScore)
      rewriter.eraseBlock(&op.getScore().front());
    if (keepsAll)
      rewriter.eraseBlock(&op.getKeep().front());
    if (!op.hasScore() && !op.hasKeep()) {
      op.getReadsMutable().clear();
      op.setReadMapsAttr(rewriter.getAffineMapArrayAttr({}));
    }
  });
  return success();
}

// online_attention

LogicalResult OnlineAttentionOp::verify() {
  RankedTensorType query = getQuery().getType(), key = getKey().getType(), value = getValue().getType();
  if (query.getRank() != 2 || value.getRank() != 2) // C1
    return emitOpError("expected query and value of rank 2, but got ranks ")
           << query.getRank() << " and " << value.getRank();
  if (key.getRank() != 2 && key.getRank() != 3) // C2
    return emitOpError("expected key of rank 2, or of rank 3 as panels, but got rank ") << key.getRank();
  Type element = key.getElementType();
  if (value.getElementType() != element ||
      (query.getElementType() != element && !query.getElementType().isF32())) // C3
    return emitOpError("expected key and value of one element type, and query of it or f32, but got ")
           << element << ", " << value.getElementType() << " and " << query.getElementType();
  if (!mayEqual(query.getDimSize(1), key.getDimSize(1))) // C4
    return emitOpError("expected query width to equal key width, but got ")
           << query.getDimSize(1) << " and " << key.getDimSize(1);
  int64_t rows = query.getDimSize(0), keys = value.getDimSize(0), keySize = key.getDimSize(0);
  if (key.getRank() == 3) { // panels: ceil(keys / width) of them
    int64_t width = key.getDimSize(2);
    if (width == 0) // C5
      return emitOpError("expected key panels of width at least 1, but got 0");
    bool known = !ShapedType::isDynamic(width) && !ShapedType::isDynamic(keys);
    int64_t panels = known ? llvm::divideCeil(keys, width) : ShapedType::kDynamic;
    if (!mayEqual(panels, keySize)) // C5
      return emitOpError("expected ")
             << panels << " key panels for " << keys << " values, but got " << keySize;
  } else if (!mayEqual(keySize, keys)) { // C6
    return emitOpError("expected key length to equal value length, but got ") << keySize << " and " << keys;
  }
  if (getOrigin().size() != 6) // C7
    return emitOpError("expected origin of 6 indices, but got ") << getOrigin().size();
  if (failed(
          verifyShape(*this, "accumulator", getAccumulator().getType(), {rows, value.getDimSize(1)})) || // C8
      failed(verifyShape(*this, "row_max", getRowMax().getType(), {rows})) ||
      failed(verifyRowSum(*this, getRowSum().getType(), rows)))
    return failure();
  SmallVector<Type> outs{getAccumulator().getType(), getRowMax().getType(), getRowSum().getType()};
  if (getResultTypes() != TypeRange(outs)) // C9
    return emitOpError("expected results of types ") << show(outs) << ", but got " << show(getResultTypes());
  if (!getScale().isFinite()) // C10
    return emitOpError("expected a finite scale, but got ") << getScale().convertToDouble();
  SmallVector<int64_t> sizes(4, ShapedType::kDynamic);              // coordinates are absolute
  if (failed(verifyReads(*this, getReads(), getReadMaps(), sizes))) // C11
    return failure();
  RegionSignature signatures[] = {RegionSignature::score(getContext()), RegionSignature::keep(getContext())};
  if (failed(verifySignatures(*this, signatures, getReads(), getReadMaps()))) // C11
    return failure();
  if (getAsks() && getKeep().empty()) // C12
    return emitOpError("expected a keep region beside asks, but got none");
  if (getAhead() && getAhead().getType().getRank() != 2) // C13
    return emitOpError("expected ahead of rank 2, but got rank ") << getAhead().getType().getRank();
  return success();
}

void OnlineAttentionOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  bool isScore = &region == &getScore();
  (isScore ? RegionSignature::score(getContext()) : RegionSignature::keep(getContext()))
      .setNames(region, setName);
}

} // namespace heed::attn
