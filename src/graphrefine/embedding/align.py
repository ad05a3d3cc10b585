"""Vectors turned onto older ones: the rotation that brings the nodes that both have closest together.

Two runs give the same picture, turned by any rotation. The best one back, ``min_R |X R - Y|`` over orthogonal R, is
``U V^T`` of the SVD ``X^T Y = U S V^T`` (Schönemann, Psychometrika 1966), over the unit rows of the shared nodes.
Lengths, angles and every score stay as they are. What is left is the drift: the mean distance of unit rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.fold_in import turn_fold_map
from graphrefine.embedding.side_maps import turn_side_maps
from graphrefine.embedding.table import Parts, VectorTable, check_finite, check_table
from graphrefine.errors import InputError
from graphrefine.graph.lookup import quote_name
from graphrefine.graph.node_ids import Names, as_names
from graphrefine.kernels.numerics import warn_of_differences
from graphrefine.linalg import unit_rows
from graphrefine.system.threads import one_blas_thread

BLOCK = 1 << 14  # rows at a time
TOWARDS = 1e-13  # the identity, where the shared nodes leave the rotation open

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class Drift(NamedTuple):
    """How far apart two embeddings are, as the mean distance of the unit rows of the nodes that both have."""

    shared: int  # nodes with a vector in both; zero vectors do not count
    before: float
    after: float


def align_vectors(moved: VectorTable, fixed: VectorTable) -> Parts:
    """The same vectors, rotated onto older ones: see `graphrefine.Embedding.align_to`."""
    R, drift = align_tables(moved, fixed)
    warn_of_differences(moved.recipe, fixed.recipe, stacklevel=3)
    if drift.shared < moved.dim:
        warnings.warn(
            f"{drift.shared:,} shared nodes with vectors do not settle a rotation of {moved.dim} numbers: the nodes "
            "that are not shared may still be turned against the old ones",
            stacklevel=3,
        )
    turn = turn_fold_map if moved.sides.kind is None else turn_side_maps
    fold_map = None if moved.fold_map is None else turn(moved.fold_map, R)
    vectors = rotate(rotatable(moved), R).reshape(moved.vectors.shape)
    recipe = {**moved.recipe, "aligned": drift._asdict()}
    return Parts(moved.names, vectors, recipe, state=replace(moved.state, fold_map=fold_map))


def join_names(names: Sequence[Names]) -> Names:
    """Names one below the other; integers beside strings stay what they are."""
    if len({each.dtype for each in names}) == 1:
        return np.concatenate(names)
    listed = [name for each in names for name in each.tolist()]
    return as_names(listed, len(listed))


def align_tables(moved: VectorTable, fixed: VectorTable) -> tuple[NDArray[np.float64], Drift]:
    """The rotation of one table of vectors onto another by the nodes that both have, and the drift that remains."""
    check_table(fixed, "old")
    check_alike(moved, fixed)
    for table, place in _places(moved, fixed):
        try:
            check_finite(table.vectors, table.names)
            table.lookup.check_distinct()
        except InputError as error:
            raise InputError(f"{place}: {error}") from error
    shared = moved.lookup.shared(fixed.lookup)
    if not len(shared[0]):
        raise InputError(f"no node is in both embeddings, so there is nothing to align by; {_tell_names(moved, fixed)}")
    if moved.sides.kind == "columns":  # one rotation for source and target, so that their products stay
        here, there = (np.concatenate([2 * rows, 2 * rows + 1]) for rows in shared)
        shared = (here, there)
    ours, theirs = rotatable(moved), rotatable(fixed)
    R = rotation(ours, theirs, shared)
    return R, drift(ours, theirs, shared, R)


def _places(moved: VectorTable, fixed: VectorTable) -> list[tuple[VectorTable, str]]:
    """Each table with its file, or with its part in this, for a message."""
    words = (moved, "the new embedding"), (fixed, "the old embedding")
    return [(table, text if table.path is None else str(table.path)) for table, text in words]


def _tell_names(moved: VectorTable, fixed: VectorTable) -> str:
    """How the names of two tables without a common one differ, as far as can be told."""
    firsts = [
        f"{quote_name(table.names[0]) if len(table.names) else 'no node'} in {place}"
        for table, place in _places(moved, fixed)
    ]
    text = f"the names begin with {' and with '.join(firsts)}"
    mine, theirs = ({normalize("NFC", str(name)) for name in table.names.tolist()} for table in (moved, fixed))
    if not mine & theirs:
        return text
    kinds = [{type(name) for name in table.names.tolist()} for table in (moved, fixed)]
    if kinds[0] == kinds[1] == {str}:
        example = quote_name(min(mine & theirs))
        return f"{text}; some look the same, such as {example}, and have other characters (Unicode NFC and NFD)"
    return f"{text}; some look the same, but numbers and texts are different names"


def rotatable(table: VectorTable) -> Floats:
    """The vectors as rows to be rotated alike: of directed graphs, the source and then the target of a node."""
    return table.vectors.reshape(-1, table.dim // 2) if table.sides.kind == "columns" else table.vectors


def check_alike(one: VectorTable, other: VectorTable) -> None:
    """Raise InputError unless the vectors of two tables can stand side by side."""
    if other.sides.kind != one.sides.kind:
        raise InputError(
            "one embedding has source and target vectors, and the other has none, or has them in another way; make "
            "both from the same kind of graph"
        )
    if other.dim != one.dim:
        raise InputError(f"vectors of {one.dim} and of {other.dim} numbers do not go together; choose one dim for both")


def rotation(moved: Floats, fixed: Floats, shared: tuple[Rows, Rows]) -> NDArray[np.float64]:
    """The orthogonal R (k, k) that brings shared rows of ``moved`` closest to those of ``fixed``.

    Fewer shared nodes than columns leave R open in some directions: there it is as near to no rotation as it can be.

    Examples
    --------
    A quarter turn is found and undone:

    >>> both = np.array([0, 1]), np.array([0, 1])
    >>> rotation(np.array([[0, 1], [-1, 0]], np.float32), np.eye(2, dtype=np.float32), both).round(6).tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """
    k = moved.shape[1]
    cross = np.zeros((k, k))
    with one_blas_thread():
        for mine, theirs in _blocks(moved, fixed, shared):
            cross += mine.T.astype(np.float64) @ theirs
        U, _, V = np.linalg.svd(cross + TOWARDS * max(float(np.linalg.norm(cross)), 1.0) * np.eye(k))
    turned: NDArray[np.float64] = U @ V
    return turned


def rotate(vectors: Floats, R: NDArray[np.float64]) -> Floats:
    """``vectors @ R``, as a new array."""
    out = np.empty((len(vectors), R.shape[1]), np.float32)
    with one_blas_thread():
        for lo in range(0, len(vectors), BLOCK):
            np.matmul(vectors[lo : lo + BLOCK], R, out=out[lo : lo + BLOCK], casting="same_kind")
    return out


def drift(moved: Floats, fixed: Floats, shared: tuple[Rows, Rows], R: NDArray[np.float64]) -> Drift:
    """The mean distance of the unit rows of shared nodes, as they are and after the rotation.

    Examples
    --------
    >>> quarter = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> one = np.array([[1, 0]], np.float32)
    >>> drift(one, one, (np.array([0]), np.array([0])), quarter)
    Drift(shared=1, before=0.0, after=1.4142135623730951)
    """
    count, before, after = 0, 0.0, 0.0
    with one_blas_thread():
        for mine, theirs in _blocks(moved, fixed, shared):
            count += len(mine)
            before += float(np.linalg.norm(mine.astype(np.float64) - theirs, axis=1).sum())
            after += float(np.linalg.norm(mine @ R - theirs, axis=1).sum())
    return Drift(count, before / max(count, 1), after / max(count, 1))


def _blocks(moved: Floats, fixed: Floats, shared: tuple[Rows, Rows]) -> Iterator[tuple[Floats, Floats]]:
    """Unit rows of the shared nodes that are zero in neither, some at a time."""
    for lo in range(0, len(shared[0]), BLOCK):
        mine, theirs = moved[shared[0][lo : lo + BLOCK]], fixed[shared[1][lo : lo + BLOCK]]
        there = mine.any(axis=1) & theirs.any(axis=1)
        yield unit_rows(mine[there]), unit_rows(theirs[there])
