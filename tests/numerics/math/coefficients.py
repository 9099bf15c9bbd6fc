#!/usr/bin/env python3
"""Recomputes the polynomial coefficients of compiler/passes/MathFunctions.cpp.

Method: Remez exchange in 50-digit arithmetic (mpmath) on a fixed grid, with a weight that makes the error
relative to the function's result. Coefficients are then rounded one at a time to the type they are stored
in, lowest power first; after each rounding the rest is fitted again, so that later coefficients absorb the
error of earlier ones.

Usage: coefficients.py [NAME ...]     (needs mpmath; prints C++ initializers, lowest power first)
"""
import struct
import sys
from mpmath import mp, mpf, matrix, lu_solve, cos, pi, exp, log, erf, erfc, sin, sqrt, atanh, tanh, fabs, sign

mp.dps = 50


def to_f32(x):
    return mpf(struct.unpack("<f", struct.pack("<f", float(x)))[0])


def to_f64(x):
    return mpf(float(x))


def remez(values, xs, weights, powers):
    """Coefficients c that minimize max |weights * (values - sum c_k x^powers_k)| over the grid xs."""
    count = len(powers) + 1
    last = len(xs) - 1
    reference = sorted({round(last * (1 - cos(pi * i / (count - 1))) / 2) for i in range(count)}) if count > 1 else [0]
    for _ in range(60):
        system, right = matrix(count, count), matrix(count, 1)
        for row, i in enumerate(reference):
            for column, power in enumerate(powers):
                system[row, column] = xs[i] ** power
            system[row, count - 1] = (-1) ** row / weights[i]
            right[row] = values[i]
        solution = lu_solve(system, right)
        errors = [weights[i] * (values[i] - sum(solution[k] * xs[i] ** p for k, p in enumerate(powers)))
                  for i in range(len(xs))]
        peaks = []  # the largest error of each run of one sign
        for i, error in enumerate(errors):
            if peaks and sign(errors[peaks[-1]]) == sign(error):
                if fabs(error) > fabs(errors[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > count:  # drop at the end with the smaller error, to keep the alternation
            peaks.pop(0 if fabs(errors[peaks[0]]) < fabs(errors[peaks[-1]]) else -1)
        worst = max(fabs(e) for e in errors)
        if len(peaks) < count or worst <= fabs(solution[count - 1]) * (1 + mpf(10) ** -6):
            return [solution[k] for k in range(count - 1)], worst
        reference = peaks
    return [solution[k] for k in range(count - 1)], worst


def fit(name, function, low, high, powers, weight, rounding, note="", grid=600):
    xs = [mpf(low) + (mpf(high) - mpf(low)) * (1 - cos(pi * (i + mpf(1) / 2) / grid)) / 2 for i in range(grid)]
    values, weights = [function(x) for x in xs], [weight(x) for x in xs]
    rest, fixed = list(powers), []
    while rest:
        coefficients, worst = remez(values, xs, weights, rest)
        first = rounding(coefficients[0])
        fixed.append(first)
        values = [v - first * x ** rest[0] for v, x in zip(values, xs)]
        rest.pop(0)
    worst = max(fabs(w * v) for w, v in zip(weights, values))
    digits = 9 if rounding is to_f32 else 17
    print(f"// {name}{note}: weighted error {float(worst):.2g} = 2^{float(log(worst, 2)):.1f}")
    print("{" + ", ".join(f"{float(c):.{digits}g}" for c in fixed) + "}\n")


half_ln2 = log(2) / 2 * (1 + mpf(2) ** -16)  # a little more than the reduction leaves
low_log, high_log = sqrt(mpf(1) / 2) - 1 - mpf(2) ** -20, sqrt(2) - 1 + mpf(2) ** -20
quarter_pi = pi / 4 * (1 + mpf(2) ** -16)


def series(function, order):
    """function(x) with its value at 0, which the formula cannot give, replaced by the limit."""
    return lambda x: function(x) if fabs(x) > mpf(10) ** -20 else mpf(order)


FITS = {
    # 2^x - 1 = x p(x)
    "exp2": lambda: fit("exp2", series(lambda x: (2 ** x - 1) / x, log(2)), -0.5 - 2 ** -16, 0.5 + 2 ** -16, range(6),
                        lambda x: fabs(x) / 2 ** x, to_f32),
    # e^x - 1 = x + x^2 p(x)
    "exp": lambda: fit("exp", series(lambda x: (exp(x) - 1 - x) / x ** 2, 0.5), -half_ln2, half_ln2, range(5),
                       lambda x: x ** 2 / exp(x), to_f32),
    "expm1": lambda: fit("expm1", series(lambda x: (exp(x) - 1 - x) / x ** 2, 0.5), -half_ln2, half_ln2, range(5),
                         lambda x: fabs(x) + mpf(10) ** -30, to_f32),
    # log(1 + x) = x - x^2/2 + x^3 p(x)
    "log": lambda: fit("log", series(lambda x: (log(1 + x) - x + x ** 2 / 2) / x ** 3, mpf(1) / 3), low_log, high_log,
                       range(8), lambda x: fabs(x ** 3 / log(1 + x)) if x else 0, to_f32),
    # sin x = x + x^3 p(x^2), cos x = 1 - x^2/2 + x^4 p(x^2); the variable is x^2
    "sin": lambda: fit("sin", series(lambda s: (sin(sqrt(s)) - sqrt(s)) / sqrt(s) ** 3, mpf(-1) / 6), 0,
                       quarter_pi ** 2, range(3), lambda s: s, to_f32),
    "cos": lambda: fit("cos", series(lambda s: (cos(sqrt(s)) - 1 + s / 2) / s ** 2, mpf(1) / 24), 0, quarter_pi ** 2,
                       range(3), lambda s: s ** 2 + mpf(10) ** -30, to_f32),
    # erf x = x + x p(x^2) below 1
    "erf-small": lambda: fit("erf-small", series(lambda s: erf(sqrt(s)) / sqrt(s) - 1, 2 / sqrt(pi) - 1), 0, 1,
                             range(7), lambda s: 1, to_f32),
    # -log(erfc x) = x p(x) from 1 to where erf rounds to 1
    "erf-large": lambda: fit("erf-large", lambda x: -log(erfc(x)) / x, 0.96, 4, range(7),
                             lambda x: x * erfc(x) / erf(x), to_f32),
    # -log2(erfc x) = x p(x) to where erfc is as small as what rounding loses beside 1
    "erfc": lambda: fit("erfc", series(lambda x: -log(erfc(x)) / x / log(2), 2 / sqrt(pi) / log(2)), 0, 4, range(8),
                        lambda x: x * erfc(x) * log(2), to_f32),
    # tanh x = x + x^3 p(x^2) below 5/8
    "tanh": lambda: fit("tanh", series(lambda s: (tanh(sqrt(s)) / sqrt(s) - 1) / s, mpf(-1) / 3), 0, mpf(5) ** 2 / 64,
                        range(5), lambda s: s, to_f32),
    # log2((1 + s) / (1 - s)) = s p(s^2), in double precision for powf
    "log2-f64": lambda: fit("log2-f64", series(lambda s: 2 * atanh(sqrt(s)) / sqrt(s) / log(2), 2 / log(2)), 0,
                            (3 - 2 * sqrt(2)) ** 2 * (1 + mpf(2) ** -16), range(7), lambda s: 1, to_f64),
    # 2^x in double precision for powf
    "exp2-f64": lambda: fit("exp2-f64", series(lambda x: (2 ** x - 1) / x, log(2)), -0.5 - 2 ** -16, 0.5 + 2 ** -16,
                            range(8), lambda x: fabs(x) / 2 ** x, to_f64),
}

for name in sys.argv[1:] or FITS:
    FITS[name]()
