"""Folders of the Open Graph Benchmark: ``raw/edge.csv.gz``, and files with a line for each node or edge next to it.

Nodes are named 0 to n - 1, as there; labels of nodes become the attribute label. A folder does not say whether its
edges have a direction: for the graphs of the benchmark it is known here, for others they have none, and a note says so.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import MAX_NODES, add_nodes, object_array
from graphrefine.readers.formats import EdgeTable, make_report
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.text import load as load_text
from graphrefine.tables.source import Source

# The most nodes that a graph may state: a million, or a thousand for each of its edges. Each takes memory, and a wrong
# number in a file of one line would take all of it.
_ALWAYS, _PER_EDGE = 1_000_000, 1000
_DIRECTIONS = {
    **dict.fromkeys(("arxiv", "papers100m", "citation", "citation2"), True),
    **dict.fromkeys(("products", "proteins", "ppa", "collab", "ddi"), False),
}
_UNREAD = {
    "data.npz": "that is stored as arrays",
    "relations": "with several kinds of nodes",
    "triplet-type-list.csv.gz": "with several kinds of nodes",
}


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a graph of a folder: that of the graph, or the one called raw in it."""
    folder = Path(source.path)
    folder = folder / "raw" if (folder / "raw").is_dir() else folder
    for name, problem in _UNREAD.items():
        if (folder / name).exists():
            raise source.error(f"it has {name}, as a graph {problem}, which is not read; give its edges as a table")
    columns: dict[str, Any] = {"source": 0, "target": 1, "weights": False, "header": False, "delimiter": ","}
    edges = load_text(_find(source, folder, "edge"), replace(options, names=None, **columns))
    if not isinstance(edges, EdgeTable):
        raise source.error("the file of the edges holds a matrix, where two columns are expected")
    count = _node_count(source, folder, len(edges.numbered[0]))
    names = edges.numbered[2]
    if names.dtype == object or (len(names) and not (names[0] >= 0 and names[-1] < count)):
        raise source.error(f"the edges name {names.tolist()[-1]!r}, and there are {count:,} nodes, from 0 on")
    numbered = add_nodes(edges.numbered, np.arange(count))
    weight, weights = _edge_weights(source, folder, options, len(numbered[0]))
    unused = [name for name in _names_of(folder, "edge") if name not in ("edge", weight)]
    path = Path(source.path).resolve()
    known = (path.parent if path.name == "raw" else path).name.lower().replace("-", "_")
    directed = _DIRECTIONS.get(known.removeprefix("ogbn_").removeprefix("ogbl_"))
    is_told = directed is not None or options.directed is not None
    notes = [] if is_told else ["the folder does not say whether edges have a direction"]
    report = make_report(weight_column=weight, unused=unused, notes=notes)
    labels = _labels(source, folder, count)
    return EdgeTable(numbered, weights, report, row_numbers=True, directed=directed, attributes=labels)


def _find(source: Source, folder: Path, name: str) -> Source:
    """Return a file with a line for each node or edge."""
    for suffix in (".csv.gz", ".csv"):
        if (folder / f"{name}{suffix}").exists():
            return Source(folder / f"{name}{suffix}")
    problem = f"a graph of OGB is a folder with {folder.name}/{name}.csv.gz in it; of another folder, name a file"
    raise source.error(problem, argument="format")


def _names_of(folder: Path, begin: str) -> list[str]:
    """Return the files about nodes or edges, without their suffixes."""
    return sorted({each.name.removesuffix(".gz").removesuffix(".csv") for each in folder.glob(f"{begin}*.csv*")})


def _numbers(file: Source) -> NDArray[np.float64]:
    """Return the numbers of a file.  # (lines, columns)."""
    lines = file.data.split()
    file.release()
    width = lines[0].count(b",") + 1 if lines else 1
    try:
        return np.array(b",".join(lines).split(b","), dtype=np.float64).reshape(len(lines), width)
    except ValueError:
        raise file.error(f"each line must hold {width} number{'s' * (width > 1)}") from None


def _node_count(source: Source, folder: Path, edges: int) -> int:
    file = _find(source, folder, "num-node-list")
    counts = _numbers(file)
    if counts.shape != (1, 1):
        raise file.error(f"the folder holds {len(counts):,} graphs, where one is expected")
    count = counts[0, 0]
    if not 1 <= count <= min(MAX_NODES, max(_ALWAYS, _PER_EDGE * edges)) or count != int(count):
        raise file.error(f"{count:,.0f} is no number of nodes for a graph of {edges:,} edges")
    return int(count)


def _edge_weights(
    source: Source, folder: Path, options: ReadOptions, edges: int
) -> tuple[str | None, NDArray[np.float32] | None]:
    """Return name and values of the weights: those of the file edge_weight, or of the one that the option names."""
    files = [name for name in _names_of(folder, "edge") if name != "edge"]
    name = "edge_weight" if options.weights is None else options.weights
    if options.weights is False or (options.weights is None and name not in files):
        return None, None
    if name not in files:
        problem = f"there is no file {name!r} with a line for each edge; the files are {', '.join(map(repr, files))}"
        raise source.error(problem, argument="weights")
    file = _find(source, folder, name)
    numbers = _numbers(file)
    try:
        return name, check_weights(numbers[:, 0] if numbers.shape[1] == 1 else numbers, edges)
    except InputError as error:
        raise file.error(error) from None


def _labels(source: Source, folder: Path, count: int) -> dict[str, NDArray[Any]]:
    """Return the labels of the nodes, if there are some: None where there is NaN."""
    if "node-label" not in _names_of(folder, "node-label"):
        return {}
    file = _find(source, folder, "node-label")
    numbers = _numbers(file)
    if len(numbers) != count:
        raise file.error(f"there are {len(numbers):,} lines, and {count:,} nodes")
    columns = [_as_labels(column) for column in numbers.T]
    return {"label": columns[0]} if len(columns) == 1 else {f"label_{at}": each for at, each in enumerate(columns)}


def _as_labels(column: NDArray[np.float64]) -> NDArray[Any]:
    missing = np.isnan(column)
    if not np.array_equal(column[~missing], np.floor(column[~missing])):
        return column
    if not missing.any():
        return column.astype(np.int64)
    return object_array([None if np.isnan(value) else int(value) for value in column.tolist()])
