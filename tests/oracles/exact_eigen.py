"""The eigenvalues of exact algebra once more, operation for operation, in NumPy; see `exact_oracle`."""

from __future__ import annotations

import math

import numpy as np

from oracles.exact import Reals, dot

NOTHING, ROUNDING, LEAST = 2.0**-960, 2.0**-53, 2.0**-56
PATIENCE = 16


def eigh(matrix: Reals) -> tuple[Reals, Reals]:
    """Eigenvalues, ascending, and eigenvectors."""
    power = math.frexp(float(np.abs(matrix).max(initial=0.0)))[1] - 1 if matrix.any() else 0
    d, e, z = tridiagonal(np.ldexp(np.tril(matrix) + np.tril(matrix, -1).T, -power))
    diagonalize(d, e, z)
    order = np.argsort(d, kind="stable")
    return np.ldexp(d[order], power), np.ascontiguousarray(z[order].T)


def tridiagonal(a: Reals) -> tuple[Reals, Reals, Reals]:
    """Diagonal, what stands beside it, and the rows of Q^T."""
    k = len(a)
    reflectors, factors = np.zeros((k, k)), np.zeros(k)
    d, e = np.zeros(k), np.zeros(k)
    for j in range(k):
        d[j] = a[j, j]
        if j + 1 == k:
            break
        v = reflectors[j]
        factors[j], e[j] = make_reflector(a[j], j, v)
        u = np.zeros(k)
        for i in range(j + 1, k):
            u = u + v[i] * a[i]
        u[: j + 1] = 0.0
        p = factors[j] * u
        w = p - (0.5 * factors[j] * dot(p, v)) * v
        a = a - (v[:, None] * w + w[:, None] * v)
    q = np.eye(k)
    for j in range(k - 2, -1, -1):
        if not factors[j]:
            continue
        v, u = reflectors[j], np.zeros(k)
        for i in range(j + 1, k):
            u = u + v[i] * q[i]
        q = q - (factors[j] * v)[:, None] * u
    return d, e, np.ascontiguousarray(q.T)


def make_reflector(row: Reals, j: int, v: Reals) -> tuple[float, float]:
    """The factor of the reflector that goes to v, and what is left beside the diagonal."""
    if not row[j + 2 :].any():
        return 0.0, float(row[j + 1])
    v[j + 1 :] = row[j + 1 :]
    square = dot(v, v)
    if square <= NOTHING:
        v[:] = 0.0
        return 0.0, float(row[j + 1])
    beside = math.sqrt(square) if v[j + 1] < 0 else -math.sqrt(square)
    v[j + 1] -= beside
    return 2.0 / dot(v, v), beside


def diagonalize(d: Reals, e: Reals, z: Reals) -> None:
    """Implicit QL steps until nothing stands beside the diagonal d."""
    k, least = len(d), LEAST * float((np.abs(d) + np.abs(e)).max(initial=0.0))

    def is_cut(m: int, bound: float = least) -> bool:
        size = abs(e[m])
        return bool(size <= ROUNDING * (abs(d[m]) + abs(d[m + 1])) or size <= bound)

    last = -1
    while last + 1 < k:
        first = last = last + 1
        while last + 1 < k and not is_cut(last):
            last += 1
        if abs(d[last]) < abs(d[first]):
            d[first : last + 1] = d[first : last + 1][::-1].copy()
            e[first:last] = e[first:last][::-1].copy()
            z[first : last + 1] = z[first : last + 1][::-1].copy()
        for place in range(first, last):
            bound, turn = least, 0
            while (m := next((m for m in range(place, last) if is_cut(m, bound)), last)) > place:
                step(d, e, z, place, m)
                turn += 1
                bound *= 2 if turn > PATIENCE else 1


def step(d: Reals, e: Reals, z: Reals, first: int, m: int) -> None:
    """One step on the places ``first`` to m."""
    g = float(d[first + 1] - d[first]) / (2.0 * float(e[first]))
    r = math.sqrt(g * g + 1.0)
    g = float(d[m]) - float(d[first]) + float(e[first]) / (g + (-r if g < 0 else r))
    s, c, p = 1.0, 1.0, 0.0
    for i in range(m - 1, first - 1, -1):
        f, b = s * float(e[i]), c * float(e[i])
        e[i + 1] = r = math.sqrt(f * f + g * g)
        if r == 0.0:
            d[i + 1] -= p
            break
        s, c = f / r, g / r
        g = float(d[i + 1]) - p
        r = (float(d[i]) - g) * s + 2.0 * c * b
        p = s * r
        d[i + 1] = g + p
        g = c * r - b
        z[i + 1], z[i] = s * z[i] + c * z[i + 1], c * z[i] - s * z[i + 1]
    else:
        d[first] -= p
        e[first] = g
    e[m] = 0.0
