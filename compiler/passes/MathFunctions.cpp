// Elementary functions as straight-line arithmetic; see MathFunctions.h for what they promise.
//
// Coefficients are minimax polynomials in the sense of Remez, found by tests/numerics/math/coefficients.py,
// which also says how they were rounded.
#include "compiler/passes/MathFunctions.h"

namespace heed {

namespace {

constexpr double log2e = 0x1.71547652b82fep+0;
// ln 2 in two parts; the first has 10 bits, so that its product with an exponent is exact.
constexpr double ln2High = 0.693359375, ln2Low = -2.12194440054690583e-4;
// Adding this rounds a float of magnitude under 2^22 to an integer, which then stands in the low bits.
constexpr double magic = 0x1.8p23, magic64 = 0x1.8p52;

/// x = exponent·ln 2 + rest with |rest| ≤ ln 2 / 2. `scale` is 2^(exponent − 1), so that exponents from −126
/// (where it is zero) to 128 (the largest that finite results have) need no case of their own.
struct Reduced {
  Expr rest, scale;
};
Reduced reduceExp(Expr x) {
  Expr shifted = fma(x, log2e, magic + 126);
  Expr exponent = shifted - (magic + 126);
  Expr rest = fma(exponent, -ln2Low, fma(exponent, -ln2High, x));
  return {rest, shli(shifted.bits(), 23).asF32()};
}

/// Bounds of an exponential's argument within which `reduceExp` holds, and past which the result is 0 or
/// infinite.
Expr clampExp(Expr x) { return atLeast(atMost(x, 89), -87.5); }

/// e^x for −87.5 ≤ x ≤ 89.
Expr expInRange(Expr x) {
  auto [rest, scale] = reduceExp(x);
  // Twice e^rest, because of what `scale` is.
  return polynomial(rest, {2, 2, 2 * 0.49999994, 2 * 0.166665167, 2 * 0.0416681021, 2 * 0.00836919248,
                           2 * 0.00138389028}) *
         scale;
}

/// e^x − 1 for −87.5 ≤ x ≤ 89; the sign of zero is lost.
Expr expm1InRange(Expr x) {
  auto [rest, scale] = reduceExp(x);
  Expr q =
      fma(rest * rest, polynomial(rest, {0.5, 0.16666539, 0.041666612, 0.0083670998, 0.001391761}), rest);
  return fma(scale, q, scale - 0.5) * 2;
}

/// x = 2^exponent · (1 + fraction) with 1 + fraction from √½ to √2; x is positive and normal.
struct Split {
  Expr exponent, fraction;
};
Expr exponentBits(Expr x) { return shrsi(subi(x.bits(), 0x3f3504f3), 23); }
Split splitLog(Expr x) {
  Expr exponent = exponentBits(x);
  return {exponent, subi(x.bits(), shli(exponent, 23)).asF32() - 1};
}

/// log(1 + f) − f for 1 + f from √½ to √2.
Expr logTail(Expr f) {
  Expr square = f * f;
  Expr cubic = f * square *
               polynomial(f, {0.333333135, -0.250000268, 0.200020805, -0.16668345, 0.142200023, -0.123844571,
                              0.118614025, -0.118551187, 0.0706696063});
  return fma(square, -0.5, cubic);
}

/// Where x is not a positive finite number, what a logarithm of x gives; `result` elsewhere.
Expr fixLog(Expr x, Expr result) {
  result = select(x < x.infinity(), result, x);
  result = select(x < 0, x.nan(), result);
  return select(x == 0, negate(x.infinity()), result);
}

/// Makes subnormal numbers normal, and says by which power of two.
std::pair<Expr, Expr> normalize(Expr x) {
  Expr small = x < 0x1p-126;
  return {select(small, x * 0x1p23, x), select(small, x.constant(-23), x.constant(0))};
}

/// log2 of a positive f64, to 2^-50 of its value; exact for powers of two.
Expr log2Wide(Expr x) {
  Expr exponent = shrsi(subi(x.bits(), 0x3fe6a09e667f3bcd), 52);
  Expr mantissa = subi(x.bits(), shli(exponent, 52)).asF64();
  Expr s = (mantissa - 1) / (mantissa + 1);
  Expr tail = s * polynomial(s * s, {2.8853900817779272, 0.96179669392441092, 0.57707801722751273,
                                     0.41219840405985697, 0.32061628251813129, 0.26144693342104613,
                                     0.24288966699362891});
  return exponent.truncateTo(32).intToF64() +
         tail; // a conversion from i64 is no vector instruction before AVX-512
}

/// 2^x of an f64 with |x| ≤ 1000, to 2^-35 of its value.
Expr exp2Wide(Expr x) {
  Expr shifted = x + magic64;
  Expr rest = x - (shifted - magic64);
  Expr power = polynomial(rest, {1, 0.69314718054820945, 0.24022650698111073, 0.055504109352784818,
                                 0.0096181285726022539, 0.0013333458590168972, 0.00015404097208959012,
                                 1.5308584790187022e-05, 1.3126624407563185e-06});
  return power * shli(addi(shifted.bits(), 1023), 52).asF64();
}

/// 2^x for −126.25 ≤ x ≤ 128.25.
Expr exp2InRange(Expr x) {
  Expr shifted = x + (magic + 126);
  Expr rest = x - (shifted - (magic + 126));
  return polynomial(rest, {2, 2 * 0.693147182, 2 * 0.240225941, 2 * 0.0555036627, 2 * 0.00962544512,
                           2 * 0.00133879273, 2 * 0.000133325026}) *
         shli(shifted.bits(), 23).asF32();
}

} // namespace

Expr buildExp(Expr x) { return expInRange(clampExp(x)); }

Expr buildExp2(Expr x) { return exp2InRange(atLeast(atMost(x, 128.25), -126.25)); }

Expr buildExp2Approximate(Expr x) {
  x = atLeast(x, -126.25);
  Expr shifted = x + (magic + 126);
  Expr rest = x - (shifted - (magic + 126));
  return polynomial(rest, {2, 2 * 0.693147004, 2 * 0.240222245, 2 * 0.0555065088, 2 * 0.00967260078,
                           2 * 0.00133028021}) *
         shli(shifted.bits(), 23).asF32();
}

Expr buildExpm1(Expr x) { return select(abs(x) < 0x1p-25, x, expm1InRange(clampExp(x))); }

Expr buildLog(Expr x) {
  auto [normal, bias] = normalize(x);
  auto [exponent, f] = splitLog(normal);
  Expr e = exponent.intToF32() + bias;
  return fixLog(x, fma(e, ln2High, f + fma(e, ln2Low, logTail(f))));
}

Expr buildLog2(Expr x) {
  auto [normal, bias] = normalize(x);
  auto [exponent, f] = splitLog(normal);
  constexpr double high = 0x1.715476p+0, low = log2e - high;
  return fixLog(x, (exponent.intToF32() + bias) + fma(f, high, fma(logTail(f), high, f * low)));
}

Expr buildLog1p(Expr x) {
  // 1 + x = 2^e·(1 + f) with f = 2^-e·x + (2^-e − 1), rounded once though 1 + x was rounded. From 2^64 on the
  // one is dropped and x scaled, lest 2^-e be subnormal.
  Expr large = x >= 0x1p64;
  Expr scaled = select(large, x * 0x1p-64, x);
  Expr exponent = exponentBits(select(large, scaled, x + 1));
  Expr scale = shli(subi(exponent.integer(127), exponent), 23).asF32();
  Expr f = fma(scaled, scale, select(large, x.constant(-1), scale - 1));
  Expr e = exponent.intToF32() + select(large, x.constant(64), x.constant(0));
  Expr result = fma(e, ln2High, f + fma(e, ln2Low, logTail(f)));
  result = select(x < x.infinity(), result, x);
  result = select(x < -1, x.nan(), result);
  result = select(x == -1, negate(x.infinity()), result);
  return select(abs(x) < 0x1p-25, x, result);
}

Expr buildTanh(Expr x) {
  Expr magnitude = abs(x), square = x * x;
  Expr small =
      fma(magnitude * square,
          polynomial(square, {-0.333332837, 0.133314833, -0.0537427738, 0.0206480622, -0.00571406353}),
          magnitude);
  Expr large = 1 - 2 / (expInRange(atMost(magnitude, 10) * 2) + 1);
  return copySign(select(magnitude < 0.625, small, large), x);
}

Expr buildErf(Expr x) {
  Expr magnitude = abs(x), square = x * x;
  Expr small = fma(magnitude,
                   polynomial(square, {0.128379166, -0.376126289, 0.112836182, -0.026855126, 0.00519073382,
                                       -0.000803076313, 7.92038627e-05}),
                   magnitude);
  // erf a = 1 − e^(−a p(a)), 1 in f32 from 4 on.
  Expr a = atMost(magnitude, 4);
  Expr exponent = a * polynomial(a, {1.12867141, 0.635059297, 0.106387451, -0.0238904785, 0.00370261818,
                                     -0.000337474485, 1.2685754e-05});
  Expr large = 1 - expInRange(negate(exponent));
  return copySign(select(magnitude < 1, small, large), x);
}

Expr buildErfcApproximate(Expr x) {
  // erfc a = 2^(−a p(a)); p was fitted up to 4, and grows fast enough from there on.
  Expr a = abs(x);
  Expr exponent = a * polynomial(a, {-1.62790859, -0.91841644, -0.148481503, 0.0282536484, -0.000774818007,
                                     -0.00148920389, 0.000445405312, -4.53444591e-05});
  Expr tail = exp2InRange(atLeast(exponent, -126.25));
  return select(x < 0, 2 - tail, tail);
}

Expr buildPow(Expr x, Expr y) {
  Expr magnitude = abs(x), one = x.constant(1);
  Expr wide = magnitude.toF64();
  Expr log = select(magnitude == 0, negate(wide.infinity()), log2Wide(wide));
  log = select(magnitude == magnitude.infinity(), wide.infinity(), log);
  Expr result = exp2Wide(atLeast(atMost(y.toF64() * log, 1000), -1000)).toF32();

  // From 2^24 on all floats are even integers, and 0 stands for them.
  Expr whole = select(abs(y) < 0x1p24, y, y.constant(0));
  Expr integer = whole.floatToInt();
  Expr isInteger = integer.intToF32() == whole;
  Expr sign = select(isInteger, shli(integer, 31) & x.bits(), integer.integer(0)); // that of x where y is odd
  result = (result.bits() ^ sign).asF32();
  result = select((x < 0) & (magnitude < x.infinity()), select(isInteger, result, x.nan()), result);
  result = select(isNaN(x) | isNaN(y), x.nan(), result);
  Expr unit = (y == 0) | (x == 1) | ((magnitude == 1) & (abs(y) == y.infinity()));
  return select(unit, one, result);
}

Expr buildRsqrt(Expr x) { return 1 / x.with(mlir::math::SqrtOp::create(x.getBuilder(), x)); }

} // namespace heed
