"""Layouts: neighbors stay neighbors, kernels agree with an oracle in NumPy, bits do not depend on threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial import cKDTree

import graphrefine
from graphrefine import Embedding
from graphrefine.display.maps import clusters, nearest, obtain_layout
from graphrefine.display.maps.layout import rescale
from graphrefine.display.maps.principal import project
from graphrefine.errors import InputError
from graphrefine.kernels import native, plane
from graphrefine.linalg import unit_rows
from graphrefine.progress import Stages
from graphs import data_folder
from oracles import layout as oracle

Floats = NDArray[np.float32]


def groups(count: int, size: int, *, dim: int = 16, noise: float = 0.2, seed: int = 0) -> tuple[Floats, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(count, dim))
    label = np.repeat(np.arange(count), size)
    return (centers[label] + noise * rng.normal(size=(count * size, dim))).astype(np.float32), label


def layout(vectors: Any, method: str = "auto", **options: Any) -> Floats:
    return obtain_layout(Embedding(None, vectors), method, **options).coordinates


def told_apart(places: Floats, label: NDArray[Any]) -> float:
    """The part of points whose nearest point on the map is of their own group."""
    closest: Any = cKDTree(places)
    return float((label[closest.query(places, k=2)[1][:, 1]] == label).mean())


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 70), st.integers(1, 12))
def test_the_best_are_kept_as_by_the_oracle(seed: int, queries: int, candidates: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 9, (queries, candidates)).astype(np.float32)  # many of them equal
    asked = rng.permutation(100)[:queries].astype(np.int32)
    offered = rng.permutation(100)[:candidates].astype(np.int32)
    found = []
    for keep_best in (native.keep_best, oracle.keep_best):
        best, rows = np.full((100, k), -np.inf, np.float32), np.full((100, k), -1, np.int32)
        keep_best(scores, asked, offered, best, rows)
        keep_best(scores[:, ::-1].copy(), asked, offered + np.int32(100), best, rows)
        found.append((best, rows))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5000), st.sampled_from([2, 3, 16, 64]), st.integers(1, 4))
def test_grid_forces_and_steps_agree_with_the_oracle(seed: int, n: int, side: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(0, 3, (n, 2)).astype(np.float32)
    frame = plane.Frame(-4.0, -3.0, 0.5, side)  # some lie outside
    where: dict[str, Any] = {"left": -4.0, "bottom": -3.0, "inverse": 2.0}
    grid = plane.spread(points, frame, threads=threads)
    theirs = np.empty_like(grid)
    oracle.spread(points, **where, out=theirs, threads=1)
    np.testing.assert_array_equal(grid, theirs)
    assert grid.sum() == n * plane.WHOLE
    ends = np.concatenate([[0], np.cumsum(rng.integers(0, 5, n))])
    near = plane.Neighborhood(
        ends, rng.integers(0, n, ends[-1]).astype(np.int32), rng.random(ends[-1]).astype(np.float32)
    )
    field = rng.normal(size=(side, side, 2)).astype(np.float32)
    pushed = plane.forces(near, points, field, frame, attraction=3.0, threads=threads)
    expected = np.empty_like(points)
    oracle.forces(*near, points, field, **where, attraction=3.0, out=expected, threads=1)
    np.testing.assert_allclose(pushed, expected, rtol=1e-5, atol=1e-5)
    ours, other = (plane.Motion(points.copy(), pushed[::-1].copy(), np.ones_like(points)) for _ in range(2))
    plane.move(ours, pushed, momentum=0.8, rate=0.7, farthest=2.0, threads=threads)
    oracle.move(pushed, other.velocity, other.gains, other.points, momentum=0.8, rate=0.7, farthest=2.0, threads=1)
    for mine, its in zip(ours, other, strict=True):
        np.testing.assert_array_equal(mine, its)


def test_kernels_refuse_what_would_reach_beyond_arrays() -> None:
    points, field = np.zeros((2, 2), np.float32), np.zeros((2, 2, 2), np.float32)
    wrong = plane.Neighborhood(np.array([0, 1, 1]), np.array([2], np.int32), np.ones(1, np.float32))
    with pytest.raises(ValueError, match="must be points"):
        plane.forces(wrong, points, field, plane.Frame(0.0, 0.0, 1.0, 2), attraction=1.0)
    best, rows = np.zeros((1, 1), np.float32), np.zeros((1, 1), np.int32)
    with pytest.raises(ValueError, match="rows of `best`"):
        plane.keep_best(points[:1], np.array([1], np.int32), np.array([0, 1], np.int32), best=best, rows=rows)


def test_the_field_is_the_sum_over_all_pairs_the_better_the_finer_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(0).normal(0, 6, (400, 2)).astype(np.float32)
    apart = points[:, None].astype(np.float64) - points[None]
    near = 1 / (1 + (apart**2).sum(axis=2))
    exact = 400 / (near.sum() - 400) * (near[:, :, None] ** 2 * apart).sum(axis=1)
    none = plane.Neighborhood(np.zeros(401, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    errors = []
    for spacing in (clusters.SPACING, clusters.SPACING / 2, clusters.SPACING / 4):
        monkeypatch.setattr(clusters, "SPACING", spacing)
        pushed = plane.forces(none, points, *clusters.Repulsion().field(points), attraction=1.0)
        errors.append(np.linalg.norm(pushed - exact) / np.linalg.norm(exact))
        assert np.abs(pushed.sum(axis=0)).max() < 1e-3 * np.abs(pushed).sum()  # what pushes is pushed back
    assert errors[0] < 0.15 and errors[1] < errors[0] / 3 and errors[2] < 0.01


def test_neighbors_by_cells_are_nearly_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, _ = groups(40, 100, noise=0.5)
    cosines = unit_rows(vectors) @ unit_rows(vectors).T
    np.fill_diagonal(cosines, -2)
    best = -np.sort(-cosines, axis=1)[:, :10]
    for exact, least in ((10**6, 1.0), (1000, 0.9)):
        monkeypatch.setattr(nearest, "EXACT", exact)
        near = nearest.find_nearest(vectors, np.arange(4000), count=10, stages=Stages())
        assert (near.cells is None) == (exact > 4000)
        assert (near.cosines >= best[:, -1:] - 1e-5).mean() >= least
        np.testing.assert_allclose(np.take_along_axis(cosines, near.rows, axis=1), near.cosines, atol=1e-5)
        assert all(len(set(row)) == 10 for row in near.rows.tolist())


def test_thousands_of_equal_rows_are_cut_and_have_different_neighbors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT", 500)
    vectors, _ = groups(10, 100)
    vectors = np.concatenate([np.repeat(vectors[:1], 3000, axis=0), vectors])
    near = nearest.find_nearest(vectors, np.arange(4000), count=10, stages=Stages())
    assert (near.rows >= 0).all()
    np.testing.assert_allclose(near.cosines[:3000], 1, atol=1e-5)
    assert np.bincount(near.rows[:3000].ravel()).max() < 300  # not the same few for all


@pytest.mark.parametrize("exact", [True, False])
def test_groups_are_told_apart(exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT", 10**6 if exact else 100)
    vectors, label = groups(10, 30, noise=0.4)
    assert told_apart(layout(vectors), label) > 0.95
    noise = np.random.default_rng(0).normal(size=vectors.shape).astype(np.float32)
    assert told_apart(layout(noise), label) < 0.4  # a map of noise must not show them


def test_clusters_keep_more_neighbors_than_the_principal_plane() -> None:
    vectors, _ = groups(12, 40, noise=0.6)
    assert share_kept(vectors, layout(vectors, "clusters")) > 0.5 > 2 * share_kept(vectors, layout(vectors, "pca"))


def share_kept(vectors: Floats, places: Floats) -> float:
    """The mean share of the ten nearest vectors that are among the ten nearest points of the map."""
    near = nearest.find_nearest(vectors, np.arange(len(vectors)), count=10, stages=Stages())
    tree: Any = cKDTree(places)
    shown = tree.query(places, k=11)[1]
    return float(np.mean([len({*a} & {*b}) / 10 for a, b in zip(near.rows.tolist(), shown.tolist(), strict=True)]))


@pytest.mark.parametrize("method", ["clusters", "pca"])
@pytest.mark.parametrize("exact", [True, False])
def test_bits_depend_on_the_seed_and_not_on_threads(method: str, exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT", 10**6 if exact else 300)
    monkeypatch.setattr(clusters, "SINGLE_THREAD", 0)
    vectors, _ = groups(12, 50)
    one = layout(vectors, method, seed=3, threads=1)
    np.testing.assert_array_equal(one, layout(vectors, method, seed=3, threads=3))
    if method == "clusters":
        assert not np.array_equal(one, layout(vectors, method, seed=4, threads=1))


@pytest.mark.parametrize("method", ["auto", "clusters", "pca"])
def test_any_vectors_have_a_finite_map(method: str) -> None:
    empty, one, equal = (np.zeros((0, 4)), np.zeros((3, 0))), np.ones((1, 4)), (np.zeros((5, 4)), np.ones((40, 3)))
    opposite = np.r_[np.ones((30, 3)), -np.ones((30, 3)), np.zeros((4, 3))]
    line, scaled = np.linspace(-1, 1, 50)[:, None], (np.eye(9) * 1e30, np.eye(9) * 1e-30)
    for vectors in (*empty, one, np.eye(2), *equal, opposite, line, *scaled):
        places = layout(vectors, method)
        assert places.shape == (len(vectors), 2) and places.dtype == np.float32
        assert np.isfinite(places).all() and np.abs(places).max(initial=0) <= 1, vectors.shape


def test_rows_without_direction_lie_in_a_corner_and_stray_points_shrink_nothing() -> None:
    vectors, _ = groups(5, 40)
    vectors[::10] = 0
    for method in ("clusters", "pca"):
        places = layout(vectors, method)
        zero = ~vectors.any(axis=1)
        assert places[zero].max() < places[~zero].min()
        assert len(np.unique(places[zero], axis=0)) == zero.sum()
    rng = np.random.default_rng(0)
    found = rng.uniform(-1, 1, (5000, 2)).astype(np.float32)
    found[:2] = [[1000, 0], [-300, 500]]
    places = rescale(found, np.arange(5000), 5000)
    assert np.abs(places).max() <= 1 and np.ptp(places[2:, 0]) > 1.7
    assert [int(places[:, 0].argmax()), int(places[:, 0].argmin())] == [0, 1]


def test_principal_axes_are_those_of_the_singular_value_decomposition() -> None:
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=(300, 8)) * np.arange(8, 0, -1) + 50).astype(np.float32)
    U, S, _ = np.linalg.svd(vectors - vectors.mean(axis=0, dtype=np.float64), full_matrices=False)
    ours = project(vectors, np.arange(300), threads=2)
    np.testing.assert_allclose(np.abs(ours), np.abs(U[:, :2] * S[:2]), atol=1e-3)


def test_bad_arguments_are_named() -> None:
    wrong: dict[str, Any] = {"method": "tsne", "seed": -1, "threads": 0}
    for argument, value in wrong.items():
        with pytest.raises(InputError, match=str(value)) as caught:
            layout(np.eye(3), **{argument: value})
        assert caught.value.argument == argument


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("lastfm-asia", 0.55), ("ppi", 0.5), ("coauthor-cs", 0.55)])
def test_real_graphs_keep_their_neighbors(name: str, least: float) -> None:
    vectors = graphrefine.embed(graphrefine.read(data_folder() / f"{name}.mat")).vectors
    vectors = vectors[vectors.any(axis=1)]
    assert share_kept(vectors, layout(vectors)) > least
