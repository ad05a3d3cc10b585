"""What a worker of a cluster does: tasks of the block engine, with all that they need read from shared storage.

A worker is told where things are, never what they are: the rows of the graph, the vectors of operators and the blocks
of tall matrices are files. It keeps one `engine.workshop.Workshop` for the run that it works for, and works on one
task at a time with all of its threads.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.block_compute import OperatorParts, Vector, Workshop
from graphrefine.engine.layout import Layout
from graphrefine.engine.pipeline import Pipeline
from graphrefine.engine.tasks import Small, Task
from graphrefine.errors import FormatError, GraphRefineError
from graphrefine.graph.stored_rows import StoredPattern, damage
from graphrefine.kernels import kernels
from graphrefine.system.storage import Storage, StoredArray, as_bytes, open_storage, read_arrays

if TYPE_CHECKING:
    from graphrefine.graph.graph import Rows

PLAN = "cluster/plan.npz"  # the layout, see `read_layout`
IDENTITIES = "cluster/identities.npy"
PROBES = "cluster/probes"
MANIFEST = "manifest.json"
PIECE = 1 << 22  # bytes that are read at a time where only their checksum is wanted

_lock = Lock()
_shops: dict[str, Workshop] = {}  # by run; of this process


class Place(NamedTuple):
    """Where a run has its things, and how a worker is to go about them."""

    run: str
    storage: str
    graph: str
    threads: int | None  # None: as many as the worker has
    identities: bool


class Orders(NamedTuple):
    """Tasks for a worker, with what these name."""

    tasks: Sequence[Task]
    operators: Mapping[int, OperatorFiles]
    weights: str | None  # the vector that tasks name
    suspect: frozenset[int]


class OperatorFiles(NamedTuple):
    """`engine.workshop.OperatorParts` with the names of files in place of vectors."""

    pattern: str
    vectors: Mapping[str, str]
    edge: str
    base: float
    loop: float


class Done(NamedTuple):
    """What comes back: a small result for each task, or what went wrong; and what was moved."""

    worker: str
    small: list[Small]
    error: str | None
    blocks: int
    bytes_read: int
    bytes_written: int


class Seen(NamedTuple):
    """What a worker found when it was asked whether it can work."""

    kernels: str
    problem: str | None


class SliceOf:
    """A vector on a storage, of which the last slice is kept: tasks ask for the same one again and again."""

    def __init__(self, storage: Storage, name: str) -> None:
        self._array = StoredArray(storage, name)
        self._which: slice | None = None
        self._kept: NDArray[Any] = np.empty(0, self._array.dtype)

    def __getitem__(self, which: slice) -> NDArray[Any]:
        if self._which != which:
            self._kept, self._which = self._array[which], which
        return self._kept


class CheckedPattern(StoredPattern):
    """The same; the checksum of a block is looked at when it is first read from.

    Examples
    --------
    >>> import tempfile
    >>> from graphrefine.graph.graph import Graph
    >>> from graphrefine.graph.stored import store
    >>> place = f"{tempfile.mkdtemp()}/triangle.grf"
    >>> store(Graph.from_edges(["a", "b", "c"], ["b", "c", "a"]), place)
    >>> storage = open_storage(place)
    >>> CheckedPattern(storage, read_manifest(storage)).rows(1, 3).indices.tolist()
    [0, 2, 0, 1]
    """

    def __init__(self, storage: Storage, manifest: Mapping[str, Any], *, reverse: bool = False) -> None:
        super().__init__(storage, weighted=manifest["weighted"], reverse=reverse)
        self._table = manifest[f"{self.side}blocks"]
        self._ends = np.array([block["rows"][1] for block in self._table], np.int64)
        self._verified = np.zeros(len(self._table), bool)

    def rows(self, start: int, stop: int) -> Rows:
        """See `engine.workshop.Pattern.rows`."""
        first_block = int(np.searchsorted(self._ends, start, side="right"))
        for number in range(first_block, int(np.searchsorted(self._ends, stop, side="left")) + 1):
            if number < len(self._table) and not self._verified[number]:
                self._verify(number)
        return super().rows(start, stop)

    def _verify(self, number: int) -> None:
        block = self._table[number]
        first, last = block["entries"]
        for name, expected in block["crc32"].items():
            array, found = self.array(name), 0
            step = PIECE // array.dtype.itemsize
            for at in range(first, last, step):
                found = zlib.crc32(as_bytes(array[at : min(at + step, last)]), found)
            if found != expected:
                told = damage(f"{self.side}{name}", number, (first, last), found=found, expected=expected)
                raise FormatError(self.storage.root, told)
        self._verified[number] = True


def read_manifest(storage: Storage) -> dict[str, Any]:
    """The manifest of a graph on a storage."""
    return dict(json.loads(_manifest_bytes(storage)))


def fingerprint(storage: Storage) -> str:
    """A hash of the manifest, see `graphrefine.graph.stored.StoredGraph`."""
    return hashlib.blake2b(_manifest_bytes(storage), digest_size=16).hexdigest()


def _manifest_bytes(storage: Storage) -> bytes:
    size = storage.size(MANIFEST)
    if size is None:
        raise FormatError(storage.root, f"{MANIFEST} is missing: not a graph on disk")
    text = np.empty(size, np.uint8)
    storage.read_into(MANIFEST, text)
    return text.tobytes()


def read_layout(storage: Storage) -> tuple[Layout, int] | None:
    """The layout of a run and how many blocks its products have, if there is one on the storage."""
    plan = read_arrays(storage, PLAN)
    if plan is None:
        return None
    columns, panel, group = plan["sizes"].astype(int).tolist()
    return Layout(plan["bounds"].astype(np.int64), plan["chunks"].astype(np.int64), columns, panel), group


def do_orders(place: Place, orders: Orders) -> Done:
    """Do tasks, on a worker; what cannot be done is told, not raised: Dask would log it and try again."""
    with _lock:
        name = str(_worker().address)
        try:
            shop = _shop(place)
            before = (shop.counts.blocks, shop.counts.bytes_read, shop.counts.bytes_written)
            _learn(shop, orders)
            small = [part for _, part in Pipeline(shop).run(orders.tasks)]
        except GraphRefineError as problem:
            return Done(name, [], str(problem), 0, 0, 0)
        after = (shop.counts.blocks, shop.counts.bytes_read, shop.counts.bytes_written)
        return Done(name, small, None, *(b - a for a, b in zip(before, after, strict=True)))


def look_around(place: Place, probe: bytes, expected: str, dask_worker: Any) -> Seen:
    """Whether this worker can work for a run: it reads what the client wrote and the graph's manifest, and writes."""
    found, problem = kernels(), None
    try:
        problem = _problem(place, probe, expected)
        if problem is None:
            open_storage(place.storage).write(probe_of(dask_worker.address), np.frombuffer(probe, np.uint8))
    except (GraphRefineError, OSError) as error:
        problem = str(error)
    return Seen(f"{found.name} ({found.simd})", problem)


def probe_of(address: str) -> str:
    """The file that a worker writes to show that it can."""
    return f"{PROBES}/{zlib.crc32(address.encode()):08x}"


def forget(run: str) -> None:
    """Let go of a run's memory."""
    with _lock:
        _shops.pop(run, None)


def _problem(place: Place, probe: bytes, expected: str) -> str | None:
    storage = open_storage(place.storage)
    if storage.size(f"{PROBES}/client") is None:
        return f"it does not see {storage.root}"
    seen = np.empty(len(probe), np.uint8)
    storage.read_into(f"{PROBES}/client", seen)
    if seen.tobytes() != probe:
        return f"its {storage.root} is another folder"
    graph = open_storage(place.graph)
    if graph.size(MANIFEST) is None:
        return f"it does not see {graph.root}"
    if fingerprint(graph) != expected:
        return f"its {graph.root} is another graph"
    return None


def _worker() -> Any:
    from distributed import get_worker

    return get_worker()


def _shop(place: Place) -> Workshop:
    if place.run not in _shops:
        _shops.clear()  # of runs that are over
        storage, graph = open_storage(place.storage), open_storage(place.graph)
        plan = read_layout(storage)
        if plan is None:
            raise FormatError(f"{storage.root}/{PLAN}", "this file is missing")
        manifest = read_manifest(graph)
        patterns = {"rows": CheckedPattern(graph, manifest)}
        if manifest["directed"]:
            patterns["arrivals"] = CheckedPattern(graph, manifest, reverse=True)
        _shops[place.run] = Workshop(
            storage,
            plan[0],
            patterns,
            using=kernels(),
            threads=place.threads or _worker().state.nthreads,
            identities=StoredArray(storage, IDENTITIES) if place.identities else None,
        )
    return _shops[place.run]


def _learn(shop: Workshop, orders: Orders) -> None:
    for number, files in orders.operators.items():
        if number not in shop.operators:
            vectors: dict[str, Vector] = {name: SliceOf(shop.storage, file) for name, file in files.vectors.items()}
            shop.operators[number] = OperatorParts(files.pattern, vectors, files.edge, files.base, files.loop)
    if orders.weights is not None and orders.weights not in shop.vectors:
        shop.vectors = {orders.weights: StoredArray(shop.storage, weights_file(orders.weights))}
    shop.suspect |= orders.suspect


def weights_file(name: str) -> str:
    """Where a vector that tasks name is kept, in a folder of its own."""
    return f"cluster/{name}/vector.npy"
