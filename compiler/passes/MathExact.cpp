// Functions that are exact or rounded once: to integers, remainder, fused multiply-add; see MathFunctions.h.
#include "compiler/passes/MathFunctions.h"

namespace heed {

namespace {

/// Floats from this magnitude on are integers.
double integersFrom(Expr x) { return x.width() == 64 ? 0x1p52 : 0x1p23; }

/// `rounded`, which holds for magnitudes under `integersFrom`, extended to all floats, with the sign of x
/// that zeros and values rounded to zero keep.
Expr extendRounding(Expr x, Expr rounded) {
  return select(abs(x) < integersFrom(x), copySign(rounded, x), x);
}

Expr roundSmall(Expr x) {
  Expr magnitude = abs(x);
  return copySign((magnitude + integersFrom(x)) - integersFrom(x), x);
}

Expr oneIf(Expr condition, Expr x) { return select(condition, x.constant(1), x.constant(0)); }

/// The mantissa of |x| as an integer and the exponent of its last bit, biased by 150.
std::pair<Expr, Expr> decompose(Expr x) {
  Expr bits = x.bits() & 0x7fffffff;
  Expr exponent = shrui(bits, 23);
  Expr mantissa = bits & 0x7fffff;
  return {select(equal(exponent, 0), mantissa, mantissa | 0x800000), maxsi(exponent, 1)};
}

} // namespace

Expr buildMaxNum(Expr x, Expr y) { return select((y > x) | isNaN(x), y, x); }
Expr buildMinNum(Expr x, Expr y) { return select((y < x) | isNaN(x), y, x); }

Expr buildRoundEven(Expr x) { return extendRounding(x, roundSmall(x)); }

Expr buildFloor(Expr x) {
  Expr rounded = roundSmall(x);
  return extendRounding(x, rounded - oneIf(rounded > x, x));
}

Expr buildCeil(Expr x) {
  Expr rounded = roundSmall(x);
  return extendRounding(x, rounded + oneIf(rounded < x, x));
}

Expr buildTrunc(Expr x) {
  Expr magnitude = abs(x), rounded = roundSmall(magnitude);
  return extendRounding(x, rounded - oneIf(rounded > magnitude, x));
}

Expr buildRound(Expr x) {
  // Half away from zero differs from half to even only where the latter went down by a half.
  Expr magnitude = abs(x), rounded = roundSmall(magnitude);
  return extendRounding(x, rounded + oneIf(magnitude - rounded == 0.5, x));
}

Expr buildRem(Expr x, Expr y) {
  // Long division of the mantissas: 39 bits of the quotient a step, and exponents differ by 253 at most.
  constexpr int64_t bitsPerStep = 39, steps = 7;
  auto [dividend, dividendExponent] = decompose(x);
  auto [divisor, divisorExponent] = decompose(y);
  Expr zero = y == 0;
  Expr modulus = select(zero, divisor.integer(1), divisor).zeroExtendTo(64);
  Expr remaining = maxsi(subi(dividendExponent, divisorExponent), 0);
  Expr rest = remui(dividend.zeroExtendTo(64), modulus);
  for (int64_t step = 0; step < steps; ++step) {
    Expr shift = minsi(remaining, bitsPerStep);
    rest = remui(shli(rest, shift.zeroExtendTo(64)), modulus);
    remaining = subi(remaining, shift);
  }
  // In f64 the product is exact and normal; the remainder has no more bits than y, so f32 holds it.
  Expr unit = shli(addi(divisorExponent.zeroExtendTo(64), 1023 - 150), 52).asF64();
  Expr result = copySign((rest.truncateTo(32).intToF64() * unit).toF32(), x);
  result = select(abs(x) < abs(y), x, result);
  return select((abs(x) < x.infinity()) & (abs(y) > 0), result, x.nan());
}

Expr truncateToOdd(Expr x) {
  // Where rounding lost something and the last bit is even, the neighbour on the other side of x is odd.
  Expr rounded = x.toF32();
  Expr back = rounded.toF64();
  Expr bits = rounded.bits();
  Expr even = equal(bits & 1, 0);
  Expr finite = abs(rounded) < rounded.infinity();
  Expr below = even & (abs(back) < abs(x)), above = even & (abs(back) > abs(x));
  Expr odd = select(below & finite, addi(bits, 1), select(above, subi(bits, 1), bits));
  return odd.asF32();
}

Expr buildExactFma(Expr a, Expr b, Expr c) {
  // In f64 the product is exact. The sum is rounded to odd, which makes rounding it again to f32 harmless
  // (Boldo and Melquiond 2008): the error of the sum, by Knuth's two-sum, says on which side it lies.
  Expr product = a.toF64() * b.toF64(), addend = c.toF64();
  Expr sum = product + addend;
  Expr shadow = sum - product;
  Expr error = (product - (sum - shadow)) + (addend - shadow);
  Expr bits = sum.bits();
  Expr inexact = (error < 0) | (error > 0);
  Expr outward = ((error > 0) & (sum > 0)) | ((error < 0) & (sum < 0));
  Expr neighbour = select(outward, addi(bits, 1), subi(bits, 1));
  return select(inexact & equal(bits & 1, 0), neighbour, bits).asF64().toF32();
}

} // namespace heed
