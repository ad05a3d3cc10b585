"""Random edges straight to disk, a billion and more: R-MAT and power laws, in blocks.

A block is the edges that start in a range of nodes; `graphrefine.datasets.stream_models` draws them. It has a seed of
its own and is one parquet file, so the files do not depend on the threads, and memory holds one block for each of them.
An edge that a block has already is drawn anew, and so is a self-loop: no edge stands twice in the files, though some
stand there in both directions. Nodes are renumbered by a bijection, so that the numbers say nothing of the degrees.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.datasets.stream_models import Ids, Model, PowerLaw, RecursiveMatrix, bijection
from graphrefine.errors import InputError, MissingExtraError, OutputError
from graphrefine.progress import Stages, Watcher
from graphrefine.system.checks import check_choice, check_integer, check_number
from graphrefine.system.files import check_writable, replacing_folder
from graphrefine.system.threads import usable_threads

BLOCK = 1 << 22  # edges with one seed and in one file, about
PIECE = 1 << 15  # edges drawn at once: their arrays stay in the cache
ROUNDS = 100  # of drawing edges anew that were drawn twice, before giving up
QUARTERS = (0.57, 0.19, 0.19, 0.05)  # those of the Graph 500 benchmark
MODELS = ("rmat", "powerlaw")
_PART = re.compile(r"part-\d{5,}\.parquet")
_HALF = np.uint64(32)  # an edge as one number: its start in the upper half, its end in the lower


def write_edges(
    folder: str | os.PathLike[str],
    model: str = "powerlaw",
    *,
    nodes: int,
    edges: int,
    exponent: float | None = None,
    most: int | None = None,
    quarters: tuple[float, float, float, float] | None = None,
    seed: int = 0,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Path:
    """Write the edges of a random graph as a folder of parquet files with columns ``source`` and ``target``.

    Parameters
    ----------
    folder : path
        The folder to make; one that holds such files and nothing else is replaced, in one step at the end.
    model : {"powerlaw", "rmat"}
        Model of the edges.
    nodes, edges : int
        Numbers of both; edges at most a quarter of all pairs. Edges in both directions count twice, so an undirected
        graph built from the files has slightly fewer.
    exponent : float, optional
        Power law: a degree of x has a probability of about ``x^-exponent``; above 2, 2.5 if not given.
    most : int, optional
        Power law: about the largest degree; as the exponent has it, but below ``nodes``, if not given.
    quarters : four floats, optional
        R-MAT: the probabilities of the quarters, row by row, the first the largest; those of `QUARTERS` if not given.
    seed : int
        Seed of all that is drawn.
    threads : int, optional
        The number of processors if not given. The files do not depend on it.
    watcher : optional
        Watcher of the stage "draw", with a step for each file.

    Returns
    -------
    Path
        The folder.

    Examples
    --------
    >>> import tempfile, graphrefine
    >>> folder = write_edges(tempfile.mkdtemp() + "/edges", "rmat", nodes=1000, edges=5000)
    >>> [path.name for path in folder.iterdir()]
    ['part-00000.parquet']
    >>> graphrefine.read(folder / "part-00000.parquet").nodes > 500
    True
    """
    check_integer("nodes", nodes, least=3, most=2**32)
    check_integer("edges", edges, least=1, most=nodes * (nodes - 1) // 4)
    check_integer("seed", seed, least=0)
    edge_model = _make_model(model, nodes, edges, exponent=exponent, most=most, quarters=quarters)
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("parquet files", "pyarrow", "io")
    dtype = np.dtype(np.int32 if nodes <= 2**31 else np.int64)
    parts = -(-edges // BLOCK)
    size = 2 * dtype.itemsize * edges + 4096 * parts
    check_writable(folder, folder=True, size=size, replaceable=_check_replaceable)
    bounds = edge_model.bounds(parts)
    counts = np.diff(np.rint(edge_model.before(bounds) * edges).astype(np.int64)).tolist()
    renumber, stages = bijection(nodes, seed), Stages(watcher)
    with replacing_folder(folder, replaceable=_check_replaceable) as hidden:

        def write(block: int) -> None:
            rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(block,))))
            rows = int(bounds[block]), int(bounds[block + 1])
            keys = _draw_different(lambda count: edge_model.draw(rng, rows, count), counts[block])
            _write_parquet(hidden / f"part-{block:05}.parquet", _unpack(keys, renumber, dtype))

        with stages.stage("draw", steps=len(counts)), _Pool(usable_threads(threads)) as pool:
            for job in as_completed([pool.submit(write, block) for block in range(len(counts))]):
                job.result()
                stages.advance()
    return Path(folder)


class _Pool(ThreadPoolExecutor):
    """Threads that begin nothing new after an error or Ctrl-C."""

    def __exit__(self, *failure: Any) -> None:
        self.shutdown(cancel_futures=failure[0] is not None)


def _check_replaceable(folder: Path) -> None:
    """Refuse to replace a folder that holds anything but such files."""
    other = next((path.name for path in sorted(folder.iterdir()) if not _PART.fullmatch(path.name)), None)
    if other is not None:
        raise OutputError(f"{folder}: holds {other}, so it is not a folder of drawn edges; choose another name")


def _make_model(
    model: str, nodes: int, edges: int, *, exponent: float | None, most: int | None, quarters: Any
) -> Model:
    """Model of the edges; settings of the other model are refused."""
    check_choice("model", model, MODELS)
    foreign = {"exponent": exponent, "most": most} if model == "rmat" else {"quarters": quarters}
    for name, value in foreign.items():
        if value is not None:
            raise InputError(f"{name}={value!r} is no setting of the model {model!r}; leave it out", argument=name)
    if model == "rmat":
        return RecursiveMatrix(nodes, _check_quarters(QUARTERS if quarters is None else quarters))
    exponent = 2.5 if exponent is None else exponent
    check_number("exponent", exponent, above=2)
    if most is not None:
        check_integer("most", most, least=2 * edges // nodes + 1, most=nodes - 1)
    return PowerLaw.of(nodes, exponent, (nodes - 1 if most is None else most) / (2 * edges))


def _check_quarters(quarters: Any) -> NDArray[np.float64]:
    shares = np.asarray(quarters, np.float64)
    if shares.shape != (4,) or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9 or shares[0] < shares.max():
        raise InputError(
            f"quarters={quarters!r} must be four probabilities that add up to 1, the first the largest",
            argument="quarters",
        )
    return shares


def _draw_different(draw: Callable[[int], tuple[Ids, Ids]], count: int) -> Ids:
    """``count`` different edges as numbers in ascending order; no self-loops."""
    keys = np.empty(0, np.uint64)
    for _ in range(ROUNDS):
        missing = count - len(keys)
        if missing == 0:
            return keys
        fresh = np.empty(missing, np.uint64)
        filled = 0
        for first in range(0, missing, PIECE):
            starts, ends = draw(min(PIECE, missing - first))
            edges = (starts << _HALF | ends)[starts != ends]
            fresh[filled : filled + len(edges)] = edges
            filled += len(edges)
        keys = _merge(keys, fresh[:filled])
    raise InputError(
        f"after {ROUNDS} rounds, {count - len(keys)} edges of a block of {count} have found no place that is free; "
        "ask for fewer edges or more nodes"
    )


def _merge(keys: Ids, fresh: Ids) -> Ids:
    """Both, in ascending order, each number once."""
    together = np.concatenate([keys, fresh]) if len(keys) else fresh
    together.sort(kind="stable" if len(keys) > len(fresh) else "quicksort")  # faster on sorted runs
    new = np.ones(len(together), np.bool_)
    np.not_equal(together[1:], together[:-1], out=new[1:])
    return together[new]


def _unpack(keys: Ids, renumber: Callable[[Ids], Ids], dtype: np.dtype[Any]) -> NDArray[Any]:
    """New numbers of the starts and ends of edges.  # (2, count)."""
    ends = np.empty((2, len(keys)), dtype)
    for first in range(0, len(keys), PIECE):
        piece = slice(first, first + PIECE)
        ends[0, piece] = renumber(keys[piece] >> _HALF)
        ends[1, piece] = renumber(keys[piece] & np.uint64(2**32 - 1))
    return ends


def _write_parquet(path: Path, ends: NDArray[Any]) -> None:
    """Write a block uncompressed: random numbers hardly shrink, and compressing takes longer than writing."""
    import pyarrow as pa
    from pyarrow import parquet

    kind = pa.from_numpy_dtype(ends.dtype)
    schema = pa.schema([pa.field(name, kind, nullable=False) for name in ("source", "target")])
    table = pa.Table.from_arrays([pa.array(row) for row in ends], schema=schema)
    parquet.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False)
