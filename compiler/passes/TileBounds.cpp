#include "compiler/passes/TileBounds.h"

#include "compiler/passes/LetteredSlices.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace heed {

bool TileBounds::areKnown() const {
  return !matchPattern(maybeKept, m_One()) || !matchPattern(maybeDropped, m_One());
}

namespace {

using Predicate = arith::CmpIPredicate;

using Interval = TileInterval;
using Truth = TileTruth;

class Evaluator {
public:
  Evaluator(ImplicitLocOpBuilder &b, attn::AttentionOp op, const TilePlace &place, Value key,
            OpFoldResult columns, const DenseMap<Value, Interval> &known,
            const DenseMap<Value, Truth> &knownTruths)
      : b(b), op(op), truths(knownTruths) {
    for (auto [value, interval] : known)
      intervals[value] = interval;
    OpFoldResult one = b.getIndexAttr(1);
    Value query = b.createOrFold<arith::AddIOp>(place.tileBegin, place.queryOffset);
    key = b.createOrFold<arith::AddIOp>(key, place.keyOffset);
    ranges = {{place.batch, one}, {place.head, one}, {query, getAsOpFoldResult(place.rows)}, {key, columns}};
    auto last = [&](Value first, OpFoldResult size) {
      return subtract(add(first, asValue(b, size)), indexConstant(b, 1));
    };
    Value lengths[] = {place.queryLength, place.keyLength};
    for (BlockArgument argument : op.getKeep().getArguments().take_front(6)) {
      unsigned number = argument.getArgNumber();
      Value first = number < 4 ? asValue(b, ranges[number].first) : lengths[number - 4];
      intervals[argument] = {first, number == 2 || number == 3 ? last(first, ranges[number].second) : first};
    }
  }

  Truth evaluate(Value value) {
    auto known = truths.find(value);
    if (known != truths.end())
      return known->second;
    Truth truth =
        isa<BlockArgument>(value) ? readTruth(cast<BlockArgument>(value)) : compute(value.getDefiningOp());
    truths[value] = truth;
    return truth;
  }

  std::optional<Interval> getInterval(Value value) {
    auto known = intervals.find(value);
    if (known != intervals.end())
      return known->second;
    std::optional<Interval> interval;
    APInt number;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      interval = readInterval(argument);
    } else if (matchPattern(value, m_ConstantInt(&number))) {
      Value copy = arith::ConstantOp::create(b, b.getIntegerAttr(value.getType(), number));
      interval = {copy, copy};
    } else if (isa<arith::ExtSIOp, arith::IndexCastOp>(value.getDefiningOp()) &&
               value.getDefiningOp()->getOperand(0).getType().isIntOrIndex()) {
      interval = extend(value);
    }
    intervals[value] = interval;
    return interval;
  }

private:
  Value constant(bool value) { return arith::ConstantOp::create(b, b.getBoolAttr(value)); }
  Truth unknown() { return {constant(true), constant(true)}; }
  Value both(Value x, Value y) { return b.createOrFold<arith::AndIOp>(x, y); }
  Value either(Value x, Value y) { return b.createOrFold<arith::OrIOp>(x, y); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value subtract(Value x, Value y) { return b.createOrFold<arith::SubIOp>(x, y); }
  Value compare(Predicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(predicate, x, y);
  }

  Truth conjunction(Truth x, Truth y) {
    return {both(x.maybeTrue, y.maybeTrue), either(x.maybeFalse, y.maybeFalse)};
  }
  Truth negation(Truth x) { return {x.maybeFalse, x.maybeTrue}; }
  Truth disjunction(Truth x, Truth y) { return negation(conjunction(negation(x), negation(y))); }

  /// x <= y.
  Truth atMost(std::optional<Interval> x, std::optional<Interval> y) {
    if (!x || !y)
      return unknown();
    return {compare(Predicate::sle, x->low, y->high), compare(Predicate::sgt, x->high, y->low)};
  }
  Truth equal(std::optional<Interval> x, std::optional<Interval> y) {
    if (!x || !y)
      return unknown();
    // All are equal if the greatest of each is the least of the other.
    Value same = both(compare(Predicate::eq, x->low, y->high), compare(Predicate::eq, x->high, y->low));
    return {both(compare(Predicate::sle, x->low, y->high), compare(Predicate::sle, y->low, x->high)),
            b.createOrFold<arith::XOrIOp>(same, constant(true))};
  }

  Truth compute(Operation *op) {
    APInt number;
    if (matchPattern(op, m_ConstantInt(&number)))
      return {constant(!number.isZero()), constant(number.isZero())};
    auto interval = [&](unsigned operand) { return getInterval(op->getOperand(operand)); };
    auto truth = [&](unsigned operand) { return evaluate(op->getOperand(operand)); };
    return TypeSwitch<Operation *, Truth>(op)
        .Case([&](arith::AndIOp) { return conjunction(truth(0), truth(1)); })
        .Case([&](arith::OrIOp) { return disjunction(truth(0), truth(1)); })
        .Case([&](arith::XOrIOp) {
          Truth x = truth(0), y = truth(1);
          return disjunction(conjunction(x, negation(y)), conjunction(negation(x), y));
        })
        .Case([&](arith::SelectOp) {
          Truth chosen = truth(0);
          return disjunction(conjunction(chosen, truth(1)), conjunction(negation(chosen), truth(2)));
        })
        .Case([&](arith::CmpIOp op) {
          if (op.getLhs().getType().isInteger(1))
            return unknown();
          switch (op.getPredicate()) {
          case Predicate::eq:
            return equal(interval(0), interval(1));
          case Predicate::ne:
            return negation(equal(interval(0), interval(1)));
          case Predicate::sle:
            return atMost(interval(0), interval(1));
          case Predicate::sge:
            return atMost(interval(1), interval(0));
          case Predicate::slt:
            return negation(atMost(interval(1), interval(0)));
          case Predicate::sgt:
            return negation(atMost(interval(0), interval(1)));
          default:
            return unknown();
          }
        })
        .Case([&](attn::CausalOp op) {
          std::optional<Interval> last = interval(0);
          if (op.getAlignment() == attn::Alignment::BottomRight)
            last = sum(last, difference(interval(3), interval(2)));
          return atMost(interval(1), last);
        })
        .Case([&](attn::WindowOp op) {
          auto bound = [&](int64_t size) { return Interval{indexConstant(b, size), indexConstant(b, size)}; };
          return conjunction(atMost(difference(interval(0), interval(1)), bound(op.getBefore())),
                             atMost(difference(interval(1), interval(0)), bound(op.getAfter())));
        })
        .Case([&](attn::PrefixOp) { return negation(atMost(interval(1), interval(0))); })
        .Case([&](attn::SameDocumentOp) { return equal(interval(0), interval(1)); })
        .Default([&](Operation *) { return unknown(); });
  }

  /// Of positions alone, whose sums stay in range.
  std::optional<Interval> sum(std::optional<Interval> x, std::optional<Interval> y) {
    if (!x || !y)
      return std::nullopt;
    return Interval{add(x->low, y->low), add(x->high, y->high)};
  }
  std::optional<Interval> difference(std::optional<Interval> x, std::optional<Interval> y) {
    if (!x || !y)
      return std::nullopt;
    return Interval{subtract(x->low, y->high), subtract(x->high, y->low)};
  }

  /// A conversion that loses nothing.
  std::optional<Interval> extend(Value value) {
    Operation *op = value.getDefiningOp();
    auto width = [](Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); };
    std::optional<Interval> narrow = getInterval(op->getOperand(0));
    if (!narrow || width(value.getType()) < width(op->getOperand(0).getType()))
      return std::nullopt;
    auto convert = [&](Value x) {
      return b.create(op->getLoc(), op->getName().getIdentifier(), x, value.getType())->getResult(0);
    };
    return Interval{convert(narrow->low), convert(narrow->high)};
  }

  /// What a region's argument is read from in the tile, if it is one element of it.
  std::optional<std::pair<Value, AffineMap>> getSlice(BlockArgument argument) {
    Value read = op.getReads()[argument.getArgNumber() - 6];
    if (isa<ShapedType>(argument.getType()))
      return std::nullopt;
    auto map = cast<AffineMapAttr>(op.getReadMaps()[argument.getArgNumber() - 6]).getValue();
    return sliceRead(b, read, map, ranges);
  }

  template <typename Combine> Value reduce(Value slice, int64_t start) {
    auto type = cast<RankedTensorType>(slice.getType());
    int64_t rank = type.getRank();
    Value first = arith::ConstantOp::create(b, b.getIntegerAttr(type.getElementType(), start));
    if (rank == 0)
      return tensor::ExtractOp::create(b, slice);
    SmallVector<int64_t> loops = llvm::to_vector(llvm::seq<int64_t>(rank));
    AffineMap identity = b.getMultiDimIdentityMap(rank);
    Value result =
        buildGeneric(b, {{slice, identity}}, {{filledTensor(b, {}, first), identity.getSubMap({})}}, rank,
                     loops, [](ImplicitLocOpBuilder &b, ValueRange in, ValueRange out) {
                       return SmallVector<Value>{Combine::create(b, out[0], in[0])};
                     })[0];
    return tensor::ExtractOp::create(b, result);
  }

  Truth readTruth(BlockArgument argument) {
    auto slice = getSlice(argument);
    if (!slice)
      return unknown();
    Value all = reduce<arith::AndIOp>(slice->first, -1);
    return {reduce<arith::OrIOp>(slice->first, 0), b.createOrFold<arith::XOrIOp>(all, constant(true))};
  }

  std::optional<Interval> readInterval(BlockArgument argument) {
    auto type = dyn_cast<IntegerType>(argument.getType());
    auto slice = type ? getSlice(argument) : std::nullopt;
    if (!slice)
      return std::nullopt;
    int64_t least = llvm::minIntN(type.getWidth()), greatest = llvm::maxIntN(type.getWidth());
    return Interval{reduce<arith::MinSIOp>(slice->first, greatest),
                    reduce<arith::MaxSIOp>(slice->first, least)};
  }

  ImplicitLocOpBuilder &b;
  attn::AttentionOp op;
  SmallVector<std::pair<OpFoldResult, OpFoldResult>> ranges;
  DenseMap<Value, std::optional<Interval>> intervals;
  DenseMap<Value, Truth> truths;
};

} // namespace

TileBounder::TileBounder(ImplicitLocOpBuilder &b, attn::AttentionOp op, const TilePlace &place)
    : b(b), op(op), place(place) {
  Evaluator evaluator(b, op, place, place.queryLength, b.getIndexAttr(0), intervals, truths);
  for (BlockArgument argument : op.getKeep().getArguments().drop_front(6)) {
    auto map = cast<AffineMapAttr>(op.getReadMaps()[argument.getArgNumber() - 6]).getValue();
    if (map.isFunctionOfDim(3))
      continue;
    if (argument.getType().isInteger(1))
      truths[argument] = evaluator.evaluate(argument);
    else if (std::optional<Interval> interval = evaluator.getInterval(argument))
      intervals[argument] = *interval;
  }
}

TileBounds TileBounder::bound(Value key, OpFoldResult columns) {
  Evaluator evaluator(b, op, place, key, columns, intervals, truths);
  Truth kept = evaluator.evaluate(op.getKeep().front().getTerminator()->getOperand(0));
  return {kept.maybeTrue, kept.maybeFalse};
}

} // namespace heed
