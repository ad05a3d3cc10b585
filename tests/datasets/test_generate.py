"""Generated graphs: exact sizes, degrees that fall as asked, communities that vectors tell, any threads alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrefine.datasets import Dataset, block_model, find, generate, power_law
from graphrefine.errors import InputError
from graphrefine.evaluate import evaluate_labels, random_control
from graphrefine.methods.registry import make_settings as method_settings
from graphrefine.pipeline.embed_run import embed_graph
from graphs import check
from reproduction.standins import standin
from strategies import PATIENT


def arrays(drawn: Dataset) -> list[Any]:
    graph, labels = drawn.graph, drawn.labels
    assert labels is not None
    return [graph.indptr, graph.indices, labels.indicator.indptr, labels.indicator.indices]


def sharing(drawn: Dataset) -> tuple[float, float]:
    """Which part of the edges joins nodes with a label in common, and which part of random pairs."""
    assert drawn.labels is not None
    graph, has = drawn.graph, drawn.labels.indicator.toarray()
    rows = np.repeat(np.arange(graph.nodes), graph.out_counts)
    pairs = np.random.default_rng(0).integers(0, graph.nodes, (2, len(rows)))
    return (has[rows] & has[graph.indices]).any(axis=1).mean(), (has[pairs[0]] & has[pairs[1]]).any(axis=1).mean()


@settings(PATIENT, max_examples=40)
@given(st.data())
def test_sizes_are_exact_and_graphs_are_graphs(data: st.DataObject) -> None:
    nodes = data.draw(st.integers(10, 400))
    edges = data.draw(st.integers(1, nodes * (nodes - 1) // 8))
    classes = data.draw(st.integers(1, 5))
    drawn = block_model(
        nodes,
        edges,
        classes=classes,
        mixing=data.draw(st.sampled_from([0.3, 0.5, 1.0])),
        exponent=3.0,
        labels_per_node=data.draw(st.sampled_from([1.0, 1.0 + (classes > 1) * 0.5])),
        labeled=data.draw(st.sampled_from([None, nodes // 2])),
        seed=data.draw(st.integers(0, 9)),
    )
    check(drawn.graph)
    assert (drawn.graph.nodes, drawn.graph.edges, drawn.graph.weighted) == (nodes, edges, False)
    assert drawn.generated and drawn.labels is not None and drawn.classes == classes
    shown = np.diff(drawn.labels.indicator.indptr) > 0
    assert shown.sum() == (nodes if drawn.recipe["labeled"] is None else nodes // 2)


def test_threads_and_pieces_change_nothing_and_seeds_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "PIECE", 1000)
    one, three, other = (
        block_model(2000, 20_000, labels_per_node=1.5, labeled=700, noise=0.1, seed=seed, threads=threads)
        for seed, threads in ((0, 1), (0, 3), (1, 1))
    )
    assert all(np.array_equal(a, b) for a, b in zip(arrays(one), arrays(three), strict=True))
    assert not np.array_equal(one.graph.indices, other.graph.indices)
    assert one.recipe == three.recipe and one.recipe["noise"] == 0.1 and "threads" not in one.recipe


@pytest.mark.parametrize("exponent", [2.2, 2.5, 3.0])
def test_degrees_fall_as_a_power_law(exponent: float) -> None:
    degrees = np.sort(power_law(50_000, 400_000, exponent=exponent).graph.out_counts)[::-1]
    tail = degrees[degrees >= 40]
    hill = 1 + len(tail) / np.log(tail / 39.5).sum()  # the likeliest exponent of the tail
    assert hill == pytest.approx(exponent, abs=0.15)
    assert degrees[-1] >= 1, "no node is left alone"


def test_mixing_and_noise_say_how_far_edges_heed_communities() -> None:
    inside = []
    for mixing in (0.0, 0.5, 1.0):
        edges, pairs = sharing(block_model(3000, 30_000, classes=10, mixing=mixing))
        inside.append((edges - pairs) / (1 - pairs))  # 0 where edges are as random pairs
    assert inside[0] == pytest.approx(1, abs=1e-9)
    assert inside[1] == pytest.approx(0.5, abs=0.05) and inside[2] == pytest.approx(0, abs=0.03)
    assert 0.25 < sharing(block_model(3000, 30_000, mixing=0.0, noise=0.5))[0] < 0.5


def label_scores(drawn: Dataset, ratio: float, *preset: str, dim: int) -> tuple[float, float]:
    """Micro F1 of the labels by the vectors of a graph, and by random ones."""
    vectors = embed_graph(drawn.graph, method_settings("refine", *preset, dim=dim))[0].vectors
    ours, control = (
        evaluate_labels(v, drawn.labels, ratios=[ratio], repeats=1).ratios[0].micro_mean
        for v in (vectors, random_control(drawn.graph.nodes, dim))
    )
    return ours, control


def test_labels_are_told_by_vectors_and_not_by_chance() -> None:
    drawn = block_model(2000, 20_000, classes=8, mixing=0.5, labels_per_node=1.2)
    ours, control = label_scores(drawn, 0.5, dim=32)
    assert ours > 75 and control < 35


def test_crowded_graphs_are_filled_or_refused() -> None:
    full = power_law(100, 99 * 100 // 4, exponent=4.0)
    assert full.graph.edges == 2475
    with pytest.raises(InputError, match=r"were not free; ask for fewer edges"):
        block_model(100, 2000, classes=50, mixing=0.0)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("nodes", 2), ("edges", 0), ("edges", 10**6), ("exponent", 2.0), ("most", 3), ("most", 100), ("classes", 0),
     ("mixing", 1.5), ("labels_per_node", 0.5), ("labeled", 101), ("noise", -0.1)],
)  # fmt: skip
def test_what_cannot_be_is_refused(argument: str, value: float) -> None:
    with pytest.raises(InputError) as refused:
        block_model(**{"nodes": 100, "edges": 300, argument: value})  # type: ignore[arg-type]
    assert refused.value.argument == argument


STANDINS = [("flickr", 5706, 80_513, 1.34, 38.9, 12), ("youtube", 28_754, 31_703, 1.57, 45.1, 20)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most", "labeled", "per_node", "published", "chance"), STANDINS)
def test_standins_have_the_shape_of_real_graphs_and_are_about_as_hard(
    name: str, most: int, labeled: int, per_node: float, published: float, chance: float
) -> None:
    """The published Micro F1 of REFINE is with 9% of the labels."""
    drawn, real = standin(name), find(name)
    assert (drawn.graph.nodes, drawn.graph.edges, drawn.classes) == (real.nodes, real.edges, real.classes)
    assert drawn.generated and "generated" in drawn.title and "generated" in drawn.note and drawn.labels is not None
    assert drawn.graph.out_counts.max() == pytest.approx(most, rel=0.1)
    counts = np.diff(drawn.labels.indicator.indptr)
    assert (counts > 0).sum() == labeled and counts[counts > 0].mean() == pytest.approx(per_node, abs=0.05)
    ours, control = label_scores(drawn, 0.09, "paper", dim=128)
    assert ours == pytest.approx(published, abs=4) and control < chance
