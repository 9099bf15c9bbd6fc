// Sine and cosine of any f32; see MathFunctions.h for what they promise.
#include "compiler/passes/MathFunctions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace heed {

using namespace mlir;

namespace {

/// An angle as quadrant·π/2 + rest with |rest| ≤ π/4; of the quadrant (i32) the last two bits count.
struct Angle {
  Expr rest, quadrant;
};

/// From here on f64 has too few bits for `reduceNear`.
constexpr double far = 0x1p28;

/// |x| < far. π/2 comes in parts of 25, 25 and 53 bits, so that the products of the first two with a quadrant
/// are exact (Cody and Waite 1980).
Angle reduceNear(Expr x) {
  constexpr double magic = 0x1.8p52; // adding this leaves an integer in the low bits
  Expr wide = x.toF64();
  Expr shifted = fma(wide, 0x1.45f306dc9c883p-1, magic);
  Expr n = shifted - magic;
  Expr rest = ((wide - n * 0x1.921fb5p+0) - n * 0x1.110b46p-26) - n * 0x1.1a62633145c07p-54;
  return {rest.toF32(), shifted.bits().truncateTo(32)};
}

/// |x| ≥ far. x = m·2^e, and of x / 2π only the fraction counts: m times the bits of 1/2π from the e-th on,
/// 96 of them, because an f32 comes no nearer to a multiple of π/2 than about 2^-30 (Payne and Hanek 1983).
Angle reduceFar(Expr x) {
  Expr bits = x.bits();
  Expr mantissa = ((bits & 0x7fffff) | 0x800000).zeroExtendTo(64);
  Expr e = subi(shrui(bits, 23) & 0xff, 150).zeroExtendTo(64);
  constexpr int64_t digits[] = {0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410,
                                0x7f9458eaf7aef158};
  Expr firstWord = lessSigned(e, 64), shift = e & 63;
  auto word = [&](int i) { return select(firstWord, e.integer(digits[i]), e.integer(digits[i + 1])); };
  auto window = [&](int i) {
    // Two shifts right, because by 64 there is none.
    return shli(word(i), shift) | shrui(shrui(word(i + 1), 1), subi(e.integer(63), shift));
  };
  Expr turn = addi(muli(mantissa, window(0)), shrui(muli(mantissa, shrui(window(1), 32)), 32)); // in 2^-64
  Expr quadrant = shrui(addi(turn, int64_t(1) << 61), 62);
  Expr rest = (subi(turn, shli(quadrant, 62)).intToF64() * 0x1.921fb54442d18p-62).toF32();
  Expr narrow = quadrant.truncateTo(32);
  Expr negative = lessSigned(bits, 0);
  return {select(negative, negate(rest), rest), select(negative, subi(narrow.integer(0), narrow), narrow)};
}

/// Whether a condition holds in any lane.
Value anyLane(Expr condition) {
  auto type = dyn_cast<VectorType>(Value(condition).getType());
  if (!type)
    return condition;
  ImplicitLocOpBuilder &builder = condition.getBuilder();
  Value flat = condition;
  if (type.getRank() != 1)
    flat = vector::ShapeCastOp::create(builder, VectorType::get(type.getNumElements(), type.getElementType()),
                                       flat);
  return vector::ReductionOp::create(builder, vector::CombiningKind::OR, flat);
}

Angle reduce(Expr x) {
  Angle near = reduceNear(x);
  Expr magnitude = abs(x);
  Expr isFar = (magnitude >= far) & (magnitude < x.infinity()); // of infinity `reduceNear` makes NaN
  auto yield = [&](const Angle &angle) {
    scf::YieldOp::create(x.getBuilder(), ValueRange{angle.rest, angle.quadrant});
  };
  auto branch = scf::IfOp::create(
      x.getBuilder(), anyLane(isFar),
      [&](OpBuilder &, Location) {
        Angle angle = reduceFar(x);
        yield({select(isFar, angle.rest, near.rest), select(isFar, angle.quadrant, near.quadrant)});
      },
      [&](OpBuilder &, Location) { yield(near); });
  return {x.with(branch.getResult(0)), x.with(branch.getResult(1))};
}

/// sin(x + turns·π/2).
Expr buildSinusoid(Expr x, int64_t turns) {
  auto [rest, start] = reduce(x);
  Expr quadrant = addi(start, turns);
  Expr square = rest * rest;
  Expr sine = fma(rest * square, polynomial(square, {-0.166666552, 0.00833219197, -0.000195187895}), rest);
  Expr cosine = fma(square * square, polynomial(square, {0.0416666456, -0.00138873013, 2.44306702e-05}),
                    fma(square, -0.5, square.constant(1)));
  Expr value = select(equal(quadrant & 1, 0), sine, cosine);
  return (value.bits() ^ shli(quadrant & 2, 30)).asF32();
}

} // namespace

Expr buildSin(Expr x) { return select(abs(x) < 0x1p-13, x, buildSinusoid(x, 0)); }
Expr buildCos(Expr x) { return buildSinusoid(x, 1); }

} // namespace heed
