"""What both estimators share: the seed, and output with an index."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphrefine.errors import InputError
from graphrefine.system.checks import check_integer

_MOST = 2**64 - 1  # the largest seed of a method


def settle_seed(seed: Any, random_state: Any) -> int | None:
    """Return the seed that ``seed`` or ``random_state``, scikit-learn's name of it, sets; None where neither does.

    An integer is the seed itself. A generator of NumPy draws one, so that successive fits differ.
    """
    if seed is not None and random_state is not None:
        raise InputError(f"seed={seed!r} and random_state={random_state!r} mean the same; set only one of them")
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    name, value = ("seed", seed) if random_state is None else ("random_state", random_state)
    return None if value is None else check_integer(name, value, least=0, most=_MOST)


def add_index(estimator: Any, vectors: Any, index: Any) -> Any:
    """Return the vectors as a data frame with this index if the estimator's output is pandas, else unchanged."""
    # scikit-learn keeps the index of a data frame only. That of a series, and the nodes of a graph, it replaces by
    # 0, 1, 2 ..., so that a ColumnTransformer would join rows of different nodes.
    from sklearn import get_config

    settings = getattr(estimator, "_sklearn_output_config", {})
    if index is None or settings.get("transform", get_config()["transform_output"]) != "pandas":
        return vectors
    import pandas

    return pandas.DataFrame(vectors, index=index, copy=False)
