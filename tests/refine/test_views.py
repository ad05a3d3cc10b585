"""Joint views: eigenpairs against SciPy's, views put together against NumPy's SVD, tiers on odd and on real graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphrefine
from cli_runs import embeds, ring_of_cliques, write_csv
from graphrefine.engine.local import LocalEngine
from graphrefine.evaluate import evaluate_labels, random_control, read_labels
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import EdgeStrengths
from graphrefine.refine.local_view import agreement, local_view, weight_of_negative
from graphrefine.refine.settings import RefineSettings
from graphrefine.refine.svd import symmetric_eigh
from graphrefine.refine.views import TIERS, bytes_held, join_views, shares
from graphs import data_folder, random_graph


def test_the_local_view_has_the_leading_eigenpairs() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 6, 900)
    source, target = rng.integers(0, 900, (2, 30_000))
    keep = (group[source] == group[target]) | (rng.random(30_000) < 0.05)
    graph = Graph.from_edges(source[keep], target[keep], names=np.arange(900))
    d = graph.degrees()
    N = graph.to_scipy().toarray() * np.outer(d**-0.4, d**-0.4)
    values, U = np.linalg.eigh(N)
    leading = np.argsort(-np.abs(values))[:5]
    view = local_view(LocalEngine(graph, columns=32), EdgeStrengths(graph), seed=0, products=18)
    assert np.linalg.norm(view, axis=0)[:5] == pytest.approx(np.abs(values[leading]), rel=0.02)
    span = np.linalg.qr(view[:, :5].astype(np.float64))[0]
    assert np.linalg.svd(U[:, leading].T @ span, compute_uv=False).min() > 0.98


def test_the_weight_of_negative_eigenvalues_follows_agreement_and_moves_the_cut() -> None:
    graph = random_graph(500, degree=20)
    operator = EdgeStrengths(graph).normalized(0.4)
    values = np.linalg.eigvalsh(operator.to_scipy().toarray())
    for weight in (0.7, 1.0, 1.5):
        leading = values[np.argsort(-np.where(values < 0, -weight * values, values))[:32]]
        pairs = symmetric_eigh(LocalEngine(graph, columns=32), operator, seed=0, products=90, negative=weight)
        assert np.count_nonzero(pairs.values < 0) == pytest.approx(np.count_nonzero(leading < 0), abs=3)
        assert pairs.values.max() == pytest.approx(values.max(), rel=1e-3)
    # Roles have more negative eigenvalues than groups; the shares add up to 1.
    weights = [weight_of_negative(agreement) for agreement in (0.0, 0.45, 0.5, 0.6, 1.0)]
    assert weights == sorted(weights, reverse=True) and weights[0] > 1.5 > 1 > weights[-1]
    for memory in (0.0, 0.3, 1.0):
        assert sum(shares(memory)) == pytest.approx(1) and shares(memory)[2] == min(memory, 0.9)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 6))
def test_agreement_does_not_depend_on_the_axes(seed: int, first: int, second: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (rng.standard_normal((40, columns)).astype(np.float32) for columns in (first, second))
    turned = (one @ np.linalg.qr(rng.standard_normal((first, first)))[0]).astype(np.float32)
    rows = [view - view.mean(axis=0) for view in (one, other)]
    kernels = [(unit := view / np.linalg.norm(view, axis=1, keepdims=True)) @ unit.T for view in rows]
    expected = (kernels[0] * kernels[1]).sum() / np.linalg.norm(kernels[0]) / np.linalg.norm(kernels[1])
    assert agreement(one, other) == pytest.approx(expected, rel=1e-3)
    assert agreement(turned, other, threads=2) == pytest.approx(expected, rel=1e-3)
    assert agreement(one, turned) == pytest.approx(1, rel=1e-3)
    assert agreement(one, np.zeros_like(other)) == 0


def test_principal_axes_keep_the_inner_products_of_rows() -> None:
    rng = np.random.default_rng(0)
    first, second = (rng.standard_normal((50, 4)).astype(np.float32) for _ in range(2))
    second[:, 2:] = 0  # of rank two, so four axes of six hold nearly all
    expected = [view - view.mean(axis=0) for view in (first, second)]
    expected = [view / np.linalg.norm(view, axis=1, keepdims=True) for view in expected]
    wide = np.hstack([np.sqrt(0.01) * expected[0], np.sqrt(0.99) * expected[1]])
    U, S, _ = np.linalg.svd(wide, full_matrices=False)
    best = (U * S)[:, :4] / np.linalg.norm((U * S)[:, :4], axis=1, keepdims=True)
    found = join_views((first.copy(), second), (0.01, 0.99), np.arange(50))
    assert np.abs(found @ found.T - best @ best.T).max() < 1e-4


def test_regions_grow_with_the_graph_until_the_work_is_too_much() -> None:
    tier = TIERS["default"]
    counts = [tier.regions(nodes, 10 * nodes, 0.6) for nodes in (1000, 100_000, 10_000_000, 1_000_000_000)]
    assert counts == [512, 768, 256, 256]
    assert tier.regions(50_000, 10**6, 0.2) == tier.regions(50_000, 10**6, 0.6) // 2
    assert all(count % 128 == 0 for count in counts)
    assert bytes_held(1_000_000, 10_000_000, 128, tier) < 1.2e9, "the memory of a million nodes"


def test_roles_and_groups_are_both_found() -> None:
    """A bipartite block model has roles alone (no edge within a group); a block model has groups alone."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(4), 150)
    source, target = rng.integers(0, 600, (2, 9000))
    within = group[source] == group[target]
    for wanted in (within, (group[source] ^ 1) == group[target]):
        keep = wanted | (rng.random(9000) < 0.15)
        graph = Graph.from_edges(source[keep], target[keep], names=np.arange(600))
        score, chance = (
            evaluate_labels(rows, group.tolist(), ratios=(0.2,), repeats=3).ratios[0].micro_mean
            for rows in (graphrefine.embed(graph, 16).vectors, random_control(600, 16))
        )
        assert score > 90 > 40 > chance


def micro(name: str, ratio: float, repeats: int, **options: Any) -> float:
    """Micro F1 of vectors of a real graph, of a quality or at random."""
    path = data_folder() / f"{name}.mat"
    graph = graphrefine.read(path)
    rows = graphrefine.embed(graph, threads=2, **options).vectors if options else random_control(graph.nodes, 128)
    return evaluate_labels(rows, read_labels(path), ratios=(ratio,), repeats=repeats).ratios[0].micro_mean


@pytest.mark.parametrize(
    ("name", "ratio", "repeats", "lower", "gain"),
    [("lastfm-asia", 0.1, 3, {"preset": "paper"}, 1), ("amazon-photo", 0.01, 10, {"quality": "fast"}, 4)],
)
def test_real_graphs_gain_over_refine_alone(
    name: str, ratio: float, repeats: int, lower: dict[str, str], gain: float
) -> None:
    """A sparse graph, and one with few labels; random vectors are far below."""
    before = micro(name, ratio, repeats, **lower)
    assert micro(name, ratio, repeats, quality="default") > before + gain
    assert micro(name, ratio, repeats) < before - 20


def test_words_of_a_kind_gain_by_negative_eigenvalues(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Wikipedia's graph of words a label is a part of speech: a role. The control counts all signs alike."""
    ours = micro("wikipedia-pos", 0.5, 3, quality="default")
    monkeypatch.setattr("graphrefine.refine.views.weight_of_negative", lambda agreement: 1.0)
    assert ours > micro("wikipedia-pos", 0.5, 3, quality="default") + 0.7


def test_tiers_and_their_names(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "g.csv", ring_of_cliques())
    made = {quality: graphrefine.embed(path, dim=4, quality=quality) for quality in ("fast", "default", "best")}
    assert [each.recipe["quality"] for each in made.values()] == ["fast", "default", "best"]
    assert np.array_equal(made["default"].vectors, graphrefine.embed(path, dim=4).vectors)
    assert not np.allclose(made["default"].vectors, made["fast"].vectors, atol=1e-3)
    found = embeds(path, "--dim", "4", "--quality", "best", to=tmp_path / "v")
    assert np.array_equal(found.vectors, made["best"].vectors)


@pytest.mark.parametrize("own", [{"power": 4}, {"filter": "heat"}, {"axes": 0.5}, {"preset": "paper"}])
def test_other_settings_of_refine_are_for_refine_alone(own: dict[str, object]) -> None:
    ring = ring_of_cliques()
    alone = graphrefine.embed(ring, dim=4, **own)  # type: ignore[arg-type]
    assert alone.recipe["quality"] == "fast"
    joint = graphrefine.embed(ring, dim=4, quality="default", **own)  # type: ignore[arg-type]
    assert joint.recipe["quality"] == "default" and not np.array_equal(joint.vectors, alone.vectors)
    assert RefineSettings(bfloat16=False, block=8, dim=32, seed=3).quality == "default", "settings of speed leave it"
