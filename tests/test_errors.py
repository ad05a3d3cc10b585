"""The error tree: what each error is to a caller who knows only Python's, and the argument that it carries."""

from __future__ import annotations

import pickle

import pytest

from graphrefine import errors
from graphrefine.errors import (
    ArgumentWarning,
    FormatError,
    GraphRefineError,
    InputError,
    MissingExtraError,
    OutputError,
)


@pytest.mark.parametrize(
    ("name", "parent"),
    [
        ("InputError", ValueError), ("FormatError", InputError), ("KeywordError", TypeError),
        ("UnknownNameError", KeyError), ("OutputError", OSError), ("DownloadError", OSError),
        ("MissingExtraError", ImportError),
    ],
)  # fmt: skip
def test_the_tree(name: str, parent: type[Exception]) -> None:
    kind = getattr(errors, name)
    assert issubclass(kind, parent) and issubclass(kind, GraphRefineError)
    assert name in (errors.__doc__ or "")


def test_errors_carry_the_argument_to_blame_and_name_packages() -> None:
    assert InputError("dim must be at least 1, not 0", argument="dim").argument == "dim"
    assert FormatError("a.csv", "has no column w", line=3, argument="weights").argument == "weights"
    assert InputError("the file is empty").argument is None
    assert ArgumentWarning("dim is reduced to 6", argument="dim").argument == "dim"
    again = pickle.loads(pickle.dumps(OutputError("the disk is full", argument="work")))
    assert (str(again), again.argument) == ("the disk is full", "work")
    assert 'pip install "graphrefine[scale]"' in str(MissingExtraError("reading", "duckdb", "scale"))
