"""Objects in memory that may be graphs: arrays, sparse matrices, data frames, graphs of NetworkX, lists and mappings.

An input is a number, from which an object and options of reading are drawn. Most of what objects hold are small
numbers and short names; some is what people have in their tables all the same: nothing, NaN, dates, lists, half a
character.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from fuzz.target import Target
from fuzz.targets.kernels import change

ODD = 0.06  # share of odd values
USUAL = (0, 1, 2, 3, 4, 5, 7, "a", "b", "c")
HEADS = ("source", "target", "weight", "u", "v", "time", "Source", "a", "", None, 0, 1, 2, ("x", "y"))
TYPES = ("f2", "f4", "f8", "c8", "bool", "u1", "i1", ">f8", ">i4", "M8[s]")


def run(data: bytes, folder: Path) -> None:
    """Read an object; a graph that comes of it must be sound."""
    import numpy as np

    from graphrefine.readers.read import read

    rng = Random(int(data))
    makers = (make_array, make_matrix, make_frame, make_network, make_list, make_mapping)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thing = rng.choice(makers)(rng)
        graph = read(thing, threads=1, **draw_options(rng))
    indptr, indices = np.asarray(graph.indptr), np.asarray(graph.indices)
    assert graph.edges > 0 and len(graph.names) == graph.nodes == len(indptr) - 1 and indptr[-1] == len(indices)
    assert indices.min() >= 0 and indices.max() < graph.nodes
    assert graph.weights is None or (np.isfinite(graph.weights).all() and (graph.weights > 0).all())
    assert all(name is not None and name == name for name in graph.names.tolist())


def draw_options(rng: Random) -> dict[str, Any]:
    """Options of reading: none, one or two."""
    import numpy as np

    choices: dict[str, tuple[Any, ...]] = {
        "directed": (True, False),
        "bipartite": (True,),
        "weights": (False, "weight", "w", 0, 2, -1, np.ones(3), [1, 2]),
        "source": ("source", 0, 1, 5, -1, "u"),
        "target": ("target", 1, 0, "v", 9),
        "nodes": (0, 3, 7, -1, ["a"], [1, 2], np.arange(4), [None], [], [float("nan")]),
        "time": ("time", 2, 0),
        "names": ("label",),
    }
    return {name: rng.choice(choices[name]) for name in rng.sample(sorted(choices), rng.choice((0, 0, 1, 1, 2)))}


def draw_value(rng: Random, odd: float = ODD) -> Any:
    """A small number or a short name; at times something odd."""
    if rng.random() >= odd:
        return rng.choice(USUAL)
    import numpy as np
    import pandas as pd

    return rng.choice(
        [-1, 3.0, 2.5, float("nan"), float("inf"), 1e308, 2**63, 2**70, -(2**63), 1j, True, None, "", "1", " x", "é",
         "a\nb", "\ud800", "\x1b[2J", b"a", (1, 2), (), frozenset(), [1], {1: 2}, object(), np.int64(3), np.float32(2),
         np.str_("a"), np.uint64(2**64 - 1), np.bool_(True), np.datetime64("2020-01-01"), pd.Timestamp("2020"), pd.NA,
         pd.NaT]
    )  # fmt: skip


def make_array(rng: Random) -> Any:
    """Pairs and triples, matrices of every type, records, masks, texts."""
    import numpy as np

    size, draw = rng.randrange(6), np.random.default_rng(rng.getrandbits(32))
    kind = rng.randrange(8)
    if kind == 0:
        return np.array([[draw_value(rng) for _ in range(2)] for _ in range(size + 1)], object)
    if kind == 1:
        return draw.integers(-1, 6, (size, rng.choice((1, 2, 3, size))))
    if kind == 2:
        return draw.integers(0, 3, (size, size)).astype(rng.choice(TYPES))
    if kind == 3:
        return np.array([*(draw_value(rng, 0.5) for _ in range(size)), None], object)
    if kind == 4:
        return draw.random((2, 2, 2)) if rng.random() < 0.5 else np.array(draw_value(rng, 1.0), object)
    if kind == 5:
        return np.zeros((size, 3), [("a", "i4"), ("b", "i4"), ("weight", "f4")])
    if kind == 6:
        return np.ma.masked_array(draw.integers(0, 5, (size, 2)), mask=draw.random((size, 2)) < 0.2)
    return np.array([[str(draw_value(rng)) for _ in range(2)] for _ in range(size + 1)])


def make_matrix(rng: Random) -> Any:
    """A sparse matrix of some format, at times with an index or a value that it cannot have."""
    import numpy as np
    import scipy.sparse as sp

    shape = (rng.randrange(1, 6), rng.randrange(1, 6)) if rng.random() < 0.3 else (4, 4)
    matrix: Any = sp.random_array(shape, density=0.4, rng=rng.getrandbits(32), format="csr")
    if matrix.nnz and rng.random() < 0.3:
        matrix.indices[rng.randrange(matrix.nnz)] = rng.choice((-1, 99, 2**31 - 1))
        return matrix
    if matrix.nnz and rng.random() < 0.3:
        matrix.data[0] = rng.choice((np.nan, np.inf, -1, 0, 1e308, 1e-320))
    return matrix.asformat(rng.choice(("csr", "csc", "coo", "lil", "dok")))


def make_frame(rng: Random) -> Any:
    """A data frame, with an index, types and names of columns of every kind, or a table of Arrow."""
    import pandas as pd
    import pyarrow as pa

    size = rng.randrange(6)
    columns = {rng.choice(HEADS): [draw_value(rng) for _ in range(size)] for _ in range(rng.randrange(1, 5))}
    changes: tuple[Callable[[Any], Any], ...] = (
        lambda frame: frame,
        lambda frame: frame.set_index(frame.columns[0]),
        lambda frame: frame.astype("category"),
        lambda frame: frame.astype("string"),
        lambda frame: frame.T,
        lambda frame: frame.set_axis([draw_value(rng) for _ in frame.columns], axis=1),
        lambda frame: frame.convert_dtypes(),
        lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
        pa.Table.from_pandas,
    )
    try:
        return rng.choice(changes)(pd.DataFrame(columns))
    except (TypeError, ValueError, LookupError, OverflowError, pa.ArrowException):  # no such frame
        return columns


def make_network(rng: Random) -> Any:
    """A graph of NetworkX with attributes."""
    import networkx as nx

    graph = rng.choice((nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph))()
    for _ in range(rng.randrange(6)):
        ends = draw_value(rng), draw_value(rng)
        attributes = {rng.choice(("weight", "w")): draw_value(rng, 0.3)} if rng.random() < 0.5 else {}
        try:
            graph.add_edge(*ends, **attributes)
        except (TypeError, ValueError):  # no node
            continue
    return graph


def make_list(rng: Random) -> Any:
    """Pairs, triples and records; an iterator of them; or something else altogether."""
    rows = [tuple(draw_value(rng) for _ in range(rng.choice((2, 2, 2, 2, 3, 1, 4)))) for _ in range(rng.randrange(6))]
    kind = rng.randrange(5)
    if kind == 0:
        return iter(rows)
    if kind == 1:
        return [{"source": draw_value(rng), "target": draw_value(rng), "weight": draw_value(rng)} for _ in rows]
    return [list(row) for row in rows] if kind == 2 else rows if kind == 3 else draw_value(rng, 1.0)


def make_mapping(rng: Random) -> Any:
    """Columns, neighbors, or neighbors with weights."""
    count, kind = rng.randrange(6), rng.randrange(3)
    if kind == 0:
        heads = ("source", "target", rng.choice(("weight", "w", "time")))
        return {head: [draw_value(rng) for _ in range(count)] for head in heads}
    if kind == 1:
        return {node: [draw_value(rng) for _ in range(rng.randrange(3))] for node in USUAL[:count]}
    return {node: {rng.choice(USUAL): draw_value(rng, 0.3)} for node in USUAL[:count]}


TARGETS = [Target("read-objects", "readers", lambda: [b"0"], run, change)]
