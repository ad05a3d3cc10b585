"""Embeddings made of embeddings: subsets, concatenation, fewer axes; recipe and state stay true, or it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import graphrefine
from graphrefine import Embedding
from graphrefine.datasets import block_model
from graphrefine.embedding.state import EmbeddingData
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.evaluate import evaluate_labels, read_labels
from graphrefine.graph.graph import Graph
from graphs import data_folder

VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3)
PEOPLE = Embedding(["ann", "bob", "cy", "dan"], VECTORS, {"seed": 7}, degrees=[1, 2, 3, 4], degree_weight=0.3)
SIDES = Embedding(["a", "b", "a", "c"], VECTORS, {"sides": "rows", "sources": 2})


@pytest.fixture(scope="module")
def town() -> tuple[Graph, Embedding]:
    graph = block_model(400, 3000, classes=5, mixing=0.2).graph
    return graph, graphrefine.embed(graph, dim=32, learn=True)


def test_subsets_keep_recipe_state_and_sides(town: tuple[Graph, Embedding]) -> None:
    _, whole = town
    names = whole.names[[5, 300, 17]].tolist()
    some = whole.subset(names)
    assert some.names.tolist() == names and np.array_equal(some.vectors, whole[names]) and some.recipe == whole.recipe
    assert some.fold_map is None and some.degree_weight == whole.degree_weight
    assert whole.subset(list(whole)[::-1]).fold_map is whole.fold_map
    assert some.degrees.tolist() == whole.degrees[[5, 300, 17]].tolist()  # type: ignore[index,union-attr]
    assert some.score(names[0], names[1]) == whole.score(names[0], names[1])
    assert PEOPLE.subset(slice(1, 3)) == PEOPLE.subset(["bob", "cy"]) == PEOPLE.subset(np.array([1, 2]))
    assert PEOPLE.subset([False, True, True, False]) == PEOPLE.subset(slice(1, 3))
    assert np.shares_memory(PEOPLE.subset(slice(1, 3)).vectors, PEOPLE.vectors)
    assert PEOPLE.subset("bob").names.tolist() == ["bob"] and len(PEOPLE.subset([])) == 0
    assert PEOPLE.subset(slice(None)) == PEOPLE
    with pytest.raises(KeyError, match="no node is called 'x'"):
        PEOPLE.subset(["ann", "x"])
    with pytest.raises(InputError, match="subset: 'ann'"):
        PEOPLE.subset(["ann", "bob", "ann"])
    some = SIDES.subset(["c", "b"])
    assert some.names.tolist() == ["b", "c"] and some.recipe["sources"] == 1 and some.sides.start == 1
    assert some.score("b", "c") == SIDES.score("b", "c")
    assert SIDES.subset(slice(0, 2)).target.shape == (0, 3)
    columns = Embedding(["a", "b"], [[1, 2, 3, 4], [5, 6, 7, 8]], {"sides": "columns"})
    assert columns.subset(["b"]).target.tolist() == [[7, 8]]


def test_concatenated_parts_are_the_whole(town: tuple[Graph, Embedding]) -> None:
    whole = graphrefine.embed(town[0], dim=16)
    parts = [whole.subset(slice(0, 100)), whole.subset(slice(100, 101)), whole.subset(slice(101, None))]
    assert Embedding.concat(parts) == whole == Embedding.concat(iter(parts)) and Embedding.concat([whole]) == whole
    other = Embedding(["x", "c", "y"], VECTORS[:3] + 100, {"sides": "rows", "sources": 2})
    both = Embedding.concat([SIDES, other.subset(["x", "y"])])
    assert both.source_names.tolist() == ["a", "b", "x"] and both.target_names.tolist() == ["a", "c", "y"]
    assert both.source[2].tolist() == other.vectors[0].tolist() and both.target[2].tolist() == other.vectors[2].tolist()
    assert len(Embedding.concat([SIDES, other])) == 7, "'c' is a target there and a source here"
    with pytest.raises(InputError, match="0 and 1 of the list: 1, such as 'c'"):
        Embedding.concat([SIDES, Embedding(["c"], [[1, 2, 3]], {"sides": "rows", "sources": 0})])


def test_other_recipes_are_told_and_only_what_they_share_is_kept() -> None:
    other = Embedding(["eve"], [[1, 2, 3]], {"seed": 7, "method": "line"}, degrees=[5], degree_weight=0.1)
    with pytest.warns(ArgumentWarning, match="different recipes.*need not be comparable") as caught:
        both = Embedding.concat([PEOPLE, other])
    assert caught[0].filename == __file__
    assert both.recipe == {"seed": 7} and both.state.degree_weight is None
    assert both.degrees.tolist() == [1, 2, 3, 4, 5]  # type: ignore[union-attr]
    with pytest.warns(ArgumentWarning):
        assert Embedding.concat([PEOPLE, Embedding([5], [[1, 2, 3]])]).degrees is None


def with_recipe(embedding: Embedding, **changes: Any) -> Embedding:
    """An embedding whose recipe has changes; ... takes an entry away."""
    recipe = {name: value for name, value in {**embedding.recipe, **changes}.items() if value is not ...}
    return Embedding.from_data(EmbeddingData(embedding.names, embedding.vectors, recipe, state=embedding.state))


def remade(embedding: Embedding, names: list[str], **changes: Any) -> Embedding:
    """The first rows of an embedding under other names, by a recipe with changes."""
    recipe, state = with_recipe(embedding, **changes).recipe, embedding.state.rows(slice(0, len(names)))
    return Embedding(names, embedding.vectors[: len(names)], recipe, degrees=state.degrees)


@pytest.mark.parametrize("join", [lambda one, two: one.extended(two), lambda one, two: Embedding.concat([one, two])])
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kernel": "scipy"}, r"different recipes \(kernel 'native' and 'scipy'\)"),
        ({"numerics_version": 2}, r"different recipes \(numerics version 1 and 2\)"),
        ({"seed": 77}, "different recipes, so"),
        ({"graph": "0" * 32}, "different recipes, so"),
        ({"numerics_version": ...}, r"different recipes \(numerics version 1 and no numerics version\)"),
    ],
)
def test_vectors_of_another_computation_are_joined_with_a_warning(
    town: tuple[Graph, Embedding], join: Callable[..., Embedding], changes: dict[str, Any], reason: str
) -> None:
    whole = with_recipe(town[1], kernel="native")
    assert whole.fold_map is not None
    with pytest.warns(ArgumentWarning, match=reason) as caught:
        both = join(whole, remade(whole, ["x", "y"], **changes))
    assert len(caught) == 1 and caught[0].filename == __file__
    assert not set(changes) & set(both.recipe) and both.recipe["dim"] == whole.recipe["dim"]
    assert both.fold_map is None and len(both) == len(whole) + 2
    folded = with_recipe(whole, **changes).fold_in([("new", whole.names[0])])
    with pytest.warns(ArgumentWarning, match=reason):
        join(whole, folded)


def test_what_changes_no_bit_and_new_nodes_are_joined_without_a_word(town: tuple[Graph, Embedding]) -> None:
    """Recipes that differ in what compiled kernels do not depend on; with the twins the libraries decide."""
    whole, twins = (with_recipe(town[1], kernel=kernel) for kernel in ("native", "scipy"))
    other = {"version": "9", "reading": "x", "made_on": {**whole.recipe["made_on"], "numpy": "9.9"}}
    both = whole.extended(remade(whole, ["x"], **other))
    assert both.fold_map is not None and both.recipe["seed"] == whole.recipe["seed"]
    assert not set(other) & set(both.recipe), "what is not true of all rows is not said"
    with pytest.warns(ArgumentWarning, match=r"different recipes \(numpy .* and 9\.9\)"):
        twins.extended(remade(twins, ["x"], **other))
    _, whole = town
    first, second = (whole.fold_in([(day, whole.names[0])]) for day in ("monday", "tuesday"))
    every = whole.extended(first).extended(second)
    assert every.recipe == whole.recipe == Embedding.concat([first, whole, second]).recipe
    assert first.extended(second).recipe == first.recipe and every.fold_map is not None


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        ([], "at least one embedding"),
        ([PEOPLE, PEOPLE], "0 and 1 of the list: 4, such as 'ann'"),
        ([PEOPLE, Embedding(["x"], [[1]]), PEOPLE], "vectors of 3 and of 1 numbers"),
        ([PEOPLE, SIDES], "one embedding has source and target vectors"),
        ([PEOPLE, VECTORS], "not ndarray"),
    ],
)
def test_what_cannot_be_concatenated(tables: list[Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Embedding.concat(tables)


def kept_neighbors(one: Embedding, other: Embedding) -> float:
    lists = (table.neighbors(list(one), 10) for table in (one, other))
    shares = [len({near.node for near in a} & {near.node for near in b}) / 10 for a, b in zip(*lists, strict=True)]
    return float(np.mean(shares))


def test_the_first_axes_say_most(town: tuple[Graph, Embedding]) -> None:
    _, whole = town
    short = whole.truncated(8)
    assert short.shape == (400, 8) and short.recipe == {**whole.recipe, "truncated": 8}
    expected = whole.vectors[:, :8] / np.linalg.norm(whole.vectors[:, :8], axis=1, keepdims=True)
    np.testing.assert_allclose(short.vectors, expected, rtol=1e-6)
    assert short.fold_map is None and short.state.degree_weight is None and short.degrees is whole.degrees
    last = Embedding(whole.names, whole.vectors[:, -8:])  # the control
    assert kept_neighbors(whole, short) > kept_neighbors(whole, last) + 0.1


@pytest.mark.parametrize("method", ["prone", "refine"])
def test_methods_with_principal_axes(method: str, town: tuple[Graph, Embedding]) -> None:
    vectors = graphrefine.embed(town[0], dim=16, method=method)
    sizes = np.square(vectors.vectors).sum(axis=0)
    assert sizes[:8].sum() > sizes[8:].sum(), "the first half holds most"
    assert vectors.truncated(4).dim == 4


def test_where_fewer_axes_would_be_wrong(town: tuple[Graph, Embedding]) -> None:
    graph, whole = town
    edges = [(i, (i * 7 + 1) % 40) for i in range(40)]
    for embedding, fact in (
        (Embedding(None, np.eye(5)), "is not recorded"),
        *((graphrefine.embed(graph, dim=8, method=method), f"'{method}'") for method in ("deepwalk", "rbqr")),
        (graphrefine.embed(graph, dim=8, filter="none"), "axes of 'refine'"),
        (graphrefine.embed(edges, dim=8, directed=True), "source and target"),
        (graphrefine.embed(edges, dim=8, bipartite=True), "source and target"),
        (whole.align_to(whole), "truncate both first"),
    ):
        with pytest.raises(InputError, match=fact):
            embedding.truncated(4)
    for dim in (0, 33, True, 2.5, "4"):
        with pytest.raises(InputError, match="a number of axes from 1 to 32 is expected"):
            whole.truncated(dim)  # type: ignore[arg-type]
    assert whole.fold_in([("new", whole.names[0])]).truncated(4).dim == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ppi", "wikipedia-pos", "lastfm-asia"])
def test_the_first_axes_are_as_good_as_a_run_with_as_many(name: str) -> None:
    path = data_folder() / f"{name}.mat"
    graph, labels = graphrefine.read(path), read_labels(path)

    def micro(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        scores = evaluate_labels(vectors, labels, ratios=(0.1, 0.5), repeats=10)
        return np.array([ratio.micro_mean for ratio in scores.ratios])

    differences = []
    for seed in range(3):
        whole, short = (graphrefine.embed(graph, dim, seed=seed, threads=2) for dim in (128, 64))
        target = micro(short.vectors)
        differences.append(micro(whole.truncated(64).vectors) - target)
        last = micro(whole.vectors[:, 64:])  # the control
        assert (last < target - 3).all()
    assert (np.mean(differences, axis=0) > -0.7).all()  # as the page promises
