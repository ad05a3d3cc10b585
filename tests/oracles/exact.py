"""The kernels of exact algebra once more, operation for operation, in NumPy: the same bits from slow loops.

NumPy rounds + - * / and roots as IEEE 754 says, on arrays as on numbers, so that what is written here in the order of
``kernels/native/exact_*.cpp`` must give the bits of every instruction set. The fma of float32 is emulated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracles.fused import fma

Reals = NDArray[np.float64]
Floats = NDArray[np.float32]

LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42fefa2000p-1"), float.fromhex("0x1.9ef35793c7673p-41")
LOG2_E, ROUNDER = float.fromhex("0x1.71547652b82fep+0"), 1.5 * 2.0**52
ROOT_HALF = np.sqrt(0.5)
ODD = [2.0 / odd for odd in range(3, 22, 2)]
INVERSE = [1.0 / float(np.prod(np.arange(1, n + 1, dtype=np.int64))) for n in range(2, 14)]
LANES, ROWS = 16, 128
HEX = """
    0x1.555554p-2 -0x1.000226p-2 0x1.99a008p-3 -0x1.547244p-3
    0x1.22da1cp-3 -0x1.0d8542p-3 0x1.055b6ap-3 -0x1.38b58p-4
"""
CUBIC = [float.fromhex(number) for number in HEX.split()]
UPPER, LOWER = float.fromhex("0x1.62e4p-1"), float.fromhex("0x1.7f7d1cp-20")


def horner(x: Reals, coefficients: list[float]) -> Reals:
    """``c_0 + x (c_1 + x (...))``."""
    total: Reals = np.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        total = c + x * total
    return total


def split(x: Reals) -> tuple[Reals, Reals]:
    """k and f with ``x = 2^k (1 + f)``, sqrt(1/2) <= 1 + f < sqrt(2)."""
    mantissa, power = np.frexp(x)
    low = mantissa < ROOT_HALF
    return np.where(low, power - 1.0, power), np.where(low, 2.0 * mantissa, mantissa) - 1.0


def log_of(k: Reals, f: Reals, c: Any = 0.0) -> Reals:
    """``k ln 2 + log(1 + f) + c``."""
    s = f / (2.0 + f)
    z = s * s
    series, h = z * horner(z, ODD), 0.5 * f * f
    result: Reals = k * LN2_HIGH - ((h - (s * (h + series) + (k * LN2_LOW + c))) - f)
    return result


def log(x: Reals) -> Reals:
    """Of positive numbers."""
    return log_of(*split(x))


def log1p(x: Reals) -> Reals:
    """Of numbers above -1."""
    u = 1.0 + x
    k, f = split(u)
    rest = np.where(u > 2.0, 1.0 - (u - x), x - (u - 1.0))
    return np.where(x == 0, x, log_of(k, np.where(k == 0, x, f), np.where(k == 0, 0.0, rest / u)))


def exponent_of(x: Reals, rest: Any = 0.0) -> tuple[NDArray[np.int64], Reals]:
    """n and e with ``exp(x + rest) = 2^n (1 + e)``."""
    n = (x * LOG2_E + ROUNDER) - ROUNDER
    high, low = x - n * LN2_HIGH, rest - n * LN2_LOW
    r = high + low
    part = r - high
    c = (high - (r - part)) + (low - part)
    return n.astype(np.int64), r + (c + r * r * horner(r, INVERSE))


def exp(x: Reals) -> Reals:
    """Of numbers between -800 and 800."""
    n, e = exponent_of(x)
    return np.ldexp(1.0 + e, n)


def expm1(x: Reals) -> Reals:
    """Of numbers between -600 and 800."""
    n, e = exponent_of(x)
    return np.where(x == 0, x, np.ldexp((1.0 - np.ldexp(1.0, -n)) + e, n))


def product(a: Reals, b: Reals) -> tuple[Reals, Reals]:
    """``a * b`` in two parts."""
    p, u, v = a * b, a * (2.0**27 + 1), b * (2.0**27 + 1)
    a1, b1 = u - (u - a), v - (v - b)
    a2, b2 = a - a1, b - b1
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def power(x: Reals, p: float) -> Reals:
    """Of positive numbers, where the result is neither too large nor too small; p none of the simple ones."""
    k, f = split(x)
    q = 2.0 + f
    q_low, s = f - (q - 2.0), f / q
    back, back_low = product(s, q)
    s_low = (((f - back) - back_low) - s * q_low) / q
    z = s * s
    series = s * (z * horner(z, ODD))
    a, b = k * LN2_HIGH, 2.0 * s
    total = a + b
    part = total - a
    low = ((a - (total - part)) + (b - part)) + (2.0 * s_low + series + k * LN2_LOW)
    high = total + low
    y, y_low = product(np.full_like(x, p), high)
    n, e = exponent_of(y, y_low + p * (low - (high - total)))
    return np.ldexp(1.0 + e, n)


def log_at_least(x: Floats, least: float) -> Floats:
    """Return ``log(max(x, least))`` of finite float32 numbers."""
    y = np.maximum(x, np.float32(least))
    bits = y.view(np.int32) + np.int32(0x3F800000 - 0x3F3504F3)
    k = ((bits >> 23) - 127).astype(np.float32)
    f = ((bits & 0x007FFFFF) + np.int32(0x3F3504F3)).view(np.float32) - np.float32(1.0)
    cubic = np.full_like(f, CUBIC[7])
    for c in CUBIC[6::-1]:
        cubic = fma(cubic, f, c)
    near = fma(f * f, fma(cubic, f, -0.5), f)
    return fma(k, UPPER, fma(k, LOWER, near))


def matmul(a: Reals, b: Reals) -> Reals:
    """Sums over the inner index, ascending."""
    out = np.zeros((len(a), b.shape[1]))
    for i in range(len(b)):
        out = out + a[:, i, None] * b[i]
    return out


def matmul_tall(a: Floats, b: Floats) -> Floats:
    """The same by fma."""
    out = np.zeros((len(a), b.shape[1]), np.float32)
    for i in range(len(b)):
        out = fma(a[:, i, None], b[i], out)
    return out


def gram(x: Floats) -> Reals:
    """Blocks of 128 rows by fma, their sums in float64."""
    out = np.zeros((x.shape[1], x.shape[1]))
    for start in range(0, len(x), ROWS):
        out = out + matmul_tall(np.ascontiguousarray(x[start : start + ROWS].T), x[start : start + ROWS])
    return out


def dot(x: NDArray[Any], y: NDArray[Any]) -> float:
    """16 sums of every 16th place, halved until one is left."""
    room = -(-max(len(x), 1) // LANES) * LANES
    products = np.zeros(room)
    products[: len(x)] = x.astype(np.float64) * y.astype(np.float64)
    lanes = np.zeros(LANES)
    for row in products.reshape(-1, LANES):
        lanes = lanes + row
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    return float(lanes[0])


def cholesky(a: Reals) -> Reals:
    """Rows of the transpose of L, one after the other."""
    upper = a.copy()
    for i in range(len(a)):
        for m in range(i):
            upper[i, i:] -= upper[m, i] * upper[m, i:]
        upper[i, i] = np.sqrt(upper[i, i])
        upper[i, i + 1 :] /= upper[i, i]
    return np.triu(upper).T
