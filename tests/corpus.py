"""Cases of a corpus: files and objects as people have them, each with the graph that is meant, or with a refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphrefine.graph.graph import Graph

Maker = Callable[[Path], Any]
"""Makes a file in a folder, or an object; gives what `graphrefine.read` is handed."""

Weights = dict[tuple[Any, Any], float]


@dataclass(frozen=True)
class Meant:
    """The graph that is meant: its edges and their weights, and the notes on the reading."""

    edges: Weights
    directed: bool = False
    alone: tuple[Any, ...] = ()  # nodes without edges
    told: tuple[str, ...] = ()  # words of `Graph.reading`, or of the notes
    report: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Refused:
    """A refusal, and words that its message has."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A case of the corpus; with several expectations, any of them is right."""

    name: str
    make: Maker
    expected: Meant | Refused | tuple[Meant | Refused, ...]
    options: dict[str, Any] = field(default_factory=dict)


def meant(
    pairs: Iterable[tuple[Any, ...]],
    *,
    directed: bool = False,
    alone: tuple[Any, ...] = (),
    told: tuple[str, ...] = (),
    **report: Any,
) -> Meant:
    """The graph of (u, v) or (u, v, weight); pairs that are listed twice, or both ways, must not be among them."""
    edges: Weights = {}
    for u, v, *weight in pairs:
        assert (u, v) not in edges
        edges[u, v] = float(weight[0]) if weight else 1.0
    return Meant(edges, directed, alone, told, report)


def refused(*words: str) -> Refused:
    """A refusal whose message has these words."""
    return Refused(words)


def written(content: str | bytes, name: str = "edges.csv") -> Maker:
    """A file with this content."""

    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def table(header: str | None, rows: Iterable[Iterable[Any]], *, delimiter: str = ",", name: str = "edges.csv") -> Maker:
    """A file with a line for each row."""
    lines = [delimiter.join(map(str, row)) for row in rows]
    return written("".join(f"{line}\n" for line in ([] if header is None else [header]) + lines), name)


def describe(graph: Graph) -> Meant:
    """A graph in the form in which cases have it; an undirected edge once, from the lesser name."""
    matrix = graph.to_scipy().tocoo()
    names = graph.names.tolist()
    entries = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    edges = {(names[u], names[v]): w for u, v, w in entries if graph.directed or u < v}
    alone = tuple(name for name, none in zip(names, graph.without_edges().tolist(), strict=True) if none)
    return Meant(edges, graph.directed, alone)


def find_difference(graph: Graph, expected: Meant) -> str:
    """The first difference between a graph and what is meant; empty if there is none."""
    actual = describe(graph)
    edges = expected.edges
    if not expected.directed:
        order = {name: at for at, name in enumerate(graph.names.tolist())}
        edges = {_in_order(pair, order): weight for pair, weight in edges.items()}
    if actual.directed != expected.directed:
        return f"directed is {actual.directed}"
    if actual.edges != edges:
        return f"the edges are {actual.edges}, not {edges}"
    if sorted(actual.alone, key=str) != sorted(expected.alone, key=str):
        return f"nodes without edges are {actual.alone}, not {expected.alone}"
    for word in expected.told:
        if word not in graph.reading:
            return f"{word!r} is not told in {graph.reading!r}"
    for key, value in expected.report.items():
        if graph.report.get(key) != value:
            return f"the report says {key} = {graph.report.get(key)!r}, not {value!r}"
    return ""


def _in_order(pair: tuple[Any, Any], order: dict[Any, int]) -> tuple[Any, Any]:
    first, second = pair
    return pair if order.get(first, 0) < order.get(second, 0) else (second, first)
