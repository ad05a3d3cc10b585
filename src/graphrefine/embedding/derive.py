"""Embeddings made of embeddings: some of the rows, several one below the other, the first axes; new nodes, alignment.

What is derived keeps of the recipe and the state what stays true: a subset loses the fold map, which goes with the
degrees of all nodes; rows from several recipes keep the settings that all share; fewer axes lose what was learned on
all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.align import align_vectors, check_alike, join_names
from graphrefine.embedding.fingerprint import GRAPH, settings_of
from graphrefine.embedding.new_nodes import fold_new_nodes
from graphrefine.embedding.state import State
from graphrefine.embedding.table import Parts, VectorTable
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.graph.lookup import SIDES, Side, list_some
from graphrefine.kernels.numerics import bits_of, compare_bits, describe_numerics, origin_of
from graphrefine.linalg import unit_rows
from graphrefine.methods.registry import METHODS, find_method
from graphrefine.system import as_plain

Rows = NDArray[np.int64]
BLOCK = 1 << 14  # rows scaled at a time

__all__ = ["align_vectors", "concatenate", "fold_new_nodes", "take_subset", "truncate"]


def take_subset(table: VectorTable, key: Any) -> Parts:
    """Some rows of a table: see `graphrefine.Embedding.subset`."""
    key_rows = table.lookup.select(key)
    rows = np.arange(len(table))[key_rows] if isinstance(key_rows, slice) else np.atleast_1d(key_rows)
    distinct, counts = np.unique(rows, return_counts=True)
    if len(distinct) < len(rows):
        twice = table.names[distinct[counts > 1]].tolist()
        raise InputError(f"names that stand twice in the subset: {list_some(twice)}; a row can be taken once")
    recipe = table.recipe
    if table.sides.kind == "rows":  # sources stay above targets
        on_target = rows >= table.sides.start
        rows = np.concatenate([rows[~on_target], rows[on_target]])
        recipe = {**recipe, "sources": int((~on_target).sum())}
    which = key_rows if isinstance(key_rows, slice) and table.sides.kind != "rows" else rows
    state = table.state.rows(which)
    if len(rows) < len(table):
        state = replace(state, fold_map=None)  # which was learned with the degrees of all nodes
    return Parts(table.names[which], table.vectors[which], recipe, state=state)


def concatenate(tables: Sequence[VectorTable]) -> Parts:
    """The rows of several tables, one below the other: see `graphrefine.Embedding.concat` and `extended`."""
    if not tables:
        raise InputError("concat() needs at least one embedding; the list is empty")
    for table in tables:
        if not isinstance(table, VectorTable):
            raise InputError(f"concat() takes a list of embeddings; a {type(table).__name__} is in it")
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
    names = join_names([table.names[rows] for table, rows in pieces])
    return Parts(names, np.concatenate([table.vectors[rows] for table, rows in pieces]), recipe, state=state)


def _check_distinct(tables: Sequence[VectorTable]) -> None:
    """Refuse a name that two tables have, on the same side where there are two."""
    for later, table in enumerate(tables):
        for earlier in range(later):
            shared = tables[earlier].lookup.shared(table.lookup)[1]
            if len(shared):
                names = list_some(table.names[shared].tolist())
                raise InputError(
                    f"names that stand in two of the embeddings, number {earlier} and {later} of the list: "
                    f"{len(shared):,}, such as {names}; take them from one alone, as in "
                    "b.subset([name for name in b if name not in a])"
                )


def _join_recipes(recipes: list[dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    """The recipe of all rows, and whether they are vectors of one kind: of one recipe, or new nodes folded into it."""
    whole = [recipe for recipe in recipes if "into" not in recipe] or recipes
    same = all(_kind(recipe) == _kind(recipes[0]) for recipe in recipes)
    if not same:
        _warn_of_recipes(recipes)
    shared = {name: value for name, value in whole[0].items() if all(each.get(name) == value for each in whole)}
    return shared, same


def _kind(recipe: dict[str, Any]) -> tuple[Any, ...]:
    """All of a recipe that decides whether vectors can be compared; of new nodes, of those they were folded into."""
    origin = origin_of(recipe)
    settings = {name: value for name, value in settings_of(origin).items() if name != "sources"}
    return settings, origin.get(GRAPH), bits_of(recipe)


def _warn_of_recipes(recipes: list[dict[str, Any]]) -> None:
    """Tell the caller of `Embedding.concat` or `extended` that vectors of different recipes stand together."""
    reasons = [reason for each in recipes[1:] if (reason := compare_bits(recipes[0], each)) is not None]
    versions = dict.fromkeys(describe_numerics(recipe).partition(":")[0] for recipe in recipes)
    reasons = list(dict.fromkeys(reasons)) or ([" and ".join(versions)] if len(versions) > 1 else [])
    differences = f" ({'; '.join(reasons)})" if reasons else ""
    text = (
        f"the embeddings have different recipes{differences}, so that vectors of one need not be comparable with "
        "another's; align_to() turns one onto the other where they share nodes"
    )
    warnings.warn(ArgumentWarning(text), stacklevel=5)


def truncate(table: VectorTable, dim: int) -> Parts:
    """The first axes of vectors, rows of length 1: see `graphrefine.Embedding.truncated`."""
    dim = as_plain(dim)
    if isinstance(dim, bool) or not isinstance(dim, int) or not 1 <= dim <= table.dim:
        raise InputError(f"dim={dim!r}: a number of axes from 1 to {table.dim} is expected", argument="dim")
    _check_axes(table, dim)
    vectors = np.empty((len(table), dim), np.float32)
    for start in range(0, len(table), BLOCK):
        vectors[start : start + BLOCK] = unit_rows(table.vectors[start : start + BLOCK, :dim])
    state = replace(table.state, fold_map=None, degree_weight=None)
    return Parts(table.names, vectors, {**table.recipe, "truncated": dim}, state=state)


def _check_axes(table: VectorTable, dim: int) -> None:
    """Refuse vectors whose first axes do not say most, or whose lengths have a meaning."""
    recipe, again = table.recipe, f"embed the graph with dim={dim} instead"
    if table.sides.kind is not None:
        kind = "directed" if table.sides.kind == "columns" else "bipartite"
        problem = f"the vectors are of a {kind} graph: their products are scores, and would change; {again}"
    elif "aligned" in recipe:
        problem = "the vectors were turned by align_to(), so that their first axes are not the ones that say most; "
        problem += "truncate both embeddings first, then align"
    elif "method" not in recipe:
        problem = "how the vectors were made is not recorded: the first axes may not be the ones that say most; "
        problem += f"if you know that they are: Embedding(e.names, e.vectors[:, :{dim}])"
    else:
        origin = recipe.get("into", recipe) if recipe["method"] == "fold-in" else recipe
        method = origin.get("method")
        if method in METHODS and find_method(method).principal and origin.get("filter") != "none":
            return
        problem = f"the axes of {method!r} are not in the order of what they say: the first are no better; {again}"
    raise InputError(f"truncated({dim}): {problem}")
