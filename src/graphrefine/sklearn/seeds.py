"""One seed from ``seed``, ``random_state`` and ``rng``: the names that this library, scikit-learn and SPEC 7 have."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphrefine.errors import InputError
from graphrefine.refine.settings import check_integer

_MOST = 2**64 - 1  # the largest seed of a method


def settle_seed(*, seed: Any = None, random_state: Any = None, rng: Any = None) -> int | None:
    """The seed that one of three arguments gives; None where none is set, InputError where several are.

    A whole number is the seed itself. A generator of NumPy draws one, so that it goes on from fit to fit.

    Examples
    --------
    >>> settle_seed(rng=7), settle_seed(random_state=7), settle_seed()
    (7, 7, None)
    >>> settle_seed(rng=np.random.default_rng(7)) == settle_seed(rng=np.random.default_rng(7))
    True
    """
    values = {"seed": seed, "random_state": random_state, "rng": rng}
    values = {name: value for name, value in values.items() if value is not None}
    if len(values) > 1:
        listed = " and ".join(f"{name}={value!r}" for name, value in values.items())
        raise InputError(f"{listed} say the same; set one of them only")
    for name, value in values.items():
        if name == "seed":
            return check_integer(name, value, least=0, most=_MOST)
        return _draw_seed(name, value)
    return None


def _draw_seed(name: str, value: Any) -> int:
    if isinstance(value, np.random.RandomState):
        return int(value.randint(2**31))
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**63))
    if isinstance(value, np.random.BitGenerator | np.random.SeedSequence):
        return int(np.random.default_rng(value).integers(2**63))
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(
            f"{name}={value!r} must be a whole number, a numpy.random.Generator or a numpy.random.RandomState",
            argument=name,
        )
    return check_integer(name, value, least=0, most=_MOST)
