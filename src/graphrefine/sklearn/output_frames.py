"""Rows with an index: what ``set_output(transform="pandas")`` asks for, where scikit-learn itself would lose the index.

It keeps the index of a data frame. That of a series, and the nodes of a graph, it replaces by 0, 1, 2 ..., so that a
`ColumnTransformer` would join rows of different nodes.
"""

from __future__ import annotations

from typing import Any

from graphrefine.errors import MissingExtraError


def add_index(estimator: Any, vectors: Any, index: Any) -> Any:
    """The vectors as a data frame with this index, if the estimator's output is to be pandas; else as they are."""
    settings = getattr(estimator, "_sklearn_output_config", {})
    if index is None or settings.get("transform", _default_output()) != "pandas":
        return vectors
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtraError("output in pandas frames (set_output)", "pandas") from None
    return pandas.DataFrame(vectors, index=index, copy=False)


def _default_output() -> str:
    from sklearn import get_config

    return str(get_config()["transform_output"])
