"""Edges of a graph, split into train, validation and test, with pairs that are no edges, to train other models.

Nothing leaks. An edge is in one part alone, an undirected one in both directions. A negative is a pair that has no edge
in any part, and is in one part alone; undirected pairs count once, whichever way round. In a directed graph pairs are
ordered: an arc turned round may be a negative if it is no arc itself, and ``turned`` counts those. In a bipartite
graph, negatives have a source and a target, as edges do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine import __version__
from graphrefine.display.console import json_text
from graphrefine.display.table import WRITERS, Table, check_table_path
from graphrefine.embedding.scores import Pairs
from graphrefine.errors import InputError
from graphrefine.evaluate.held_out_edges import (
    count_pairs,
    draw_non_edges,
    drop_repeated,
    find_entries,
    order_by_name,
    remove_edges,
    select_edges,
)
from graphrefine.graph.graph import Graph
from graphrefine.readers.options import list_options
from graphrefine.readers.read import read
from graphrefine.system.checks import check_choice, check_integer, check_number
from graphrefine.system.files import check_only, check_writable, replacing_folder

ROUNDS = 100  # of drawing negatives by degree, before they are said to be too few

Rows = NDArray[np.int64]
RECIPE = "split.json"
KIND = "graphrefine split"
FORMATS = tuple(suffix.removeprefix(".") for suffix in WRITERS)


@dataclass(frozen=True, eq=False, repr=False)
class EdgeSplit:
    """Result of `split_edges`.

    Attributes
    ----------
    graph : Graph
        The train graph: all nodes, and the edges of train alone.
    edges, negatives : dict of Table
        For each part the edges, and the pairs without one: columns ``source`` and ``target``, and for edges of a
        weighted graph ``weight``. A part without edges is left out.
    stats : dict
        The recipe, and the counts.
    """

    graph: Graph
    edges: Mapping[str, Table]
    negatives: Mapping[str, Table]
    stats: Mapping[str, Any]

    def pairs(self, part: str) -> Table:
        """Return edges and negatives of a part in one table, with a column ``edge``: True or False."""
        if part not in self.edges:
            raise KeyError(f"there is no part {part!r}; the parts are {', '.join(self.edges)}")
        tables = [self.edges[part], *([self.negatives[part]] if part in self.negatives else [])]
        columns = {name: np.concatenate([table[name] for table in tables]) for name in ("source", "target")}
        return Table({**columns, "edge": np.repeat([True, False][: len(tables)], [len(table) for table in tables])})

    def __repr__(self) -> str:
        counts = (
            f"{part}: {len(edges):,} edges, {len(self.negatives.get(part, ())):,} negatives"
            for part, edges in self.edges.items()
        )
        return f"EdgeSplit({'; '.join(counts)})"

    def save(self, folder: Any, *, format: str = "csv") -> None:
        """Write a folder of tables and ``split.json``, replacing an earlier split there in one step.

        Parameters
        ----------
        folder : path
            Tables ``train``, ``train_negatives``, ... with the suffix of the format, and ``nodes.txt``, all nodes of
            the graph, a name on each line; of a bipartite graph ``sources.txt`` and ``targets.txt``.
        format : {"csv", "tsv", "jsonl", "parquet", "arrow"}
            Format of the tables.
        """
        tables = {**self.edges, **{f"{part}_negatives": table for part, table in self.negatives.items()}}
        names, sources = self.graph.names, self.graph.sources
        lists = {"nodes": names} if sources is None else {"sources": names[:sources], "targets": names[sources:]}
        check_split_folder(folder, format)
        files = {**{name: f"{name}.{format}" for name in tables}, **{name: f"{name}.txt" for name in lists}}
        with replacing_folder(folder, replaceable=_check_split) as hidden:
            for name, table in tables.items():
                table.save(hidden / files[name])
            for name, each in lists.items():
                text = "".join(f"{node}\n" for node in each.tolist())
                (hidden / files[name]).write_text(text, encoding="utf-8", errors="surrogateescape")
            recipe = {"kind": KIND, "version": __version__, **self.stats, "files": files}
            (hidden / RECIPE).write_text(json_text(recipe) + "\n", encoding="utf-8")


@list_options
def split_edges(
    graph: Any,
    *,
    test: float = 0.1,
    validation: float = 0.05,
    negatives: float = 1.0,
    negatives_by: Literal["uniform", "degree"] = "uniform",
    connected: bool = False,
    seed: int = 0,
    threads: int | None = None,
    **reading: Any,
) -> EdgeSplit:
    """Split the edges of a graph into train, validation and test, with negatives.

    Parameters
    ----------
    graph : Graph, or anything that `graphrefine.read` takes
        Directed and bipartite graphs are split as such.
    test, validation : float
        Parts of the edges, 0 or more and together less than 1.
    negatives : float
        Pairs without an edge for each edge, in every part.
    negatives_by : {"uniform", "degree"}
        Negatives drawn uniformly from all pairs without an edge; or ends of the part's edges, paired again at random,
        so that nodes are as frequent in negatives as in edges and their degrees alone tell nothing.
    connected : bool
        Whether the train graph keeps the connected components of the whole (directions aside), and so an edge for each
        node that has one: a random spanning forest stays in train. The held-out edges are then no uniform sample: an
        edge whose loss would cut the graph is never among them.
    seed : int
        Seed of the split and of the negatives.
    threads : int, optional
        Threads for reading a file.
    reading
        Options of `graphrefine.read`, such as ``directed``, ``weights`` or ``header``.

    Examples
    --------
    >>> split = split_edges([(i, (i + 1) % 10) for i in range(10)], test=0.2, validation=0.1)
    >>> split
    EdgeSplit(train: 7 edges, 7 negatives; validation: 1 edges, 1 negatives; test: 2 edges, 2 negatives)
    >>> split.graph
    Graph(10 nodes, 7 edges, undirected, unweighted, 1 isolated)
    """
    whole = read(graph, threads=threads, **reading)
    _check(test, validation, negatives, negatives_by, seed)
    rng = np.random.default_rng((seed, round(test * 1e6), round(validation * 1e6)))
    order = order_by_name(whole)
    edges = select_edges(whole, np.arange(whole.edges), order)  # in the order of names
    parts = _deal(whole, edges, test, validation, connected, rng)
    own = {part: _take(edges, rows) for part, rows in parts.items()}
    others = _draw_negatives(whole, own, order, negatives, negatives_by, rng)
    held_out = np.concatenate([rows for part, rows in parts.items() if part != "train"])
    rest = remove_edges(whole, _take(edges, held_out)) if len(held_out) else whole
    stats = {
        "graph": whole.source,
        "reading": whole.reading,
        "nodes": whole.nodes,
        "edges": whole.edges,
        "directed": whole.directed,
        "bipartite": whole.sources is not None,
        "weighted": whole.weighted,
        "test": test,
        "validation": validation,
        "negatives": negatives,
        "negatives_by": negatives_by,
        "connected": connected,
        "seed": seed,
        "parts": {
            part: {"edges": len(rows), "negatives": len(others[part].first) if part in others else 0}
            for part, rows in parts.items()
        },
        "without_train_edges": int((rest.without_edges() & ~whole.without_edges()).sum()),
    }
    if whole.directed:
        turned = (find_entries(whole, Pairs(pairs.second, pairs.first)) >= 0 for pairs in others.values())
        stats["turned"] = sum(int(each.sum()) for each in turned)
    return EdgeSplit(
        rest,
        {part: _table(whole, pairs, weights=True) for part, pairs in own.items()},
        {part: _table(whole, pairs) for part, pairs in others.items()},
        stats,
    )


def _check(test: float, validation: float, negatives: float, negatives_by: str, seed: int) -> None:
    for name, value in (("test", test), ("validation", validation)):
        check_number(name, value, least=0, most=1)
    if not 0 < test + validation < 1:
        raise InputError(
            f"test={test:g} and validation={validation:g}: together they must be more than 0 and less than 1",
            argument="test",
        )
    check_number("negatives", negatives, least=0)
    check_choice("negatives_by", negatives_by, ["uniform", "degree"])
    check_integer("seed", seed, least=0)


def _take(edges: Pairs, rows: Rows) -> Pairs:
    return Pairs(edges.first[rows], edges.second[rows])


def _deal(
    graph: Graph, edges: Pairs, test: float, validation: float, connected: bool, rng: np.random.Generator
) -> dict[str, Rows]:
    """Return the numbers of the edges of each part, ascending; a part of no edges is left out."""
    shares = {"test": test, "validation": validation}
    sizes = {name: round(part * graph.edges) for name, part in shares.items()}
    order = rng.permutation(graph.edges)
    if connected:
        order = order[~_spanning_forest(graph, edges, order)[order]]
    size = sum(sizes.values())
    if len(order) < size:
        raise InputError(
            f"connected=True leaves {len(order):,} of the {graph.edges:,} edges of {graph.source} outside a spanning "
            f"forest to hold out, and {size:,} are wanted; hold out less, or leave it out",
            argument="connected",
        )
    if size >= graph.edges or any(part > 0 and not sizes[name] for name, part in shares.items()):
        raise InputError(
            f"test={test:g} and validation={validation:g} of the {graph.edges:,} edges of {graph.source} leave a part "
            "without an edge; a graph with more edges is needed, or 0 for a part that is not",
            argument="test",
        )
    held = {"validation": order[sizes["test"] : size], "test": order[: sizes["test"]]}
    train = np.ones(graph.edges, np.bool_)
    train[order[:size]] = False
    return {"train": np.flatnonzero(train), **{part: np.sort(rows) for part, rows in held.items() if len(rows)}}


def _spanning_forest(graph: Graph, edges: Pairs, order: Rows) -> NDArray[np.bool_]:
    """Return the mask of the edges of a random spanning forest, directions aside: the last in ``order``."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    # The order is random, so minimum spanning trees by it are random ones. Costs begin at 1, as SciPy takes an edge of
    # cost 0 for none.
    cost = np.empty(graph.edges)
    cost[order] = np.arange(graph.edges, 0, -1.0)
    low, high = np.minimum(*edges), np.maximum(*edges)
    first = np.lexsort((cost, high, low))  # of two arcs between the same nodes, the cheaper one
    key = low[first] * graph.nodes + high[first]
    first = first[np.concatenate([[True], key[1:] != key[:-1]])]
    ends = low[first].astype(np.int32), high[first].astype(np.int32)  # the trees of SciPy 1.15 take no int64
    costs = sp.csr_array((cost[first], ends), shape=(graph.nodes, graph.nodes))
    forest = minimum_spanning_tree(costs)
    return np.isin(cost, forest.data)


def _draw_negatives(
    graph: Graph, edges: Mapping[str, Pairs], order: Rows, negatives: float, by: str, rng: np.random.Generator
) -> dict[str, Pairs]:
    """Return pairs without an edge for each part, each pair in one part at most once."""
    sizes = {part: round(negatives * len(pairs.first)) for part, pairs in edges.items()}
    total, free = sum(sizes.values()), count_pairs(graph) - graph.edges
    if total > free:
        raise InputError(
            f"negatives={negatives:g}: {total:,} pairs without an edge are needed, and {graph.source} has {free:,}; "
            "ask for fewer",
            argument="negatives",
        )
    if by == "degree":
        return _pair_ends(graph, edges, sizes, np.argsort(order), rng)
    drawn = draw_non_edges(graph, total, order, rng)
    mixed = rng.permutation(total)  # so that no part has the pairs of the first nodes
    parts = np.split(mixed, np.cumsum([*sizes.values()]))
    return {part: _take(drawn, rows) for part, rows in zip(sizes, parts, strict=False) if len(rows)}


def _pair_ends(
    graph: Graph, edges: Mapping[str, Pairs], sizes: Mapping[str, int], rank: Rows, rng: np.random.Generator
) -> dict[str, Pairs]:
    """Pair ends of a part's edges at random, without edges of the whole graph and pairs of another part."""
    taken = np.empty(0, np.int64)
    drawn: dict[str, Pairs] = {}
    for part, size in sizes.items():
        before = len(taken)
        for _ in range(ROUNDS):
            missing = size - (len(taken) - before)
            if not missing:
                break
            taken = _add_new(taken, _shuffled_ends(graph, edges[part], rank, 2 * missing + 16, rng), graph, missing)
        else:
            raise InputError(
                f"negatives_by='degree': of {size:,} pairs of ends without an edge that {part} needs, "
                f"{len(taken) - before:,} were there; ask for fewer negatives, or for negatives_by='uniform'",
                argument="negatives_by",
            )
        if size:
            keys = taken[before:]
            drawn[part] = Pairs(keys // graph.nodes, keys % graph.nodes)
    return drawn


def _shuffled_ends(graph: Graph, edges: Pairs, rank: Rows, count: int, rng: np.random.Generator) -> Pairs:
    if graph.directed or graph.sources is not None:
        return Pairs(*(side[rng.integers(0, len(side), count)] for side in edges))
    ends = np.concatenate(edges)  # an undirected edge has no first end
    first, second = ends[rng.integers(0, len(ends), (2, count))]
    ascending = rank[first] < rank[second]
    return Pairs(np.where(ascending, first, second), np.where(ascending, second, first))


def _add_new(taken: Rows, pairs: Pairs, graph: Graph, most: int) -> Rows:
    """Append keys of new pairs that are no edges, loops or repetitions, at most ``most``, in their order."""
    free = (pairs.first != pairs.second) & (find_entries(graph, pairs) < 0)
    keys = drop_repeated(pairs.first[free] * graph.nodes + pairs.second[free])
    return np.concatenate([taken, keys[~np.isin(keys, taken)][:most]])


def _table(graph: Graph, pairs: Pairs, *, weights: bool = False) -> Table:
    columns = {"source": graph.names_of(pairs.first), "target": graph.names_of(pairs.second)}
    if weights and graph.weights is not None:
        columns["weight"] = graph.weights[find_entries(graph, pairs)]
    return Table(columns)


def check_split_folder(folder: str | os.PathLike[str], format: str) -> None:
    """Check before the work that a split can be written to this folder in this format."""
    check_choice("format", format, FORMATS)
    check_table_path(Path(os.path.realpath(folder)).parent / f"train.{format}")
    check_writable(folder, folder=True, replaceable=_check_split)


def _check_split(folder: Path) -> None:
    """Refuse to replace a folder that is no split, or that holds anything else."""
    try:
        recipe = json.loads((folder / RECIPE).read_text(encoding="utf-8"))
        files = {RECIPE, *recipe["files"].values()} if recipe["kind"] == KIND else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        files = None
    check_only(folder, files, kind="split")
