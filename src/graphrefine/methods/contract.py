"""The contract of a method: what it is, what it takes, what it costs, and `Method.fit`.

A new method is one file with a `Method`, and a line in `graphrefine.methods.registry.METHODS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine
from graphrefine.engine.local import REORDER_BYTES, LocalEngine
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.kernels import PAD
from graphrefine.progress import Stages
from graphrefine.refine.settings import MethodSettings
from graphrefine.system.memory import available_bytes, gigabytes

if TYPE_CHECKING:
    from graphrefine.engine.stage_cache import StageCache

Floats = NDArray[np.float32]
S = TypeVar("S", bound=MethodSettings)
# The least weight of an edge, and the most of all together, that float32 can divide by and add: 1 / w must be finite,
# and no sum infinite. Beyond them vectors would be NaN, which is promised never to be.
TINY, LARGE = 2e-38, 1e38


class Shape(NamedTuple):
    """As much of a graph as its cost depends on."""

    nodes: int
    entries: int  # stored: an undirected edge counts twice
    weighted: bool = False
    directed: bool = False
    bipartite: bool = False

    @classmethod
    def of(cls, graph: Graph) -> Shape:
        """Return the shape of a graph."""
        bipartite = graph.sources is not None
        return cls(graph.nodes, graph.entries, graph.weighted, graph.directed, bipartite)


class DiskNeed(NamedTuple):
    """What a method needs with its tall matrices on disk, besides a panel of one and the buffers of an engine."""

    columns: int  # of its widest engine
    held: int = 0  # bytes of memory
    stored: int = 0  # bytes of disk, besides tall matrices
    precise: bool = False  # whether it also gathers from matrices in float32; then it holds next to nothing else


class EngineFactory(Protocol):
    """Maker of engines whose tall matrices are not in memory."""

    def engine(self, graph: Graph, *, columns: int, bfloat16: bool) -> Engine[Any]:
        """Return an engine for tall matrices of this width on the nodes of a graph."""

    def stage_cache(self, graph: Graph, *, bfloat16: bool) -> StageCache:
        """Return engines of any width, and the results of stages."""


@dataclass(frozen=True)
class Resources:
    """What a method works with besides the graph and its settings: threads, stages to report, engines."""

    threads: int
    stages: Stages
    engines: EngineFactory | None = None  # None: in memory

    def engine(self, graph: Graph, *, columns: int, bfloat16: bool = True) -> Engine[Any]:
        """Return an engine for tall matrices of this width on the nodes of a graph."""
        if self.engines is not None:
            return self.engines.engine(graph, columns=columns, bfloat16=bfloat16)
        return LocalEngine(graph, columns=columns, threads=self.threads, bfloat16=bfloat16)

    def stage_cache(self, graph: Graph, *, bfloat16: bool = True) -> StageCache | None:
        """Return engines of any width on the nodes of a graph, and the results of stages; None: in memory."""
        return None if self.engines is None else self.engines.stage_cache(graph, bfloat16=bfloat16)


@dataclass(frozen=True)
class Method(Generic[S]):
    """A way to make node vectors from a graph.

    Parameters
    ----------
    name, reference, summary
        As one types it; who published it, where and when; what it does, in a line.
    cost
        Its time, as a formula in n (nodes), m (edges), k (dim) and its own settings.
    settings
        The class of its settings, their defaults the paper's.
    fit
        ``fit(graph, settings, resources)``: the vectors (n, dim), float32. The graph is not directed unless
        ``directed``. Rows of nodes without edges are set to zero by the caller.
    memory
        Its peak memory besides the graph, in bytes.
    bound
        What its memory goes to, in a few words.
    processor_dependence
        The part of its work whose last bits belong to one kind of processor, in a few words; None where there is none:
        the vectors then have the same bits on every processor, those of `graphrefine.kernels.numerics`.
    libraries
        Packages besides NumPy and SciPy that the vectors depend on; recipes name their versions.
    most_nodes
        More are refused with any amount of memory, where time grows with the cube of n.
    directed
        Whether it takes directed graphs.
    sided
        Whether its vectors of directed graphs are sources' in the first half of the columns and targets' in the other.
    principal
        Whether the columns are principal axes, the ones that say most first; with a filter, where it has that setting.
    features
        Whether its vectors can be joined with those of node features (`graphrefine.refine.features`).
    fixed, presets
        Settings that make this method what it is; and named sets of others.
    resume
        ``resume(graph, settings, resources, vectors)``: the same as `fit`, from vectors to start from; None if it
        cannot.
    same_bits
        Whether the vectors are the same for any number of threads.
    resolve
        ``resolve(shape, settings)``: the settings with those filled in that depend on the graph, for the recipe.
    on_disk
        Whether it can do with tall matrices on disk, and with these settings on this graph: None, or why not.
    disk_need
        ``disk_need(shape, settings, threads)``: what it needs there.
    """

    name: str
    reference: str
    summary: str
    cost: str
    settings: type[S]
    fit: Callable[[Graph, S, Resources], Floats]
    memory: Callable[[Shape, S], int]
    bound: str
    processor_dependence: str | None
    libraries: tuple[str, ...] = ()
    most_nodes: int | None = None
    directed: bool = False
    sided: Callable[[S], bool] = lambda settings: False
    principal: bool = False
    features: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    resume: Callable[[Graph, S, Resources, Floats], Floats] | None = None
    same_bits: bool = True
    resolve: Callable[[Shape, S], S] = lambda shape, settings: settings
    on_disk: Callable[[Graph, S], str | None] = lambda graph, settings: "it works in memory"
    disk_need: Callable[[Shape, S, int], DiskNeed] = lambda shape, settings, threads: DiskNeed(settings.dim)

    def largest(self, memory: int, *, degree: int = 20, settings: S | None = None) -> int:
        """Return the most nodes, of this mean degree, that it can take in this many bytes."""
        used = settings or self.settings(**self.fixed)
        low, high = 0, min(2**31 - 1, self.most_nodes or 2**31 - 1)
        while low < high:
            middle = (low + high + 1) // 2
            fits = self.memory(Shape(middle, middle * degree), used) <= memory
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    def check(self, graph: Graph, settings: S, *, in_memory: bool = True) -> None:
        """Raise InputError, before any work, where the method cannot take the graph."""
        if settings.dim > graph.nodes:
            raise InputError(
                f"dim={settings.dim} is larger than the graph ({graph.source}: {graph.nodes} nodes); "
                f"choose dim={graph.nodes} or less",
                argument="dim",
            )
        if graph.directed and not self.directed:
            why = ", as it says itself" if graph.report.get("direction") == "declared" else ""
            raise InputError(
                f"{self.name} takes undirected graphs, and {graph.source} was read as directed{why}; read it with "
                "directed=False, or choose a method that takes directions (graphrefine methods lists them)",
                argument="directed",
            )
        check_sums(graph)
        if in_memory:
            self.check_room(graph, settings)

    def most_columns(self, graph: Graph, settings: S) -> int:
        """Return the largest dim that the graph allows: its nodes, an even number where vectors have two sides."""
        return graph.nodes - (graph.nodes % 2 if graph.directed and self.sided(settings) else 0)

    def sides(self, graph: Graph, settings: S) -> dict[str, Any]:
        """Return what the recipe says about source and target, see `graphrefine.graph.lookup`."""
        if graph.sources is not None:
            return {"sides": "rows", "sources": graph.sources}
        return {"sides": "columns"} if graph.directed and self.sided(settings) else {}

    def bits(self) -> dict[str, str]:
        """Return what the recipe says about processors: nothing where all give the same bits."""
        return {} if self.processor_dependence is None else {"processor_dependence": self.processor_dependence}

    def check_room(self, graph: Graph, settings: S) -> None:
        """Raise InputError where the graph is too large for the method in the free memory of this machine."""
        advice = "choose a method for larger graphs (graphrefine methods lists their limits)"
        if self.most_nodes is not None and graph.nodes > self.most_nodes:
            raise InputError(
                f"{graph.source} has {graph.nodes:,} nodes, and {self.name} takes at most {self.most_nodes:,} "
                f"({self.bound}); {advice}"
            )
        shape = Shape.of(graph)
        needed, free = self.memory(shape, settings), available_bytes()
        if needed > free:
            degree = -(-shape.entries // max(shape.nodes, 1))
            raise InputError(
                f"{graph.source} has {graph.nodes:,} nodes; {self.name} would need {gigabytes(needed)} ({self.bound}), "
                f"of which {gigabytes(free)} are free: enough for about "
                f"{self.largest(free, degree=degree, settings=settings):,} nodes; {advice}"
            )


def check_sums(graph: Graph) -> None:
    """Raise InputError where the weights of a graph in memory have sums, or reciprocals, beyond float32.

    Examples
    --------
    >>> check_sums(Graph.from_edges([0, 1], [1, 2], weights=[1e-6, 1e6]))
    """
    if graph.weights is None or graph.stored:
        return
    smallest, total = float(graph.weights.min()), float(graph.weights.sum(dtype=np.float64))
    if smallest < TINY or total > LARGE:
        raise InputError(
            f"weights of {graph.source}, {smallest:.3g} the smallest and {total:.3g} their sum, are beyond float32 "
            f"({TINY:.0e} to {LARGE:.0e}); multiply them all by one number, as their unit does not matter, or leave "
            "edges out whose weight is next to zero",
            argument="weights",
        )


def check_squares(graph: Graph) -> None:
    """Raise InputError where even the largest weight has no square in float32: products of A with itself are zero.

    Examples
    --------
    >>> check_squares(Graph.from_edges([0, 1], [1, 2], weights=[1e-30, 1.0]))
    """
    largest = 1.0 if graph.weights is None or graph.stored else float(graph.weights.max(initial=0))
    if largest * largest < TINY:
        raise InputError(
            f"weights of {graph.source}, {largest:.3g} the largest, have no squares in float32; multiply them all by "
            "one number",
            argument="weights",
        )


def engine_memory(shape: Shape, *, columns: int, matrices: float) -> int:
    """Return the bytes that a `LocalEngine` holds with a number of float32 tall matrices at a time.

    Besides them: a sketch, a few numbers for each node, the reversed arcs, and the rows of the graph in another order,
    where the engine makes that.

    Examples
    --------
    >>> engine_memory(Shape(nodes=1_000_000, entries=5_000_000), columns=100, matrices=2)
    1112000000
    """
    padded = -(-columns // PAD) * PAD
    rows = shape.nodes * 8 + shape.entries * (8 if shape.weighted else 4)
    tall, other = shape.nodes * padded * 4, shape.nodes * (padded // 8 + 4 * 8)
    if shape.weighted:
        other += shape.entries * (4 + 8)  # logarithms of the weights, and float64 while degrees are summed
    if shape.directed:
        other += rows
    if shape.nodes * padded * 2 > REORDER_BYTES:
        offsets = shape.nodes * 4  # of loops in their rows; and the two permutations of rows
        other += (rows + offsets) * (2 if shape.directed else 1) + 2 * offsets
    return int(matrices * tall) + other
