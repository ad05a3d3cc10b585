"""Weights with decimal commas, as spreadsheets write them where semicolons stand between the columns."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import check_weights
from graphrefine.kernels import edge_lists
from graphrefine.kernels.edge_lists import Columns, Marks, Parsed

_WEIGHT = re.compile(rb"[+-]?[0-9]+(?:,[0-9]+)?")


def parse_weights(text: NDArray[np.uint8], columns: Columns, marks: Marks, *, threads: int) -> Parsed:
    r"""Parse a column of weights with decimal commas: the other fields of the result are of no use.

    Examples
    --------
    >>> text = np.frombuffer(b"a;b;1,5\nb;c;2\n", np.uint8)
    >>> parse_weights(text, (0, 1, 2, -1, 3), (";", "", "", ""), threads=1).weights.tolist()
    [1.5, 2.0]
    """
    place = columns[2]
    parsed = edge_lists.parse_strings(text, (place, place, -1, -1, columns[4]), marks, dates=False, threads=threads)
    if parsed.status != edge_lists.Status.OK:
        return parsed
    texts = [*parsed.names.split(b"\n"), b""]  # the last one stands for an empty field
    values = np.array([_value(text) for text in texts])
    wrong = np.flatnonzero(np.isnan(values[parsed.source]))
    if len(wrong):
        weight = texts[parsed.source[wrong[0]]].decode("latin-1")
        raise InputError(
            f"record {wrong[0] + 1}: weight {weight!r} is not a number with a decimal comma, as others are; "
            "weights=False reads the edges without weights",
            argument="weights",
        )
    return parsed._replace(weights=check_weights(values[parsed.source], len(parsed.source)))


def _value(text: bytes) -> float:
    return float(text.replace(b",", b".")) if _WEIGHT.fullmatch(text) else np.nan
