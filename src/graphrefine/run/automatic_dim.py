"""`dim="auto"`: which runs may have it, and whether the memory has room for the look at the spectrum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphrefine.errors import InputError
from graphrefine.methods.contract import Method, Shape, engine_memory
from graphrefine.refine.dimension import PROBE
from graphrefine.run.memory_plan import BudgetError
from graphrefine.system.memory import available_bytes, megabytes, private_bytes

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

AUTO = "auto"
MATRICES = 3  # tall ones: two of the engine, and the axes


def is_automatic(dim: Any, method: Method[Any]) -> bool:
    """Whether the dimension is to be chosen from the spectrum; InputError for a method that it was not measured for.

    Examples
    --------
    >>> from graphrefine.methods.registry import find_method
    >>> is_automatic("auto", find_method("refine")), is_automatic(64, find_method("line"))
    (True, False)
    """
    if not isinstance(dim, str) or dim != AUTO:
        return False
    if method.name != "refine":
        problem = (
            f"dim='auto' is for method 'refine', and this is {method.name!r}; say how long the vectors are, as in "
        )
        raise InputError(f"{problem}dim=128, or see what graphrefine info --dim auto says", argument="dim")
    return True


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
            mentions=["memory"],
        )


def spectrum_bytes(shape: Shape) -> int:
    """What `graphrefine.refine.dimension.measure_dimension` holds beside the graph.

    Examples
    --------
    >>> round(spectrum_bytes(Shape(nodes=100_000, entries=1_000_000)) / 1e6)
    343
    """
    entry = 4 + 16 + (8 if shape.weighted else 0)  # its end in the rest, where rows end, weights and their logarithms
    columns = min(PROBE, shape.nodes)
    return engine_memory(shape, columns=columns, matrices=MATRICES) + shape.entries * entry + 8 * columns**2 * 8
