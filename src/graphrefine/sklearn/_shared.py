"""What both estimators share: a seed under three names, output with an index, a fingerprint of edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphrefine.errors import InputError, MissingExtraError
from graphrefine.graph.graph import Graph
from graphrefine.system.checks import check_integer
from graphrefine.system.digest import hash_parts

_MOST = 2**64 - 1  # the largest seed of a method


def settle_seed(*, seed: Any = None, random_state: Any = None, rng: Any = None) -> int | None:
    """Return the seed that one of three arguments sets; None where none is set, InputError where several are.

    An integer is the seed itself. A generator of NumPy draws one, so that successive fits differ.

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
        raise InputError(f"{listed} mean the same; set only one of them")
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
            f"{name}={value!r} must be an integer, a numpy.random.Generator or a numpy.random.RandomState",
            argument=name,
        )
    return check_integer(name, value, least=0, most=_MOST)


def add_index(estimator: Any, vectors: Any, index: Any) -> Any:
    """Return the vectors as a data frame with this index if the estimator's output is pandas, else unchanged."""
    # scikit-learn keeps the index of a data frame only. That of a series, and the nodes of a graph, it replaces by
    # 0, 1, 2 ..., so that a ColumnTransformer would join rows of different nodes.
    from sklearn import get_config

    settings = getattr(estimator, "_sklearn_output_config", {})
    if index is None or settings.get("transform", get_config()["transform_output"]) != "pandas":
        return vectors
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtraError("output in pandas frames (set_output)", "pandas") from None
    return pandas.DataFrame(vectors, index=index, copy=False)


def edge_digits(graph: Graph) -> str:
    """Return a fingerprint of the edges of a graph, by the rows of their ends."""
    stored: str | None = getattr(graph, "fingerprint", None)  # of a graph on disk
    return stored or hash_parts(graph.indptr, graph.indices, graph.weights)
