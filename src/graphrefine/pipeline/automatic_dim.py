"""`dim="auto"`: the dimension from the spectrum of a graph, where the graph, the method and the memory allow that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphrefine.errors import InputError
from graphrefine.methods.contract import Shape, engine_memory
from graphrefine.pipeline.memory_plan import BudgetError
from graphrefine.refine.dimension import PAIRS, PROBE, Dimension, measure_dimension
from graphrefine.system.memory import available_bytes, megabytes, private_bytes, release_free_memory

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

MATRICES = 3  # tall ones: two of the engine, and the axes


def choose_dimension(graph: Graph, *, method: str = "refine", budget: int | None = None, threads: int = 1) -> Dimension:
    """Return the dimension of a graph from its spectrum; InputError where that is not possible within the budget.

    Examples
    --------
    >>> from graphrefine import read
    >>> choose_dimension(read([(i, (i + 1) % 40) for i in range(40)])).dim
    16
    """
    if method != "refine":
        raise InputError(
            f"dim='auto' is for method 'refine', and this is {method!r}; say how long the vectors are, as in dim=128 "
            "(graphrefine info GRAPH --dim auto tells what the spectrum says)",
            argument="dim",
        )
    check_automatic(graph, budget=budget)
    dimension = measure_dimension(graph, threads=threads)
    release_free_memory()
    return dimension


def check_automatic(graph: Graph, *, budget: int | None = None) -> None:
    """Raise InputError where the spectrum of a graph cannot be looked at, within a budget of bytes if given."""
    if graph.directed or graph.sources is not None:
        kind = "directed" if graph.directed else "bipartite"
        raise InputError(
            f"dim='auto' is for undirected graphs of one set of nodes, and {graph.source} was read as {kind}; say how "
            "long the vectors are, as in dim=128",
            argument="dim",
        )
    needed = private_bytes() + spectrum_bytes(Shape.of(graph))
    room = min(private_bytes() + (available_bytes() or needed), needed if budget is None else budget)
    if needed > room:
        raise BudgetError(
            f"dim='auto' looks at {PROBE} axes of {graph.source} in memory, which takes {megabytes(needed)}, and there "
            f"is room for {megabytes(room)}; say how long the vectors are, as in dim=128, or give more memory",
            argument="dim",
        )


def spectrum_bytes(shape: Shape) -> int:
    """Return what `graphrefine.refine.dimension.measure_dimension` holds beside the graph.

    Examples
    --------
    >>> round(spectrum_bytes(Shape(nodes=100_000, entries=1_000_000)) / 1e6)
    354
    """
    entry = 4 + 16 + (8 if shape.weighted else 0)  # its end in the rest, where rows end, weights and their logarithms
    columns = min(PROBE, shape.nodes)
    return (
        engine_memory(shape, columns=columns, matrices=MATRICES)
        + shape.entries * entry
        + 8 * columns * (8 * columns + 5 * PAIRS)
    )
