"""Embeddings derived from embeddings: some rows, several one below the other, the first axes, a rotation.

What is derived keeps of the recipe and the state what stays true: a subset loses the fold map, which goes with the
degrees of all nodes; rows from several recipes keep the settings that all share; fewer axes lose what was learned on
all of them.

Alignment: two runs give the same picture, turned by any rotation. The best one back, ``min_R |X R - Y|`` over
orthogonal R, is ``U V^T`` of the SVD ``X^T Y = U S V^T`` (Schönemann, Psychometrika 1966), over the unit rows of the
shared nodes. Lengths, angles and every score stay as they are. What is left is the drift: the mean distance of unit
rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.fingerprint import GRAPH, settings_of
from graphrefine.embedding.fold_in import turn_fold_map
from graphrefine.embedding.side_maps import turn_side_maps
from graphrefine.embedding.state import EmbeddingData, State, StatefulVectors
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.graph.lookup import SIDES, Side, list_some
from graphrefine.graph.node_ids import as_names
from graphrefine.kernels.numerics import bits_of, compare_bits, describe_numerics, origin_of, warn_of_differences
from graphrefine.linalg import unit_rows
from graphrefine.methods.registry import METHODS, find_method
from graphrefine.search.vectors import check_finite
from graphrefine.system import as_plain
from graphrefine.system.threads import one_blas_thread

BLOCK = 1 << 14  # rows scaled or rotated at a time
# Added to the cross product, in proportion to it, so that R is as near to no rotation as it can be in the directions
# that fewer shared nodes than columns leave open. Far below the rounding of float32, far above that of the SVD.
TOWARDS = 1e-13

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


def take_subset(table: StatefulVectors, key: Any) -> EmbeddingData:
    """Return some rows of a table: see `graphrefine.Embedding.subset`."""
    key_rows = table.lookup.select(key)
    rows = np.arange(len(table))[key_rows] if isinstance(key_rows, slice) else np.atleast_1d(key_rows)
    distinct, counts = np.unique(rows, return_counts=True)
    if len(distinct) < len(rows):
        twice = table.names[distinct[counts > 1]].tolist()
        raise InputError(f"duplicate names in the subset: {list_some(twice)}; name each node once")
    recipe = table.recipe
    if table.sides.kind == "rows":  # sources stay above targets
        on_target = rows >= table.sides.start
        rows = np.concatenate([rows[~on_target], rows[on_target]])
        recipe = {**recipe, "sources": int((~on_target).sum())}
    which = key_rows if isinstance(key_rows, slice) and table.sides.kind != "rows" else rows
    state = table.state.rows(which)
    if len(rows) < len(table):
        state = replace(state, fold_map=None)  # which was learned with the degrees of all nodes
    return EmbeddingData(table.names[which], table.vectors[which], recipe, state=state)


def concatenate(tables: Sequence[StatefulVectors]) -> EmbeddingData:
    """Return the rows of several tables, one below the other: see `graphrefine.Embedding.concat` and `extended`."""
    if not tables:
        raise InputError("concat() needs at least one embedding; the list is empty")
    for table in tables:
        check_alike(tables[0], table)
    _check_distinct(tables)
    sides: tuple[Side | None, ...] = SIDES if tables[0].sides.kind == "rows" else (None,)
    pieces = [(table, slice(None) if side is None else table.sides.rows(len(table), side))
              for side in sides for table in tables]  # fmt: skip
    state = State()
    for number, (table, rows) in enumerate(pieces):
        state = state.extended(table.state.rows(rows)) if number else table.state.rows(rows)
    recipe, same = _join_recipes([table.recipe for table in tables])
    if tables[0].sides.kind == "rows":
        recipe["sources"] = sum(table.sides.start for table in tables)
    if not same:
        state = replace(state, fold_map=None, degree_weight=None)
    parts = [table.names[rows] for table, rows in pieces]
    if len({part.dtype for part in parts}) == 1:
        names = np.concatenate(parts)
    else:  # integers and strings together stay what they are
        listed = [name for part in parts for name in part.tolist()]
        names = as_names(listed, len(listed))
    return EmbeddingData(names, np.concatenate([table.vectors[rows] for table, rows in pieces]), recipe, state=state)


def _check_distinct(tables: Sequence[StatefulVectors]) -> None:
    """Refuse a name that two tables have, on the same side where there are two."""
    for later, table in enumerate(tables):
        for earlier in range(later):
            shared = tables[earlier].lookup.shared(table.lookup)[1]
            if len(shared):
                names = list_some(table.names[shared].tolist())
                raise InputError(
                    f"duplicate names in the embeddings {earlier} and {later} of the list: "
                    f"{len(shared):,}, such as {names}; take them from one alone, as in "
                    "b.subset([name for name in b if name not in a])"
                )


def _join_recipes(recipes: list[dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    """Return the recipe of all rows, and whether they are of one recipe, or new nodes folded into it; else warn."""
    whole = [recipe for recipe in recipes if "into" not in recipe] or recipes
    same = all(_kind(recipe) == _kind(recipes[0]) for recipe in recipes)
    if not same:
        reasons = [reason for each in recipes[1:] if (reason := compare_bits(recipes[0], each)) is not None]
        versions = dict.fromkeys(describe_numerics(recipe).partition(":")[0] for recipe in recipes)
        reasons = list(dict.fromkeys(reasons)) or ([" and ".join(versions)] if len(versions) > 1 else [])
        why = f" ({'; '.join(reasons)})" if reasons else ""
        text = f"the embeddings have different recipes{why}, so that their vectors need not be comparable; align_to()"
        warnings.warn(ArgumentWarning(f"{text} turns one onto the other where they share nodes"), stacklevel=4)
    shared = {name: value for name, value in whole[0].items() if all(each.get(name) == value for each in whole)}
    return shared, same


def _kind(recipe: dict[str, Any]) -> tuple[Any, ...]:
    """Return what decides whether vectors can be compared; of new nodes, of those they were folded into."""
    origin = origin_of(recipe)
    settings = {name: value for name, value in settings_of(origin).items() if name != "sources"}
    return settings, origin.get(GRAPH), bits_of(recipe)


def truncate(table: StatefulVectors, dim: int) -> EmbeddingData:
    """Return the first axes of vectors, rows of length 1: see `graphrefine.Embedding.truncated`."""
    dim = as_plain(dim)
    if isinstance(dim, bool) or not isinstance(dim, int) or not 1 <= dim <= table.dim:
        raise InputError(f"dim={dim!r}: a number of axes from 1 to {table.dim} is expected", argument="dim")
    _check_axes(table, dim)
    vectors = unit_rows(table.vectors[:, :dim])
    state = replace(table.state, fold_map=None, degree_weight=None)
    return EmbeddingData(table.names, vectors, {**table.recipe, "truncated": dim}, state=state)


def _check_axes(table: StatefulVectors, dim: int) -> None:
    """Refuse vectors whose first axes do not say most, or whose lengths have a meaning."""
    recipe, again = table.recipe, f"embed the graph with dim={dim} instead"
    if table.sides.kind is not None:
        problem = f"products of source and target are scores, and would change; {again}"
    elif "aligned" in recipe:
        problem = "align_to() has rotated the axes, so that the first do not say most; truncate both first, then align"
    elif "method" not in recipe:
        problem = f"how the vectors were made is not recorded; Embedding(e.names, e.vectors[:, :{dim}]) truncates any"
    else:
        origin = recipe.get("into", recipe) if recipe["method"] == "fold-in" else recipe
        method = origin.get("method")
        if method in METHODS and find_method(method).principal and origin.get("filter") != "none":
            return
        problem = f"the axes of {method!r} are not ordered, so that the first are no better; {again}"
    raise InputError(f"truncated({dim}): {problem}")


class Drift(NamedTuple):
    """How far apart two embeddings are, as the mean distance of the unit rows of the nodes that both have."""

    shared: int  # nodes with a vector in both; zero vectors do not count
    before: float
    after: float


def align_vectors(moved: StatefulVectors, fixed: StatefulVectors) -> EmbeddingData:
    """Return the same vectors, rotated onto older ones: see `graphrefine.Embedding.align_to`."""
    R, drift = align_tables(moved, fixed)
    warn_of_differences(moved.recipe, fixed.recipe, stacklevel=3)
    if drift.shared < moved.dim:
        text = f"{drift.shared:,} shared nodes with vectors do not settle a rotation of {moved.dim} numbers"
        warnings.warn(f"{text}: the other nodes may still be turned against the old ones", stacklevel=3)
    turn = turn_fold_map if moved.sides.kind is None else turn_side_maps
    fold_map = None if moved.fold_map is None else turn(moved.fold_map, R)
    vectors = rotate(rotatable(moved), R).reshape(moved.vectors.shape)
    recipe = {**moved.recipe, "aligned": drift._asdict()}
    return EmbeddingData(moved.names, vectors, recipe, state=replace(moved.state, fold_map=fold_map))


def align_tables(moved: StatefulVectors, fixed: StatefulVectors) -> tuple[NDArray[np.float64], Drift]:
    """Return the rotation of vectors onto others by the nodes that both have, and the drift that remains."""
    check_alike(moved, fixed)
    labels = [label if table.path is None else str(table.path)
              for table, label in ((moved, "the new embedding"), (fixed, "the old embedding"))]  # fmt: skip
    for table, label in zip((moved, fixed), labels, strict=True):
        try:
            check_finite(table.vectors, table.names)
            table.lookup.check_distinct()
        except InputError as error:
            raise InputError(f"{label}: {error}") from error
    shared = moved.lookup.shared(fixed.lookup)
    if not len(shared[0]):
        some, others = (list_some(table.names.tolist()) or "nothing" for table in (moved, fixed))
        raise InputError(
            "no node is in both embeddings, so there is nothing to align by; numbers and texts are different names, as "
            f"are texts of other characters: {labels[0]} has {some}, {labels[1]} has {others}"
        )
    if moved.sides.kind == "columns":  # one rotation for source and target, so that their products stay
        here, there = (np.concatenate([2 * rows, 2 * rows + 1]) for rows in shared)
        shared = (here, there)
    ours, theirs = rotatable(moved), rotatable(fixed)
    R = rotation(ours, theirs, shared)
    return R, drift(ours, theirs, shared, R)


def rotatable(table: StatefulVectors) -> Floats:
    """Return the vectors as rows to be rotated alike: of directed graphs, the source and then the target of a node."""
    return table.vectors.reshape(-1, table.dim // 2) if table.sides.kind == "columns" else table.vectors


def check_alike(one: StatefulVectors, other: StatefulVectors) -> None:
    """Raise InputError unless vectors of two tables can be compared, and appended to each other."""
    if other.sides.kind != one.sides.kind:
        raise InputError(
            "one embedding has source and target vectors, and the other has none, or has them in another way; make "
            "both from the same kind of graph"
        )
    if other.dim != one.dim:
        raise InputError(f"vectors of {one.dim} and of {other.dim} numbers do not go together; choose one dim for both")


def rotation(moved: Floats, fixed: Floats, shared: tuple[Rows, Rows]) -> NDArray[np.float64]:
    """Return the orthogonal R (k, k) that brings shared rows of ``moved`` closest to those of ``fixed``."""
    k = moved.shape[1]
    cross = np.zeros((k, k))
    with one_blas_thread():
        for mine, theirs in _blocks(moved, fixed, shared):
            cross += mine.T.astype(np.float64) @ theirs
        U, _, V = np.linalg.svd(cross + TOWARDS * max(float(np.linalg.norm(cross)), 1.0) * np.eye(k))
    turned: NDArray[np.float64] = U @ V
    return turned


def rotate(vectors: Floats, R: NDArray[np.float64]) -> Floats:
    """Return ``vectors @ R`` as a new array."""
    out = np.empty((len(vectors), R.shape[1]), np.float32)
    with one_blas_thread():
        for lo in range(0, len(vectors), BLOCK):
            np.matmul(vectors[lo : lo + BLOCK], R, out=out[lo : lo + BLOCK], casting="same_kind")
    return out


def drift(moved: Floats, fixed: Floats, shared: tuple[Rows, Rows], R: NDArray[np.float64]) -> Drift:
    """Return the mean distance of the unit rows of shared nodes, as they are and after the rotation."""
    count, before, after = 0, 0.0, 0.0
    with one_blas_thread():
        for mine, theirs in _blocks(moved, fixed, shared):
            count += len(mine)
            before += float(np.linalg.norm(mine.astype(np.float64) - theirs, axis=1).sum())
            after += float(np.linalg.norm(mine @ R - theirs, axis=1).sum())
    return Drift(count, before / max(count, 1), after / max(count, 1))


def _blocks(moved: Floats, fixed: Floats, shared: tuple[Rows, Rows]) -> Iterator[tuple[Floats, Floats]]:
    """Yield unit rows of the shared nodes that are zero in neither, some at a time."""
    for lo in range(0, len(shared[0]), BLOCK):
        mine, theirs = moved[shared[0][lo : lo + BLOCK]], fixed[shared[1][lo : lo + BLOCK]]
        there = mine.any(axis=1) & theirs.any(axis=1)
        yield unit_rows(mine[there]), unit_rows(theirs[there])
