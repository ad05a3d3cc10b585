"""The randomized range finder: an orthonormal basis C of the range of M, and R = M^T C.

This is Algorithm 1 ("RBQR"): ``C = QR(M^q Omega)``, orthonormalized in column blocks, and ``R = M^T C``. It gives
``M ~ C R^T``: C is the source side and R the target side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from graphrefine.engine.engine import Engine, T, orthonormal
from graphrefine.linalg.operators import Operator

# Products between two orthonormalizations. Each multiplies the ratio of the largest to the smallest direction by that
# of the singular values: more in a row would leave the smallest to the rounding of float32 and bfloat16. After the
# paper's q = 3 it changes nothing (the condition number of M^3 Omega was 6 to 220 on real graphs).
TOGETHER = 3


@dataclass(frozen=True)
class Factors(Generic[T]):
    """``M ~ basis @ target^T`` with an orthonormal basis."""

    basis: T  # (n, k): C
    target: T  # (n, k): R, its rows of length 1 if that was asked for


def range_finder(
    engine: Engine[T],
    M: Operator,
    sketch: T,
    *,
    block: int = 16,
    power: int = 3,
    two_sided: bool = False,
    unit: bool = False,
    gram: bool = False,
    precise: bool = False,
    advance: Callable[[], None] | None = None,
) -> Factors[T]:
    """Run Algorithm 1: ``C = QR(M^q Omega)`` and ``R = M^T C``.

    ``block`` (b) is the width at which columns are orthonormalized. ``two_sided`` takes M and M^T in turn
    (``... M M^T M Omega``, q factors in all, ending with M). ``unit``, ``gram`` and ``precise`` are R's, see
    `Engine.apply`.
    """
    # How this differs from the paper. b groups the arithmetic and cannot change the span, so its condition q b >= k
    # guards nothing, and its own defaults (q = 3, b = 16, k = 128) violate it: it is not enforced. M is not symmetric,
    # so M^q Omega leads to an invariant subspace, and to zero where M is nilpotent, as on a DAG; two_sided finds the
    # singular subspace that Theorem 1 is about. Eq. 5 names C and R the other way round.
    Y, turned = sketch, M.T  # turned once: an engine keeps what it prepares for an operator
    for step in range(power):
        remaining = power - 1 - step
        settle = remaining % TOGETHER == 0
        Y = engine.apply(turned if two_sided and remaining % 2 else M, Y, gram=settle, precise=settle)
        if settle and remaining:
            Y = orthonormal(engine, Y, block=block)
        if advance is not None:
            advance()
    C = orthonormal(engine, Y, block=block)
    del Y
    R = engine.apply(turned, C, unit=unit, gram=gram, precise=precise)
    if advance is not None:
        advance()
    return Factors(C, R)
