"""Duplicates: pairs of nodes that look like the same thing.

Vectors find the candidates, and neighbors decide where there is a graph.

Without a graph all pairs whose cosine is at least ``above`` are duplicates. With one, each node and its 20 nearest are
candidates (with ``above``, all pairs as before), and those of at least ``overlap`` are duplicates.

Identical nodes (with a graph: the same neighbors; without: the same vector) are one candidate, the first of them, which
represents all in pairs with others and makes one pair with each of its copies. ``stats["pairs"]`` counts them all.

**Neighbors as sets.** ``overlap(u, v) = |N_u & N_v| / |N_u | N_v|`` without u and v themselves. Of a directed graph
successors and predecessors are different members. Weights do not count.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.table import Table
from graphrefine.embedding.embedding import Embedding, check_embedding
from graphrefine.embedding.scores import Pairs
from graphrefine.errors import InputError
from graphrefine.evaluate.held_out_edges import find_entries
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import SIDES
from graphrefine.methods.coarsening import number_labels
from graphrefine.progress import Stages, Watcher
from graphrefine.search.close_pairs import ClosePairs, find_close_pairs, group_by, group_equal_rows, pair_cosines
from graphrefine.search.neighbors import as_graph, match_nodes
from graphrefine.search.scores import ScoreSide
from graphrefine.search.searcher import Search
from graphrefine.search.vectors import VectorTable, check_finite
from graphrefine.system.checks import check_integer, check_number
from graphrefine.system.threads import usable_threads

# The cosine of two copies whose edges differ a little can be anything from 0.5 on, and on another graph thousands of
# pairs are above 0.98. But hardly any two nodes have most of their neighbors in common by chance: so with a graph the
# overlap decides, and the cosine only where there is none.
ABOVE = 0.98
OVERLAP = 0.5
MIN_DEGREE = 3  # neighbors without which there is too little to compare
NEAREST = 20  # candidates of each node: of planted copies, 98 to 100 of 100 are among the ten nearest
BATCH = 4096  # nodes searched at a time
MOST_PAIRS = 10_000_000

TWINS, LEAVES = "twins", "leaves of one hub"
SOME_LEAVES = "leaves"  # of one hub or of several: only a graph tells
ROUNDING = 1e-7  # of a cosine of float32

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
ENTRIES = 1 << 22  # of neighbors, looked at in one go

Hashes = NDArray[np.uint64]


def find_duplicates(
    embedding: Embedding,
    graph: Any = None,
    *,
    above: float | None = None,
    overlap: float | None = None,
    min_degree: int | None = None,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Table:
    """Find pairs of nodes that look like the same thing, the most alike first.

    Parameters
    ----------
    embedding : Embedding
        Of the graph; how it was made does not matter.
    graph : Graph, or anything that `graphrefine.read` takes, optional
        The graph of the embedding. With it, neighbors decide; without it, the cosine alone does.
    above : float, optional
        Lowest cosine of a pair. If not given: 0.98 without a graph; with one, the 20 nearest nodes of each node are
        candidates.
    overlap : float, optional
        With a graph: lowest share of common neighbors among all neighbors of the two, 0.5 if not given.
    min_degree : int, optional
        Nodes with fewer neighbors are left out: all leaves of a hub have the same vector. 3 if not given, where
        degrees are known, from the graph or the embedding.
    threads : int, optional
        One for each core if not given; the answer does not depend on it.
    watcher : Watcher, optional
        Receives the progress.

    Returns
    -------
    Table
        A row for each pair: ``group`` (pairs that hang together have one number), ``node``, ``other``, ``cosine``; with
        a graph ``shared`` neighbors, ``overlap``, and whether an edge joins the two, ``linked``; with degrees
        ``degree``, ``other_degree`` and ``kind``: "twins", or "leaves of one hub" ("leaves" without a graph). Identical
        nodes are each paired with the first of them. ``stats`` has counts and settings.

    Examples
    --------
    >>> people = Embedding(["ada", "Ada L.", "bob"], [[1, 0.1], [1, 0.11], [0, 1]])
    >>> find_duplicates(people)
    group  node  other   cosine
        1  ada   Ada L.       1
    """
    check_embedding(embedding, "embedding")
    check_finite(embedding.vectors, embedding.names)
    stages = Stages(watcher)
    links = None if graph is None else Links.from_graph(embedding, graph)
    bounds = _check_bounds(embedding, links, above=above, overlap=overlap, min_degree=min_degree)
    degrees = embedding.degrees if links is None else links.degrees
    eligible, left_out = _find_eligible(embedding, links, degrees, bounds.min_degree)
    copies = group_vectors(embedding, eligible) if links is None else group_neighbors(links.sets, links.node, eligible)
    candidates = _find_candidates(embedding, np.sort(copies.first), bounds, usable_threads(threads), stages)
    pairs, overlaps = _confirm(embedding, copies, candidates, links, bounds, stages)
    table = _make_table(embedding, pairs, overlaps, degrees)
    kinds = table.columns.get("kind")  # None where no degrees are known
    table.stats = {
        "nodes": len(embedding), "compared": int(eligible.sum()), "left_out": left_out, **bounds._asdict(),
        "nearest": NEAREST if bounds.above is None else None, "candidates": len(candidates.first),
        "pairs": _count_pairs(pairs, copies, len(embedding)),
        "groups": int(table["group"].max(initial=0)),
        "kinds": None if kinds is None
        else {"twins": int((kinds == TWINS).sum()), "leaves": int((kinds != TWINS).sum())},
    }  # fmt: skip
    return table


class Bounds(NamedTuple):
    """What a pair must reach; None where it does not count."""

    above: float | None
    overlap: float | None
    min_degree: int


class Links(NamedTuple):
    """The neighbors that a graph has for the rows of an embedding."""

    sets: NeighborSets
    node: Rows  # of each row; -1 for none
    degrees: Rows  # of each row; 0 for none

    @classmethod
    def from_graph(cls, embedding: Embedding, graph: Any) -> Links:
        """Make the links of a graph, read if need be."""
        links = as_graph(embedding, graph)
        node, _ = match_nodes(embedding, links)
        sets = NeighborSets(links)
        return cls(sets, node, np.append(sets.sizes, 0)[node])


def _check_bounds(
    embedding: Embedding, links: Links | None, *, above: float | None, overlap: float | None, min_degree: int | None
) -> Bounds:
    for name, value in (("above", above), ("overlap", overlap)):
        if value is not None:
            check_number(name, value, above=0, most=1)
    if min_degree is not None:
        check_integer("min_degree", min_degree, least=0)
    if links is not None:
        least = MIN_DEGREE if min_degree is None else max(min_degree, 1)
        return Bounds(above, OVERLAP if overlap is None else overlap, least)
    if overlap is not None:
        raise InputError(f"overlap={overlap:g} is a share of neighbors; pass graph= too", argument="overlap")
    if embedding.degrees is None and min_degree:
        problem = f"min_degree={min_degree}: the embedding holds no degrees; pass graph= too"
        raise InputError(problem, argument="min_degree")
    usual = 0 if embedding.degrees is None else MIN_DEGREE
    return Bounds(ABOVE if above is None else above, None, usual if min_degree is None else min_degree)


def _find_eligible(
    embedding: Embedding, links: Links | None, degrees: NDArray[Any] | None, least: int
) -> tuple[Mask, dict[str, int]]:
    """Return the rows to compare, and the number of others by reason."""
    some: Mask = np.asarray(embedding.vectors.any(axis=1))
    inside = some if links is None else some & (links.node >= 0)
    enough = inside if degrees is None else inside & (degrees >= least)
    counts = {"zero_vectors": ~some, "not_in_graph": some & ~inside, "few_neighbors": inside & ~enough}
    return enough, {reason: int(mask.sum()) for reason, mask in counts.items()}


def _find_candidates(embedding: Embedding, rows: Rows, bounds: Bounds, threads: int, stages: Stages) -> ClosePairs:
    """Return pairs of rows that may be duplicates."""
    if bounds.above is None:
        return _pair_nearest(embedding, rows, threads=threads, stages=stages)
    start = embedding.sides.start if embedding.sides.kind == "rows" else len(embedding)
    sides = (rows[rows < start], rows[rows >= start])  # the two of a bipartite graph are not compared
    return ClosePairs.join([
        find_close_pairs(embedding.vectors, side, above=bounds.above, most=MOST_PAIRS, threads=threads, stages=stages)
        for side in sides if len(side)
    ])  # fmt: skip


def _pair_nearest(embedding: Embedding, rows: Rows, *, threads: int, stages: Stages) -> ClosePairs:
    """Pair each row with the nearest of the others, each pair once."""
    search = Search(embedding, threads=threads)
    among = np.zeros(len(embedding), np.bool_)
    among[rows] = True
    keys = [np.empty(0, np.int64)]
    with stages.stage("nearest", steps=-(-len(rows) // BATCH)):
        for lo in range(0, len(rows), BATCH):
            some = rows[lo : lo + BATCH]
            # A search among some rows is exact; an index finds candidates of all rows, and others are dropped below.
            near = search.nearest(rows=some, k=NEAREST, candidates=None if search.index else among).rows
            there = (near >= 0) & among[near]
            first, second = np.repeat(some, there.sum(axis=1)), near[there]
            keys.append(np.minimum(first, second) * len(embedding) + np.maximum(first, second))
            stages.advance()
    first, second = np.divmod(np.unique(np.concatenate(keys)), max(len(embedding), 1))
    return ClosePairs(first, second, pair_cosines(embedding.vectors, first, second))


def _confirm(
    embedding: Embedding, copies: Copies, candidates: ClosePairs, links: Links | None, bounds: Bounds, stages: Stages
) -> tuple[ClosePairs, Overlaps | None]:
    """Keep the pairs that reach the bounds, of candidates and of copies with their originals."""
    own = ClosePairs(copies.originals, copies.others, pair_cosines(embedding.vectors, copies.originals, copies.others))
    pairs = ClosePairs.join([own, candidates])
    if links is None:
        return pairs, None
    with stages.stage("overlap"):
        overlaps = links.sets.compare(links.node[pairs.first], links.node[pairs.second])
    alike = (overlaps.overlap >= np.float32(bounds.overlap or 0)) & (pairs.cosines >= (bounds.above or -1) - ROUNDING)
    return pairs.pick(alike), overlaps.pick(alike)


def _count_pairs(pairs: ClosePairs, copies: Copies, nodes: int) -> int:
    """Count pairs, with those of copies with each other and with the pairs of their originals."""
    own = np.isin(pairs.second, copies.others)
    sizes = np.bincount(pairs.first[own], minlength=nodes).astype(np.int64) + 1
    between = sizes[pairs.first[~own]] * sizes[pairs.second[~own]]
    return int(between.sum()) + int((sizes * (sizes - 1) // 2).sum())


def _make_table(
    embedding: Embedding, pairs: ClosePairs, overlaps: Overlaps | None, degrees: NDArray[Any] | None
) -> Table:
    """Return the pairs by name, the most alike first: of equal overlap those of more neighbors."""
    ranks: list[NDArray[Any]] = [pairs.second, pairs.first, -pairs.cosines]
    ranks += [] if overlaps is None else [-overlaps.shared, -overlaps.overlap]
    order = np.lexsort(ranks)
    first, second = pairs.first[order], pairs.second[order]
    columns: dict[str, Any] = {
        "group": _number_groups(first, second, len(embedding)),
        "node": embedding.names[first], "other": embedding.names[second], "cosine": pairs.cosines[order],
    }  # fmt: skip
    if overlaps is not None:
        columns |= {name: values[order] for name, values in overlaps._asdict().items()}
    if degrees is not None:
        leaves = (degrees[first] == 1) & (degrees[second] == 1)
        columns |= {"degree": degrees[first].astype(np.int64), "other_degree": degrees[second].astype(np.int64)}
        columns["kind"] = np.where(leaves, LEAVES if overlaps is not None else SOME_LEAVES, TWINS).astype(object)
    return Table(columns)


def _number_groups(first: Rows, second: Rows, count: int) -> Rows:
    """Assign numbers to the pairs from 1 in their order, with one number for pairs that hang together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    _, parts = connected_components(coo_array((np.ones(len(first)), (first, second)), shape=(count, count)), False)
    return number_labels(parts[first]).astype(np.int64) + 1


# One candidate for a group of equal rows: 100,000 leaves of one hub are 99,999 pairs with the first, not five billion.
class Copies(NamedTuple):
    """Groups of identical rows, those of one row included; the first of each represents it."""

    first: Rows  # (groups,)
    others: Rows  # the rows that are not the first of their group
    originals: Rows  # the first row of the group of each of these

    @classmethod
    def from_groups(cls, members: Rows, starts: Rows) -> Copies:
        """Make groups of members, each ascending, that begin at ``starts``."""
        sizes = np.diff(starts)
        first = members[starts[:-1]]
        originals = np.repeat(first, sizes)
        later = members != originals
        return cls(first, members[later], originals[later])

    @classmethod
    def join(cls, parts: list[Copies]) -> Copies:
        """Join the groups of several parts."""
        return cls(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def group_vectors(table: VectorTable, eligible: Mask) -> Copies:
    """Group eligible rows with the same vector; of a bipartite graph, of one side."""
    every = ScoreSide(table.vectors, None, np.where(eligible, np.float32(0), np.float32(-np.inf)))
    parts = []
    for side in SIDES if table.sides.kind == "rows" else SIDES[:1]:
        rows = table.sides.rows(len(table), side)
        members, starts = group_equal_rows(every.part(rows))
        parts.append(Copies.from_groups(members + rows.start, starts))
    return Copies.join(parts)


def group_neighbors(sets: NeighborSets, node: Rows, eligible: Mask) -> Copies:
    """Group eligible rows with the same neighbors, or the same when each counts itself too: no row is in both.

    ``node`` is the node of each row in the graph of the sets.
    """
    # Twins that are linked have each other as neighbor, and so differ in their sets but not in those with themselves.
    rows = np.flatnonzero(eligible)
    alone, whole = (hashes[node[rows]] for hashes in sets.hash_sets())
    members, starts = group_by(rows, alone)
    sizes = np.diff(starts)
    single = np.repeat(sizes == 1, sizes)
    several = np.concatenate([[0], np.cumsum(sizes[sizes > 1])]).astype(np.int64)
    rest = np.isin(rows, members[single])
    return Copies.join([
        Copies.from_groups(members[~single], several),
        Copies.from_groups(*group_by(rows[rest], whole[rest])),
    ])  # fmt: skip


class Overlaps(NamedTuple):
    """What pairs of nodes have in common."""

    shared: Rows  # (m,): neighbors of both
    overlap: NDArray[np.float32]  # (m,): of all neighbors of either, 0 where there are none
    linked: NDArray[np.bool_]  # (m,): whether an edge joins the two

    def pick(self, mask: NDArray[np.bool_]) -> Overlaps:
        """Return the overlaps of some of the pairs."""
        return Overlaps(self.shared[mask], self.overlap[mask], self.linked[mask])


class NeighborSets:
    """The neighbors of each node of a graph."""

    def __init__(self, graph: Graph) -> None:
        from scipy.sparse import csr_array, hstack

        ones = np.ones(len(graph.indices), np.int32)
        links = csr_array((ones, graph.indices, graph.indptr), shape=(graph.nodes, graph.nodes))
        self._graph = graph
        self._sets = hstack([links, links.T.tocsr()]).tocsr() if graph.directed else links
        self.sizes = np.diff(self._sets.indptr).astype(np.int64)  # (n,)

    def hash_sets(self) -> tuple[Hashes, Hashes]:
        """Hash the neighbors of each node, and these with the node itself: equal for equal sets.  # (n,) each."""
        # The sum of random numbers of 64 bits, one for each neighbor: no order counts, and two different sets have the
        # same sum by a chance of 2^-64.
        columns = self._sets.shape[1]
        numbers = np.random.default_rng(0).integers(1, 2**64, columns, np.uint64)
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(numbers[self._sets.indices], dtype=np.uint64)])
        hashes = ends[self._sets.indptr[1:]] - ends[self._sets.indptr[:-1]]  # modulo 2^64, as are the sums
        own = numbers[: self._sets.shape[0]] + (numbers[columns // 2 :] if self._graph.directed else np.uint64(0))
        return hashes, hashes + own

    def compare(self, first: Rows, second: Rows) -> Overlaps:
        """Compare each pair of nodes."""
        shared = np.zeros(len(first), np.int64)
        links = (find_entries(self._graph, Pairs(first, second)) >= 0).astype(np.int64)
        if self._graph.directed:
            links += find_entries(self._graph, Pairs(second, first)) >= 0
        # In blocks of bounded neighbors, not of pairs: two hubs have more of them than thousands of other pairs.
        ends = np.concatenate([[0], np.cumsum(self.sizes[first] + self.sizes[second])])
        start = 0
        while start < len(first):
            stop = max(start + 1, int(np.searchsorted(ends, ends[start] + ENTRIES, side="right")) - 1)
            shared[start:stop] = self._sets[first[start:stop]].multiply(self._sets[second[start:stop]]).sum(axis=1)
            start = stop
        # Without the two themselves: linked coauthors of one paper are as alike as two papers of the same authors.
        whole = self.sizes[first] + self.sizes[second] - 2 * links - shared
        return Overlaps(shared, (shared / np.maximum(whole, 1)).astype(np.float32), links > 0)
