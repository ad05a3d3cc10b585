"""Drift: what has become of the nodes of an older embedding in a newer one.

``moved`` is the distance of the unit rows of a node after the newer vectors were rotated onto the older ones
(`graphrefine.embedding.align`): 0 is no movement, 1.41 a right angle, 2 the opposite direction. ``kept`` is the share
of its k nearest nodes in the older embedding that are among the k nearest in the newer one. It needs no rotation; a
node that is as near as the last of the k counts as one of them, so that equal vectors make no difference.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.align import BLOCK, align_tables, rotatable
from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError
from graphrefine.kernels.arithmetic import warn_of_differences
from graphrefine.linalg import unit_rows
from graphrefine.progress import Stages, Watcher
from graphrefine.search.close_pairs import pair_cosines
from graphrefine.search.searcher import Search
from graphrefine.system.threads import one_blas_thread
from graphrefine.vectors.table import check_table
from graphrefine.visuals.table import Table

SAMPLE = 10_000  # nodes whose neighbours are compared, unless all are asked for
BATCH = 4096  # nodes searched at a time
AS_NEAR = 1e-6  # of a cosine: rounding

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
    """What has become of each node: moved, lost or new, and how many of its neighbours it has kept.

    Parameters
    ----------
    old, new : Embedding
        With vectors of the same length, and some of the same nodes.
    k : int
        Number of nearest nodes, by the cosine, that are compared. Where all others would be among them, it is lowered
        to half of the others, with a warning.
    sample : int, optional
        Number of shared nodes whose neighbours are compared, drawn at random; None for all of them.
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
        measure: lost and new nodes, zero vectors, nodes outside the sample). Shared nodes come first, the one that
        moved most at the top. ``figures`` has the counts (``vanished``: shared nodes that had a vector and have zeros
        now), mean, median and 95th percentile of ``moved``, the mean of ``kept``, and what that would be by
        ``chance``, with vectors that have nothing in common.

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
    if sample is not None and (isinstance(sample, bool) or not isinstance(sample, int) or sample < 1):
        raise InputError(
            f"sample={sample!r}: a positive number of nodes is expected, or None for all", argument="sample"
        )
    check_table(old, "old")
    check_table(new, "new")
    warn_of_differences(old.recipe, new.recipe, stacklevel=2)
    others = min(len(old), len(new)) - 1
    k = _lower(k, others)
    stages = Stages(watcher)
    with stages.stage("align"):
        R, drift = align_tables(new, old)
        there, here = new.lookup.shared(old.lookup)
        moved = _measure_moves(old, new, here, there, R)
        vanished = old.vectors[here].any(axis=1) & ~new.vectors[there].any(axis=1)
    if drift.shared < R.shape[0]:
        text = f"{drift.shared:,} shared nodes with vectors do not settle a rotation of {R.shape[0]} numbers: moved is"
        warnings.warn(f"{text} less than it would be with more of them", stacklevel=2)
    kept = np.full(len(here), np.nan, np.float32)
    some = _draw(np.flatnonzero(~np.isnan(moved)), sample, seed)
    kept[some] = _compare_neighbours(old, new, here[some], there[some], k, threads=threads, stages=stages)
    chance = min(k / others, 1.0) if others else 1.0
    return _make_table(
        old, new, (here, there), moved, kept, vanished=int(vanished.sum()), k=k, chance=chance, sampled=len(some)
    )


def _lower(k: int, others: int) -> int:
    """Number of neighbours that are not all others, so that a share of them can be kept or lost; two have no choice."""
    if isinstance(k, bool) or not isinstance(k, int) or k < max(others, 2) or others < 2:
        return k
    few = others // 2
    text = f"k={k}: there are {others} other nodes, which would all be neighbours; the {few} nearest are compared"
    warnings.warn(text, stacklevel=3)
    return few


def _draw(places: Rows, sample: int | None, seed: int) -> Rows:
    """Some of the places at random, ascending."""
    if sample is None or len(places) <= sample:
        return places
    return np.sort(np.random.default_rng(seed).choice(places, sample, replace=False))


def _measure_moves(old: Embedding, new: Embedding, here: Rows, there: Rows, R: NDArray[np.float64]) -> Floats:
    """The distance of the unit rows of shared nodes after the rotation; NaN where one is zero.  # (shared,)."""
    moved = np.full(len(here), np.nan, np.float32)
    parts = new.dim // R.shape[0]  # two of a directed graph, source and target, rotated alike
    theirs = rotatable(new).reshape(len(new), parts, R.shape[0])
    with one_blas_thread():
        for lo in range(0, len(here), BLOCK):
            before = unit_rows(old.vectors[here[lo : lo + BLOCK]])
            after = unit_rows((theirs[there[lo : lo + BLOCK]] @ R).reshape(len(before), old.dim))
            distances = np.linalg.norm(after.astype(np.float64) - before, axis=1)
            known = before.any(axis=1) & after.any(axis=1)
            moved[lo : lo + BLOCK] = np.where(known, distances, np.nan)
    return moved


def _compare_neighbours(
    old: Embedding, new: Embedding, here: Rows, there: Rows, k: int, *, threads: int | None, stages: Stages
) -> Floats:
    """The share of the k nearest nodes in the older embedding that are among those in the newer one.  # (m,)."""
    before, after = (Search(each, threads=threads, watcher=None) for each in (old, new))
    row_now = np.full(len(old) + 1, -1, np.int64)  # the last is that of no row
    new_rows, old_rows = new.lookup.shared(old.lookup)
    row_now[old_rows] = new_rows
    kept = np.full(len(here), np.nan, np.float32)
    with stages.stage("neighbours", steps=-(-len(here) // BATCH)):
        for lo in range(0, len(here), BATCH):
            mine, theirs = here[lo : lo + BATCH], there[lo : lo + BATCH]
            near = before.nearest(rows=mine, k=k).rows
            nearest_now = after.nearest(rows=theirs, k=k).scores
            least = np.where(np.isneginf(nearest_now), np.inf, nearest_now).min(axis=1)  # of those that are there
            rows = row_now[near]
            cosines = pair_cosines(new.vectors, np.repeat(theirs, near.shape[1]), np.maximum(rows, 0).ravel())
            stayed = (rows >= 0) & (cosines.reshape(rows.shape) >= (least - AS_NEAR)[:, None])
            count = (near >= 0).sum(axis=1)
            kept[lo : lo + BATCH] = np.where(count > 0, stayed.sum(axis=1) / np.maximum(count, 1), np.nan)
            stages.advance()
    return kept


def _make_table(
    old: Embedding,
    new: Embedding,
    shared: tuple[Rows, Rows],
    moved: Floats,
    kept: Floats,
    vanished: int,
    **neighbours: float,
) -> Table:
    here, there = shared
    order = np.lexsort((here, -moved))  # NaN last
    lost, fresh = (np.setdiff1d(np.arange(len(each)), rows) for each, rows in ((old, here), (new, there)))
    names = [*old.names[here[order]].tolist(), *old.names[lost].tolist(), *new.names[fresh].tolist()]
    nothing = np.full(len(lost) + len(fresh), np.nan, np.float32)
    sizes = {"shared": len(here), "lost": len(lost), "new": len(fresh)}
    changes = np.repeat(np.array(list(sizes), object), list(sizes.values()))
    columns = {
        "node": names, "change": changes,
        "moved": np.concatenate([moved[order], nothing]), "kept": np.concatenate([kept[order], nothing]),
    }  # fmt: skip
    distances = moved[~np.isnan(moved)].astype(np.float64)
    figures: dict[str, Any] = {
        "old_nodes": len(old),
        "new_nodes": len(new),
        **sizes,
        "vanished": vanished,
        "dim": old.dim,
    }
    figures["moved"] = None
    if len(distances):
        median, p95 = np.quantile(distances, [0.5, 0.95]).tolist()
        figures["moved"] = {"mean": float(distances.mean()), "median": median, "p95": p95}
    shares = kept[~np.isnan(kept)].astype(np.float64)
    figures |= {"kept": float(shares.mean()) if len(shares) else None, **neighbours}
    return Table(columns, figures)
