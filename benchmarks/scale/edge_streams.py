"""Random edges straight to disk, a billion and more: R-MAT and power laws, in blocks.

A block is the edges that start in a range of nodes; a model (below) draws them. It has a seed of
its own and is one parquet file, so the files do not depend on the threads, and memory holds one block for each of them.
An edge that a block has already is drawn anew, and so is a self-loop: no edge stands twice in the files, though some
stand there in both directions. Nodes are renumbered by a bijection, so that the numbers say nothing of the degrees.

A model has the part of all edges that starts before a node, so that ranges of nodes can be drawn one by one, and draws
without a table of the nodes:

* **Power law** (Chung and Lu): either end is node i in proportion to ``(i + i0)^(-1 / (exponent - 1))``, by the inverse
  ``i = floor((i0^b + u ((n + i0)^b - i0^b))^(1 / b) - i0)``, ``b = 1 - 1 / (exponent - 1)``, of a uniform u.
* **R-MAT** (Chakrabarti, Zhan and Faloutsos, SDM 2004): the adjacency matrix is cut into quarters again and again, and
  an edge falls into one of them with the probabilities ``quarters``. Sixteen random bits decide three cuts at once.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.datasets.generate import least_offset
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
CUTS = 3  # of the R-MAT matrix by one look into a table
TOP = 20  # cuts whose outcome is drawn at once, within a range of rows
STEPS = 1 << 16  # entries of a table, one for each random number

Ids = NDArray[np.uint64]
Floats = NDArray[np.float64]
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
    check_writable(folder, folder=True, replaceable=_check_replaceable)
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
) -> PowerLaw | RecursiveMatrix:
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
    return PowerLaw.from_exponent(nodes, exponent, (nodes - 1 if most is None else most) / (2 * edges))


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


@dataclass(frozen=True)
class PowerLaw:
    """Independent ends, in proportion to degrees that fall as a power law."""

    nodes: int
    power: float
    offset: float  # i0

    @classmethod
    def from_exponent(cls, nodes: int, exponent: float, share: float) -> PowerLaw:
        """With the least offset for which no node has more than this share of all ends."""
        power = 1 - 1 / (exponent - 1)

        def largest(offset: float) -> float:
            return float(cls(nodes, power, offset).before(np.array([1]))[0])

        return cls(nodes, power, least_offset(largest, share, rounds=50))

    def before(self, bounds: NDArray[np.int64]) -> Floats:
        """Part of the edges that starts before each of the bounds."""
        first, last = self.offset**self.power, (self.nodes + self.offset) ** self.power
        parts: Floats = ((bounds + self.offset) ** self.power - first) / (last - first)
        return parts

    def bounds(self, parts: int) -> NDArray[np.int64]:
        """Bounds of ranges of rows with about the same number of edges each."""
        inner = self._at(np.arange(1, parts) / parts, 0, self.nodes)
        return np.unique(np.concatenate([[0], inner, [self.nodes]]).astype(np.int64))

    def draw(self, rng: np.random.Generator, rows: tuple[int, int], count: int) -> tuple[Ids, Ids]:
        """Starts and ends of at most ``count`` edges that start in a range of rows."""
        low, high = self.before(np.array(rows))
        starts = self._at(low + (high - low) * rng.random(count), *rows)
        return starts, self._at(rng.random(count), 0, self.nodes)

    def _at(self, places: Floats, start: int, stop: int) -> Ids:
        """Nodes with these parts of all ends before them, within a range: rounding may lead beyond it."""
        first, last = self.offset**self.power, (self.nodes + self.offset) ** self.power
        positions = (first + places * (last - first)) ** (1 / self.power) - self.offset
        nodes: Ids = np.clip(positions, start, stop - 1).astype(np.uint64)
        return nodes


class RecursiveMatrix:
    """R-MAT; if the number of nodes is no power of two, edges outside of the matrix are left out.

    Ranges are of prefixes: the rows that the first cuts lead to.
    """

    def __init__(self, nodes: int, quarters: Floats) -> None:
        levels, halves = bits(nodes), quarters.reshape(2, 2).sum(axis=1)
        self._nodes, self._top = np.uint64(nodes), min(levels, TOP)
        self._groups = -(-levels // CUTS)
        self._surplus = np.uint64(self._groups * CUTS - levels)  # cuts that are drawn, but not needed: the last ones
        chances = np.ones(1)
        for _ in range(self._top):
            chances = np.outer(chances, halves).ravel()
        sums = np.cumsum(chances[: (nodes - 1 >> levels - self._top) + 1])
        self._sums = np.append(0.0, sums / sums[-1])  # (prefixes + 1,)
        conditional = quarters.reshape(2, 2) / np.where(halves > 0, halves, 1)[:, None]
        self._rows = _table([halves] * CUTS)
        cuts = [[code >> cut & 1 for cut in reversed(range(CUTS))] for code in range(1 << CUTS)]
        self._columns = np.concatenate(
            [_table([conditional[row] for row in rows]) for rows in cuts]
        )  # by the rows' bits

    def before(self, bounds: NDArray[np.int64]) -> Floats:
        """See `PowerLaw.before`."""
        parts: Floats = self._sums[bounds]
        return parts

    def bounds(self, parts: int) -> NDArray[np.int64]:
        """See `PowerLaw.bounds`."""
        inner = np.searchsorted(self._sums, np.arange(1, parts) / parts)
        return np.unique(np.concatenate([[0], inner, [len(self._sums) - 1]]))

    def draw(self, rng: np.random.Generator, rows: tuple[int, int], count: int) -> tuple[Ids, Ids]:
        """See `PowerLaw.draw`."""
        starts = self._starts(rng, rows, count)  # with all cuts that are drawn
        ends = np.zeros(count, np.uint64)
        for place, group in enumerate(self._random(rng, self._groups, count)):
            own = starts >> np.uint64(CUTS * (self._groups - 1 - place)) & np.uint64((1 << CUTS) - 1)
            ends = ends << np.uint64(CUTS) | self._columns[own.astype(np.uint32) << np.uint32(16) | group]
        starts, ends = starts >> self._surplus, ends >> self._surplus
        inside = (starts < self._nodes) & (ends < self._nodes)
        return starts[inside], ends[inside]

    def _starts(self, rng: np.random.Generator, rows: tuple[int, int], count: int) -> Ids:
        first, last = rows
        low, high = self._sums[[first, last]]
        prefixes = np.searchsorted(self._sums[first + 1 : last], low + (high - low) * rng.random(count), side="right")
        starts: Ids = (prefixes + first).astype(np.uint64)
        below = self._groups * CUTS - self._top
        for group in self._random(rng, -(-below // CUTS), count):
            starts = starts << np.uint64(CUTS) | self._rows[group]
        return starts >> np.uint64(-below % CUTS)

    @staticmethod
    def _random(rng: np.random.Generator, groups: int, count: int) -> NDArray[np.uint16]:
        """Sixteen random bits for each group of cuts and each edge."""
        numbers = rng.integers(0, 2**64, size=(groups, -(-count // 4)), dtype=np.uint64)
        return numbers.view(np.uint16)[:, :count]


def _table(halves: Sequence[Floats]) -> NDArray[np.uint8]:
    """Outcomes of cuts in two, as often as they are likely; the first cut is the highest bit.  # (STEPS,)."""
    chances, codes = np.ones(1), np.zeros(1, np.uint8)
    for half in halves:
        chances = np.outer(chances, half).ravel()
        codes = (codes[:, None] * np.uint8(2) + np.array([0, 1], np.uint8)).ravel()
    times = np.rint(np.append(0.0, np.cumsum(chances)) / max(chances.sum(), 1e-300) * STEPS)
    times[-1] = STEPS  # the whole table, also if all outcomes have no chance
    return np.repeat(codes, np.diff(times.astype(np.int64)))


def bits(nodes: int) -> int:
    """Number of bits of the largest node number."""
    return (nodes - 1).bit_length()


def bijection(nodes: int, seed: int) -> Callable[[Ids], Ids]:
    """New numbers for nodes, one for each: products and shifts modulo a power of two, until they are below `nodes`.

    Examples
    --------
    >>> sorted(bijection(5, seed=0)(np.arange(5, dtype=np.uint64)).tolist())
    [0, 1, 2, 3, 4]
    """
    width = bits(nodes)
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
