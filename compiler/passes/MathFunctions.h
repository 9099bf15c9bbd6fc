// Elementary functions as straight-line arithmetic, on scalars and vectors of f32.
#pragma once

#include "compiler/passes/MathBuilder.h"

namespace heed {

/// Each takes f32 and gives f32. NaN gives NaN; infinities and zeros give what C's functions give, signs of
/// zero included. Errors are in units in the last place, with fused multiply-add and without;
/// tests/numerics/MathTest.cpp fails when one is exceeded.
///
/// | function   | error, fused | not  | remarks                                                     |
/// |------------|--------------|------|-------------------------------------------------------------|
/// | exp        | 1            | 1.25 | results up to 2^-125.5 are zero                             |
/// | exp2       | 1            | 1.25 | results up to 2^-125.5 are zero                             |
/// | exp2 (afn) | 2            | 2.25 | of arguments up to 128; where `fastmath<afn>` asks for it   |
/// | expm1      | 1.75         | 1.75 |                                                             |
/// | log        | 1            | 1    |                                                             |
/// | log2       | 1.25         | 1.75 |                                                             |
/// | log1p      | 1.5          | 1.5  |                                                             |
/// | tanh       | 1.5          | 1.5  |                                                             |
/// | erf        | 1.25         | 1.25 |                                                             |
/// | erfc (afn) | 1.5          | 1.5  | in units of 2^-23 everywhere                                |
/// | sin, cos   | 1.75         | 1.75 | from 2^28 on slower, in a branch                            |
/// | rsqrt      | 1.5          | 1.5  |                                                             |
/// | powf       | 0.51         | 0.51 |                                                             |
Expr buildExp(Expr x);
Expr buildExp2(Expr x);
Expr buildExp2Approximate(Expr x);
Expr buildExpm1(Expr x);
Expr buildLog(Expr x);
Expr buildLog2(Expr x);
Expr buildLog1p(Expr x);
Expr buildTanh(Expr x);
Expr buildErf(Expr x);
Expr buildErfcApproximate(Expr x);
Expr buildSin(Expr x);
Expr buildCos(Expr x);
Expr buildRsqrt(Expr x);
Expr buildPow(Expr x, Expr y);

/// The remainder of C's fmodf, exact.
Expr buildRem(Expr x, Expr y);
/// a·b + c of f32 rounded once, on targets that have no such instruction.
Expr buildExactFma(Expr a, Expr b, Expr c);

/// Of any float; the other operand where one is NaN.
Expr buildMaxNum(Expr x, Expr y);
Expr buildMinNum(Expr x, Expr y);

/// Of f32 and f64; exact.
Expr buildRoundEven(Expr x);
Expr buildTrunc(Expr x);
Expr buildFloor(Expr x);
Expr buildCeil(Expr x);
/// Halves away from zero.
Expr buildRound(Expr x);

/// f64 to f32, rounded to odd: a later rounding to f16 or bf16 is then as good as rounding once.
Expr truncateToOdd(Expr x);

} // namespace heed
