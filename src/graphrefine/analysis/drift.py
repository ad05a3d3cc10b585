"""Drift: what has become of the nodes of an older embedding in a newer one.

``moved`` is the distance of the unit rows of a node after the newer vectors were rotated onto the older ones
(`graphrefine.embedding.derive`): 0 is no movement, 1.41 a right angle, 2 the opposite direction, and 1 that of a vector
which has become zeros. ``kept`` is the share of its k nearest nodes in the older embedding that are among the k nearest
in the newer one (`graphrefine.analysis.neighbor_overlap`). It needs no rotation, and prefers none of nodes that are
equally near. Of directed and bipartite graphs, whose vectors are there to score edges, ``targets`` is the share of the
k targets with the highest scores that a source keeps.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.analysis.neighbor_overlap import Ranking, compare_rankings, count_batches
from graphrefine.display.table import Table
from graphrefine.embedding.derive import BLOCK, align_tables, rotatable
from graphrefine.embedding.embedding import Embedding, check_embedding
from graphrefine.graph.lookup import SIDES, Side
from graphrefine.kernels.numerics import warn_of_differences
from graphrefine.linalg import unit_rows
from graphrefine.progress import Stages, Watcher
from graphrefine.system.checks import check_integer
from graphrefine.system.threads import one_blas_thread

SAMPLE = 10_000  # nodes whose neighbors are compared, unless all are asked for

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]


def measure_drift(
    old: Embedding,
    new: Embedding,
    *,
    k: int = 10,
    sample: int | None = SAMPLE,
    seed: int = 0,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Table:
    """What has become of each node: moved, lost or new, and how many of its neighbors it has kept.

    Parameters
    ----------
    old, new : Embedding
        With vectors of the same length, and some of the same nodes.
    k : int
        Number of nearest nodes, by the cosine, that are compared. Where all others would be among them, it is lowered
        to half of the others, with a warning.
    sample : int, optional
        Number of shared nodes, of each side of a bipartite graph, whose neighbors are compared, drawn at random; None
        for all of them.
    seed : int
        Of the sample.
    threads : int, optional
        One for each core if not given; the answer does not depend on it.
    watcher : Watcher, optional
        Receives the progress.

    Returns
    -------
    Table
        Columns ``node``, ``change`` ("shared", "lost" or "new"), ``moved`` and ``kept`` (NaN where there is nothing to
        measure: lost and new nodes, those that had a zero vector, nodes outside the sample) and, of directed and
        bipartite graphs, ``targets``. A node whose vector has become zeros has moved by 1 and kept nothing. Shared
        nodes come first, the one that moved most at the top. ``figures`` has the counts (``vanished``: shared nodes
        that had a vector and have zeros now), mean, median and 95th percentile of ``moved``, the mean of ``kept``, and
        what that would be by ``chance``, with vectors that have nothing in common; ``targets`` has the same of targets,
        and ``sides``, of a bipartite graph, the same of each side.

    Examples
    --------
    >>> old = Embedding(["ada", "bob", "cy"], [[1, 0], [0, 1], [0.6, 0.8]])
    >>> new = Embedding(["bob", "ada", "dan"], [[1, 0], [0, 1], [1, 0]])  # the axes have changed places
    >>> drift = measure_drift(old, new, k=1)
    >>> list(zip(drift["node"], drift["change"], drift["moved"].round(3).tolist(), strict=True))
    [('ada', 'shared', 0.0), ('bob', 'shared', 0.0), ('cy', 'lost', nan), ('dan', 'new', nan)]
    >>> drift["kept"][:2].tolist()  # cy was the nearest of both
    [0.0, 0.0]
    """
    if sample is not None:
        check_integer("sample", sample, least=1)
    check_embedding(old, "old")
    check_embedding(new, "new")
    warn_of_differences(old.recipe, new.recipe, stacklevel=2)
    stages = Stages(watcher)
    with stages.stage("align"):
        R, drift = align_tables(new, old)
        there, here = new.lookup.shared(old.lookup)
        moved = _measure_moves(old, new, here, there, R)
    if drift.shared < R.shape[0]:
        text = f"{drift.shared:,} shared nodes with vectors do not settle a rotation of {R.shape[0]} numbers: moved is"
        warnings.warn(f"{text} less than it would be with more of them", stacklevel=2)
    pair = Pair(old, new, here, there)
    draw: dict[str, Any] = {"k": k, "sample": sample, "seed": seed, "threads": threads, "stages": stages}
    sides = SIDES if old.sides.kind == "rows" else SIDES[:1]
    comparisons = {side: _compare_neighbors(pair, "cosine", side, **draw) for side in sides}
    targets = _compare_neighbors(pair, "link", "target", **draw) if old.sides.kind is not None else None
    return _make_table(pair, moved, comparisons, targets)


class Pair(NamedTuple):
    """Two embeddings, and the rows of the nodes that both have."""

    old: Embedding
    new: Embedding
    here: Rows  # (shared,): in the older one
    there: Rows  # (shared,): in the newer one

    def sizes(self, side: Side) -> tuple[int, int]:
        """Number of nodes of a side, in each of the two."""
        old, new = (len(range(len(each))[each.sides.rows(len(each), side)]) for each in (self.old, self.new))
        return old, new

    def on_side(self, side: Side) -> NDArray[np.bool_]:
        """Which of the shared nodes are of a side.  # (shared,)."""
        rows = range(len(self.old))[self.old.sides.rows(len(self.old), side)]
        return (self.here >= rows.start) & (self.here < rows.stop)


class Comparison(NamedTuple):
    """The share of neighbors that shared nodes have kept, and what it is a share of."""

    kept: Floats  # (shared,): NaN where there is nothing to compare, or outside of the sample
    k: int
    chance: float
    sampled: int
    eligible: int  # nodes that the sample is drawn from: those that had a vector

    def figures(self) -> dict[str, Any]:
        """The mean share, and the rest."""
        shares = self.kept[~np.isnan(self.kept)].astype(np.float64)
        return {**self._asdict(), "kept": float(shares.mean()) if len(shares) else None}


def _compare_neighbors(
    pair: Pair,
    score: Literal["cosine", "link"],
    side: Side,
    *,
    k: int,
    sample: int | None,
    seed: int,
    threads: int | None,
    stages: Stages,
) -> Comparison:
    """Neighbors of the nodes of a side, among that side, by the cosine; or targets of sources by the score of an edge.

    Of a graph that is not bipartite, every node is of both sides.
    """
    old, new, here, there = pair
    apart = score == "link" and old.sides.kind == "rows"
    others = min(pair.sizes(side)) - (0 if apart else 1)
    k = _lower(k, others, _name_others(old, score, side, others))
    before, after = (Ranking(each, score, side, threads=threads) for each in (old, new))
    mine = pair.on_side("source" if score == "link" else side)
    places = np.flatnonzero(mine & _have_vectors(before.queries, here))
    some = _draw(places, sample, seed)
    row_now = np.full(len(old), -1, np.int64)
    row_now[here] = there
    kept = np.full(len(here), np.nan, np.float32)
    with stages.stage("targets" if score == "link" else "neighbors", steps=count_batches(len(some))):
        kept[some] = compare_rankings(before, after, (here[some], there[some]), row_now, k, stages=stages)
    chance = min(k / others, 1.0) if others > 0 else 1.0
    return Comparison(kept, k, chance, len(some), len(places))


def _name_others(embedding: Embedding, score: str, side: Side, others: int) -> str:
    if score == "link":
        return f"{others} targets" if embedding.sides.kind == "rows" else f"{others} other nodes as targets"
    return f"{others} other nodes" + (f" on the {side} side" if embedding.sides.kind == "rows" else "")


def _lower(k: int, others: int, words: str) -> int:
    """Number of neighbors that are not all others, so that a share of them can be kept or lost; two have no choice."""
    if isinstance(k, bool) or not isinstance(k, int) or k < max(others, 2) or others < 2:
        return k
    few = others // 2
    text = f"k={k}: there are {words}, which would all be neighbors; the {few} nearest are compared"
    warnings.warn(text, stacklevel=4)
    return few


def _draw(places: Rows, sample: int | None, seed: int) -> Rows:
    """Some of the places at random, ascending."""
    if sample is None or len(places) <= sample:
        return places
    return np.sort(np.random.default_rng(seed).choice(places, sample, replace=False))


def _have_vectors(vectors: Floats, rows: Rows) -> NDArray[np.bool_]:
    """Which rows are not zeros.  # (len(rows),)."""
    there = np.zeros(len(rows), bool)
    for lo in range(0, len(rows), BLOCK):
        there[lo : lo + BLOCK] = vectors[rows[lo : lo + BLOCK]].any(axis=1)
    return there


def _measure_moves(old: Embedding, new: Embedding, here: Rows, there: Rows, R: NDArray[np.float64]) -> Floats:
    """The distance of the unit rows of shared nodes after the rotation; NaN where the older is zero.  # (shared,)."""
    moved = np.full(len(here), np.nan, np.float32)
    parts = new.dim // R.shape[0]  # two of a directed graph, source and target, rotated alike
    theirs = rotatable(new).reshape(len(new), parts, R.shape[0])
    with one_blas_thread():
        for lo in range(0, len(here), BLOCK):
            before = unit_rows(old.vectors[here[lo : lo + BLOCK]])
            after = unit_rows((theirs[there[lo : lo + BLOCK]] @ R).reshape(len(before), old.dim))
            distances = np.linalg.norm(after.astype(np.float64) - before, axis=1)
            moved[lo : lo + BLOCK] = np.where(before.any(axis=1), distances, np.nan)
    return moved


def _make_table(pair: Pair, moved: Floats, comparisons: dict[Side, Comparison], targets: Comparison | None) -> Table:
    old, new, here, there = pair
    order = np.lexsort((here, -moved))  # NaN last
    lost, fresh = (np.setdiff1d(np.arange(len(each)), rows) for each, rows in ((old, here), (new, there)))
    names = [*old.names[here[order]].tolist(), *old.names[lost].tolist(), *new.names[fresh].tolist()]
    nothing = np.full(len(lost) + len(fresh), np.nan, np.float32)
    changes = np.repeat(np.array(["shared", "lost", "new"], object), [len(here), len(lost), len(fresh)])
    kept = np.full(len(here), np.nan, np.float32)
    for comparison in comparisons.values():
        kept = np.where(np.isnan(comparison.kept), kept, comparison.kept)
    measures = {"moved": moved, "kept": kept} | ({} if targets is None else {"targets": targets.kept})
    columns = {"node": names, "change": changes}
    columns |= {name: np.concatenate([values[order], nothing]) for name, values in measures.items()}
    vanished = _have_vectors(old.vectors, here) & ~_have_vectors(new.vectors, there)
    every = np.ones(len(here), bool)
    figures = _count(every, (len(old), len(new)), moved, vanished) | {"dim": old.dim}
    figures |= _join(list(comparisons.values()), kept).figures()
    if targets is not None:
        figures["targets"] = targets.figures()
    if len(comparisons) > 1:
        figures["sides"] = {
            side: _count(pair.on_side(side), pair.sizes(side), moved, vanished) | comparison.figures()
            for side, comparison in comparisons.items()
        }
    return Table(columns, figures)


def _join(parts: list[Comparison], kept: Floats) -> Comparison:
    """The comparisons of all sides as one; chance is that of their nodes, on average."""
    if len(parts) == 1:
        return parts[0]
    sampled = sum(each.sampled for each in parts)
    chance = sum(each.chance * each.sampled for each in parts) / sampled if sampled else parts[0].chance
    return Comparison(kept, max(each.k for each in parts), chance, sampled, sum(each.eligible for each in parts))


def _count(
    mine: NDArray[np.bool_], sizes: tuple[int, int], moved: Floats, vanished: NDArray[np.bool_]
) -> dict[str, Any]:
    """Counts of nodes, all or those of a side, and how far they have moved."""
    shared = int(mine.sum())
    figures: dict[str, Any] = {
        "old_nodes": sizes[0],
        "new_nodes": sizes[1],
        "shared": shared,
        "lost": sizes[0] - shared,
        "new": sizes[1] - shared,
        "vanished": int((vanished & mine).sum()),
        "moved": None,
    }
    distances = moved[mine & ~np.isnan(moved)].astype(np.float64)
    if len(distances):
        median, p95 = np.quantile(distances, [0.5, 0.95]).tolist()
        figures["moved"] = {"mean": float(distances.mean()), "median": median, "p95": p95}
    return figures
