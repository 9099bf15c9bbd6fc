// Masks: which (query, key) pairs are kept. See AttnMaskOps.td, and attn.mask in AttnScoreOps.td.
#include "dialect/Checks.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace heed::attn {

// Questions about one pair

/// The operands' values if all are constant.
static std::optional<SmallVector<int64_t>> getConstants(ArrayRef<Attribute> operands) {
  SmallVector<int64_t> values;
  for (Attribute operand : operands) {
    auto integer = dyn_cast_if_present<IntegerAttr>(operand);
    if (!integer)
      return std::nullopt;
    values.push_back(integer.getValue().getSExtValue());
  }
  return values;
}

static int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

LogicalResult CausalOp::verify() {
  if (getLengths().size() != 0 && getLengths().size() != 2) // C1
    return emitOpError("expected query and key length after bottom_right, but got ")
           << getLengths().size() << " values";
  return success();
}

OpFoldResult CausalOp::fold(FoldAdaptor adaptor) {
  auto values = getConstants(adaptor.getOperands());
  if (!values)
    return {};
  int64_t shift = getAlignment() == Alignment::BottomRight ? (*values)[3] - (*values)[2] : 0;
  return BoolAttr::get(getContext(), (*values)[1] <= (*values)[0] + shift);
}

LogicalResult WindowOp::verify() {
  int64_t before = getBefore(), after = getAfter();
  if (before < 0 || after < 0) // C1
    return emitOpError("expected bounds of at least 0, but got ") << before << " and " << after;
  return success();
}

OpFoldResult WindowOp::fold(FoldAdaptor adaptor) {
  auto values = getConstants(adaptor.getOperands());
  if (!values)
    return {};
  int64_t distance = (*values)[1] - (*values)[0], before = getBefore(), after = getAfter();
  return BoolAttr::get(getContext(), -before <= distance && distance <= after);
}

OpFoldResult PrefixOp::fold(FoldAdaptor adaptor) {
  auto values = getConstants(adaptor.getOperands());
  return values ? BoolAttr::get(getContext(), (*values)[0] < (*values)[1]) : BoolAttr();
}

LogicalResult ChunkOp::verify() {
  if (static_cast<int64_t>(getWidth()) < 1) // C1
    return emitOpError("expected width of at least 1, but got ") << static_cast<int64_t>(getWidth());
  return success();
}

OpFoldResult ChunkOp::fold(FoldAdaptor adaptor) {
  auto values = getConstants(adaptor.getOperands());
  if (!values)
    return {};
  int64_t width = getWidth();
  return BoolAttr::get(getContext(), floorDiv((*values)[0], width) == floorDiv((*values)[1], width));
}

LogicalResult DilatedOp::verify() {
  if (static_cast<int64_t>(getStep()) < 1) // C1
    return emitOpError("expected step of at least 1, but got ") << static_cast<int64_t>(getStep());
  return success();
}

OpFoldResult DilatedOp::fold(FoldAdaptor adaptor) {
  auto values = getConstants(adaptor.getOperands());
  if (!values)
    return {};
  return BoolAttr::get(getContext(), ((*values)[0] - (*values)[1]) % static_cast<int64_t>(getStep()) == 0);
}

OpFoldResult SameDocumentOp::fold(FoldAdaptor adaptor) {
  if (getQueryId() == getKeyId())
    return BoolAttr::get(getContext(), true);
  auto values = getConstants(adaptor.getOperands());
  return values ? BoolAttr::get(getContext(), (*values)[0] == (*values)[1]) : BoolAttr();
}

// mask

/// Where each of batch, head, query and key lies in a coordinate of scores of this rank; −1 where it has no
/// dimension.
static std::array<int64_t, 4> getPositions(int64_t rank) {
  return {rank >= 3 ? 0 : -1, rank == 4 ? 1 : -1, rank - 2, rank - 1};
}

void MaskOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  RegionSignature::keep(getContext()).setNames(region, setName);
}

void MaskOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "scores"); }

LogicalResult MaskOp::verify() {
  RankedTensorType scores = getScores().getType();
  if (scores.getRank() < 2 || scores.getRank() > 4) // C1
    return emitOpError("expected scores of rank 2 to 4, but got rank ") << scores.getRank();
  SmallVector<int64_t> sizes;
  for (int64_t position : getPositions(scores.getRank()))
    sizes.push_back(position < 0 ? 1 : scores.getDimSize(position));
  if (failed(verifyReads(*this, getReads(), getReadMaps(), sizes))) // C2
    return failure();
  return verifySignatures(*this, RegionSignature::keep(getContext()), getReads(), getReadMaps()); // C3
}

OpFoldResult MaskOp::fold(FoldAdaptor) {
  bool keepsAll = matchPattern(getKeep().front().getTerminator()->getOperand(0), m_One());
  return keepsAll ? OpFoldResult(getScores()) : OpFoldResult();
}

SmallVector<ScoreRead> MaskOp::getScoreReads() {
  int64_t rank = getScores().getType().getRank();
  SmallVector<AffineExpr> coordinates;
  for (int64_t position : getPositions(rank))
    coordinates.push_back(position < 0 ? getAffineConstantExpr(0, getContext())
                                       : getAffineDimExpr(position, getContext()));
  SmallVector<ScoreRead> reads;
  for (auto [tensor, map] : llvm::zip_equal(getReads(), getReadMaps().getAsValueRange<AffineMapAttr>()))
    reads.push_back({tensor, map.replaceDimsAndSymbols(coordinates, {}, rank, 0)});
  return reads;
}

bool MaskOp::keepsMinusInfinity() { return true; }

Value MaskOp::buildScore(OpBuilder &, Location, Value score, const ScorePoint &, ValueRange) { return score; }

Value MaskOp::buildKeep(OpBuilder &builder, Location loc, const ScorePoint &point, ValueRange reads) {
  Block &body = getKeep().front();
  IRMapping mapping;
  Value indices[] = {point.batch, point.head, point.query, point.key, point.queryLength, point.keyLength};
  for (auto [argument, index] : llvm::zip(body.getArguments(), indices))
    mapping.map(argument, index ? index : arith::ConstantIndexOp::create(builder, loc, 0));
  for (auto [argument, read] : llvm::zip_equal(body.getArguments().drop_front(6), reads)) {
    // Reads arrive extended to f32; the region sees the element as the tensor holds it.
    Value value = read;
    if (value.getType() != argument.getType())
      value = arith::TruncFOp::create(builder, loc, argument.getType(), value);
    mapping.map(argument, value);
  }
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
}

/// `value` as a constant of `type`.
static Attribute getConstant(double value, Type type) {
  return isa<FloatType>(type) ? Attribute(FloatAttr::get(type, value))
                              : IntegerAttr::get(type, static_cast<int64_t>(value));
}

/// Evaluates the region by folding each of its operations; an operation that does not fold makes the result
/// NaN, which no comparison passes.
double MaskOp::evaluateScore(double score, ArrayRef<int64_t> coordinate, ArrayRef<int64_t> shape,
                             function_ref<double(unsigned, ArrayRef<int64_t>)> read) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  Block &body = getKeep().front();
  llvm::DenseMap<Value, Attribute> constants;
  llvm::DenseMap<Value, unsigned> wholeReads;

  SmallVector<int64_t> indices;
  for (int64_t position : getPositions(shape.size()))
    indices.push_back(position < 0 ? 0 : coordinate[position]);
  indices.append({shape[shape.size() - 2], shape[shape.size() - 1]});
  for (auto [argument, index] : llvm::zip(body.getArguments(), indices))
    constants[argument] = IntegerAttr::get(argument.getType(), index);
  for (auto [index, argument, scoreRead] :
       llvm::enumerate(body.getArguments().drop_front(6), getScoreReads())) {
    if (isa<RankedTensorType>(argument.getType()))
      wholeReads[argument] = index;
    else
      constants[argument] = getConstant(read(index, scoreRead.map.compose(coordinate)), argument.getType());
  }

  for (Operation &op : body.without_terminator()) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(constants.lookup(operand));
    if (auto extract = dyn_cast<tensor::ExtractOp>(op); extract && wholeReads.contains(extract.getTensor())) {
      auto position = getConstants(ArrayRef(operands).drop_front());
      if (!position)
        return unknown;
      double element = read(wholeReads[extract.getTensor()], *position);
      constants[extract.getResult()] = getConstant(element, extract.getType());
      continue;
    }
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(operands, results)) || results.size() != op.getNumResults())
      return unknown;
    for (auto [result, folded] : llvm::zip_equal(op.getResults(), results))
      constants[result] =
          isa<Attribute>(folded) ? cast<Attribute>(folded) : constants.lookup(cast<Value>(folded));
  }
  auto keep = dyn_cast_if_present<IntegerAttr>(constants.lookup(body.getTerminator()->getOperand(0)));
  if (!keep)
    return unknown;
  return keep.getValue().isZero() ? -std::numeric_limits<double>::infinity() : score;
}

} // namespace heed::attn
