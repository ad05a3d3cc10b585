"""Edges drawn at random straight to disk, to a billion and beyond: R-MAT and power laws, in blocks.

A block of edges has a seed of its own and is one parquet file, so the files do not depend on the threads, and memory
holds one small piece of a block for each of them. Both ends of an edge are drawn without a table of the nodes:

* **R-MAT** (Chakrabarti, Zhan and Faloutsos, SDM 2004): the adjacency matrix is cut into quarters again and again, and
  an edge falls into one of them with the probabilities ``quarters``. Sixteen random bits decide three cuts at once.
  Where the number of nodes is no power of two, edges outside the matrix are drawn anew.
* **Power law** (Chung and Lu): an end is node i in proportion to ``(i + i0)^(-1 / (exponent - 1))``, by the inverse
  ``i = floor((i0^b + u ((n + i0)^b - i0^b))^(1 / b) - i0)``, ``b = 1 - 1 / (exponent - 1)``, of a uniform u.

Nodes are then renumbered by a bijection, so that degrees do not follow the numbers. Edges are drawn *with repetition*,
and self-loops stay: what reads them merges and drops. A node that no edge was drawn for is in no file.
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

from graphrefine.errors import InputError, MissingExtraError, OutputError
from graphrefine.files import check_writable, replacing_folder
from graphrefine.graph import usable_threads
from graphrefine.progress import Stages, Watcher
from graphrefine.settings import check_integer, check_number

BLOCK = 1 << 22  # edges with one seed and in one file
PIECE = 1 << 15  # edges drawn at once: what they need stays in the cache
CUTS = 3  # of the R-MAT matrix by one look into its table
QUARTERS = (0.57, 0.19, 0.19, 0.05)  # those of the Graph 500 benchmark
MODELS = ("rmat", "powerlaw")
_PART = re.compile(r"part-\d{5,}\.parquet")

Ids = NDArray[np.uint64]
Draw = Callable[[np.random.Generator, int], tuple[Ids, Ids]]  # some edges, at most so many: their ends


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
        How edges are drawn.
    nodes, edges : int
        How many. Edges are drawn with repetition: a graph built from them has somewhat fewer.
    exponent : float, optional
        Power law: a degree of x has a probability of about ``x^-exponent``; above 2, 2.5 if not given.
    most : int, optional
        Power law: about the largest degree; as the exponent has it, but below ``nodes``, if not given.
    quarters : four floats, optional
        R-MAT: the probabilities of the quarters, row by row, the first the largest; those of `QUARTERS` if not given.
    seed : int
        Of all that is drawn.
    threads : int, optional
        As many as there are processors if not given. The files are the same.
    watcher : optional
        Told of every file that is finished.

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
    check_integer("nodes", nodes, least=2, most=2**40)
    check_integer("edges", edges, least=1, most=2**50)
    check_integer("seed", seed, least=0)
    draw = _model(model, nodes, edges, exponent=exponent, most=most, quarters=quarters)
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("parquet files", "pyarrow", "io")
    dtype = np.dtype(np.int32 if nodes <= 2**31 else np.int64)
    count, workers = -(-edges // BLOCK), usable_threads(threads)
    size = 2 * dtype.itemsize * edges + 4096 * count
    check_writable(folder, folder=True, size=size, replaceable=_check_replaceable)
    renumber, stages = _bijection(nodes, seed), Stages(watcher)
    with replacing_folder(folder, replaceable=_check_replaceable) as hidden:

        def write(block: int) -> None:
            rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(block,))))
            ends = np.empty((2, min(BLOCK, edges - block * BLOCK)), dtype)
            _fill(ends, draw, renumber, rng)
            _write_parquet(hidden / f"part-{block:05}.parquet", ends)

        with stages.stage("draw", steps=count), _Pool(workers) as pool:
            for done in as_completed([pool.submit(write, block) for block in range(count)]):
                done.result()
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


def _model(model: str, nodes: int, edges: int, *, exponent: float | None, most: int | None, quarters: Any) -> Draw:
    """How the edges of a model are drawn; settings of the other model are refused."""
    if model not in MODELS:
        raise InputError(f"model={model!r} is not known; choose one of {', '.join(MODELS)}")
    strange = {"exponent": exponent, "most": most} if model == "rmat" else {"quarters": quarters}
    for name, value in strange.items():
        if value is not None:
            raise InputError(f"{name}={value!r} is no setting of the model {model!r}; leave it out")
    if model == "rmat":
        return _rmat(nodes, QUARTERS if quarters is None else quarters)
    exponent = 2.5 if exponent is None else exponent
    check_number("exponent", exponent, above=2)
    mean = 2 * edges // nodes
    if most is not None:
        check_integer("most", most, least=mean + 1, most=nodes - 1)
    return _power_law(nodes, edges, exponent, max(nodes - 1, mean + 1) if most is None else most)


def _rmat(nodes: int, quarters: tuple[float, float, float, float]) -> Draw:
    """Edges of R-MAT; those outside the matrix are left out."""
    shares = np.asarray(quarters, np.float64)
    if shares.shape != (4,) or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9 or shares[0] < shares.max():
        raise InputError(f"quarters={quarters!r} must be four probabilities that add up to 1, the first the largest")
    table, groups = _cuts(shares), -(-_bits(nodes) // CUTS)
    surplus = np.uint64(groups * CUTS - _bits(nodes))  # cuts that are drawn, but not needed: the last ones

    def draw(rng: np.random.Generator, count: int) -> tuple[Ids, Ids]:
        bits = rng.integers(0, 2**64, size=(groups, -(-count // 4)), dtype=np.uint64).view(np.uint16)[:, :count]
        source, target = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
        for group in bits:
            chosen = table[group]
            source = source << np.uint64(CUTS) | chosen >> np.uint8(CUTS)
            target = target << np.uint64(CUTS) | chosen & np.uint8((1 << CUTS) - 1)
        source, target = source >> surplus, target >> surplus
        inside = (source < nodes) & (target < nodes)
        return source[inside], target[inside]

    return draw


def _cuts(shares: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Where some cuts lead to, as often as it is likely: the bits of the row, then those of the column.  # (65536,)."""
    chances, codes = np.ones(1), np.zeros(1, np.uint8)
    for cut in range(CUTS):
        quarter = np.array([row << (CUTS + cut) | column << cut for row in (0, 1) for column in (0, 1)], np.uint8)
        chances, codes = np.outer(chances, shares).ravel(), (codes[:, None] | quarter).ravel()
    return np.repeat(codes, np.diff(np.rint(np.cumsum(np.append(0.0, chances)) * 2**16).astype(np.int64)))


def _power_law(nodes: int, edges: int, exponent: float, most: int) -> Draw:
    """Edges whose ends are independent of each other, in proportion to degrees that fall as a power law."""
    power = 1 - 1 / (exponent - 1)
    offset = _offset(nodes, most / (2 * edges), power)
    first, last = offset**power, (nodes + offset) ** power

    def draw(rng: np.random.Generator, count: int) -> tuple[Ids, Ids]:
        place = (first + rng.random((2, count)) * (last - first)) ** (1 / power) - offset
        ends = np.clip(place, 0, nodes - 1).astype(np.uint64)  # rounding may lead beyond either end
        return ends[0], ends[1]

    return draw


def _offset(nodes: int, share: float, power: float) -> float:
    """The least i0 for which the first node has at most this share of all ends."""

    def largest(offset: float) -> float:
        return float(((1 + offset) ** power - offset**power) / ((nodes + offset) ** power - offset**power))

    low, high = 0.0, 1.0
    if largest(low) <= share:
        return low
    while largest(high) > share:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if largest(middle) > share else (low, middle)
    return high


def _bits(nodes: int) -> int:
    return (nodes - 1).bit_length()


def _bijection(nodes: int, seed: int) -> Callable[[Ids], Ids]:
    """New numbers for nodes, one for each: products and shifts modulo a power of two, until they are below `nodes`."""
    width = _bits(nodes)
    mask, shift, limit = np.uint64(2**width - 1), np.uint64((width + 1) // 2), np.uint64(nodes)
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, 2**63, size=3, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    terms = rng.integers(0, 2**64, size=3, dtype=np.uint64)

    def mix(ids: Ids) -> Ids:
        for factor, term in zip(factors, terms, strict=True):
            ids = (ids * factor + term) & mask
            ids ^= ids >> shift
        return ids

    def renumber(ids: Ids) -> Ids:
        ids = mix(ids)
        beyond = np.flatnonzero(ids >= limit)
        while len(beyond):
            ids[beyond] = mix(ids[beyond])
            beyond = beyond[ids[beyond] >= limit]
        return ids

    return renumber


def _fill(ends: NDArray[Any], draw: Draw, renumber: Callable[[Ids], Ids], rng: np.random.Generator) -> None:
    """Fill the ends of a block of edges, piece by piece.  # (2, count)."""
    done, count = 0, ends.shape[1]
    while done < count:
        drawn = draw(rng, PIECE)
        take = min(len(drawn[0]), count - done)
        for row, ids in zip(ends, drawn, strict=True):
            row[done : done + take] = renumber(ids[:take])
        done += take


def _write_parquet(path: Path, ends: NDArray[Any]) -> None:
    """Write a block as it is: random numbers do not shrink, and trying to costs more time than the disk does."""
    import pyarrow as pa
    from pyarrow import parquet

    kind = pa.from_numpy_dtype(ends.dtype)
    schema = pa.schema([pa.field(name, kind, nullable=False) for name in ("source", "target")])
    table = pa.Table.from_arrays([pa.array(row) for row in ends], schema=schema)
    parquet.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False)
