"""Link prediction: the metrics against other people's and brute force, the edges held out, and the command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from cli_runs import refuses, ring_of_cliques, works, write_csv
from graphrefine.embedding.fold_in import Neighbors
from graphrefine.embedding.learn import auc, draw, learn_weight
from graphrefine.embedding.scores import Pairs, PairScore
from graphrefine.errors import InputError
from graphrefine.evaluate import evaluate_links, links, random_control
from graphrefine.evaluate.held_out_edges import find_entries, hold_out
from graphrefine.evaluate.link_scores import SCORES, ScoreInputs
from graphrefine.evaluate.metrics import average_precision, middle_ranks
from graphrefine.graph.graph import Graph
from graphs import check, data_folder, graphs, permuted, random_graph
from strategies import PATIENT

FEW = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=40).map(np.array)  # so that ties are frequent


def edge_names(graph: Graph) -> set[tuple[Any, Any]]:
    rows = np.repeat(np.arange(graph.nodes), graph.out_counts)
    return pair_names(graph, Pairs(rows, graph.indices.astype(np.int64)))


def pair_names(graph: Graph, pairs: Pairs) -> set[tuple[Any, Any]]:
    names = graph.names.tolist()
    return {tuple(sorted((names[u], names[v]))) for u, v in zip(*pairs, strict=True)}


@PATIENT
@given(FEW, FEW)
def test_auc_average_precision_and_ranks_are_those_of_scikit_learn_and_counting(true: Any, false: Any) -> None:
    truth = np.concatenate([np.ones(len(true)), np.zeros(len(false))])
    scores = np.concatenate([true, false])
    assert auc(true, false) == pytest.approx(roc_auc_score(truth, scores), abs=1e-12)
    assert average_precision(true, false) == pytest.approx(average_precision_score(truth, scores), abs=1e-12)
    scores = np.tile(false, (len(true), 1))
    ranks = middle_ranks(scores, true, tolerance=np.zeros(len(true)))
    for rank, mine in zip(ranks, true, strict=True):
        places = [1 + sum(o > mine for o in false) + ties for ties in range(sum(o == mine for o in false) + 1)]
        assert rank == np.mean(places)


@PATIENT
@given(graphs(directed=False, least=6), st.floats(0.05, 0.9), st.integers(0, 5))
def test_held_out_edges_and_the_rest_make_the_graph(graph: Graph, part: float, seed: int) -> None:
    size = round(part * graph.edges)
    if not 0 < size < graph.edges or graph.nodes * (graph.nodes - 1) // 2 - graph.edges < size:
        with pytest.raises(InputError, match=r"is needed|are needed"):
            hold_out(graph, part, repeat=0, seed=seed)
        return
    held = hold_out(graph, part, repeat=0, seed=seed)
    check(held.rest)
    taken, left, whole = pair_names(graph, held.edges), edge_names(held.rest), edge_names(graph)
    assert taken | left == whole and not taken & left
    others = pair_names(graph, held.others)
    assert not others & whole and all(u != v for u, v in others)
    assert len(taken) == len(held.edges.first) == len(others) == len(held.others.first) == size
    total = graph.degrees().sum() - held.rest.degrees().sum()
    weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    assert total == pytest.approx(2 * weights[find_entries(graph, held.edges)].sum(), rel=1e-5)


def test_held_out_pairs_depend_on_seed_and_repeat_and_may_be_arcs_turned_round() -> None:
    graph = random_graph(200, weighted=True, isolated=3)
    order = np.random.default_rng(1).permutation(200)
    moved = replace(permuted(graph, order), names=order.astype(np.int64))
    one, other = (hold_out(g, 0.3, repeat=2, seed=5) for g in (graph, moved))
    assert edge_names(one.rest) == edge_names(other.rest)
    for mine, theirs in ((one.edges, other.edges), (one.others, other.others)):
        assert np.array_equal(graph.names[np.stack(mine)], moved.names[np.stack(theirs)]), "in the same order too"
    for repeat, seed in ((2, 6), (3, 5)):
        drawn = hold_out(graph, 0.3, repeat=repeat, seed=seed)
        assert pair_names(graph, drawn.edges) != pair_names(graph, one.edges)
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(0, 30, (2, 400)), directed=True)  # most arcs have one back
    held = hold_out(graph, 0.3, repeat=0, seed=0, turned=1.0)
    assert (find_entries(graph, held.others) < 0).all()
    back = Pairs(*(side[: held.turned] for side in held.others[::-1]))
    arcs = set(zip(*(side.tolist() for side in held.edges), strict=True))
    assert held.turned > 20 and set(zip(*(side.tolist() for side in back), strict=True)) <= arcs


@settings(PATIENT, max_examples=30)
@given(graphs(directed=False, least=12), st.sampled_from(list(SCORES)))
def test_scores_of_pairs_and_of_blocks_are_the_formula(graph: Graph, name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((graph.nodes, 5)).astype(np.float32)
    X[graph.out_counts == 0] = 0
    score = SCORES[name](ScoreInputs(graph, X, seed=0, threads=1))
    wanted = by_formula(name, graph, X, score)
    pairs = Pairs(rng.integers(0, graph.nodes, 30), rng.integers(0, graph.nodes, 30))
    close = {"rtol": 1e-4, "atol": 1e-5 * np.abs(wanted).max()}
    np.testing.assert_allclose(score.of_pairs(pairs), wanted[pairs], **close)
    np.testing.assert_allclose(score.against(pairs.first, pairs.second), wanted[np.ix_(*pairs)], **close)


def by_formula(name: str, graph: Graph, X: NDArray[Any], score: PairScore) -> NDArray[Any]:
    d = graph.out_counts.astype(float)
    dot = X.astype(float) @ X.T
    lengths = np.where(np.diag(dot) > 0, np.sqrt(np.diag(dot)), 1)
    cosine = dot / np.outer(lengths, lengths)
    if name == "spectral":
        assert score.middle is not None
        return np.asarray((score.vectors * score.middle) @ score.vectors.T * np.outer(d, d) ** 0.4)
    weight = learn_weight(Neighbors(X), *draw(graph, seed=0))
    formulas: dict[str, NDArray[Any]] = {
        "dot": dot,
        "cosine": cosine,
        "dot-degree": dot * np.outer(d, d) ** 0.4,
        "cosine-degree": cosine + weight * np.add.outer(*[np.log(np.maximum(d, 0.5))] * 2),
        "degree": np.outer(d, d),
    }
    return formulas[name]


def test_the_spectral_score_is_that_of_all_eigenvectors() -> None:
    graph = random_graph(60, degree=8, weighted=True)
    score = SCORES["spectral"](ScoreInputs(graph, np.zeros((60, 60), np.float32), seed=0, threads=1))
    scale = np.diag(graph.degrees() ** -0.4)
    S = scale @ graph.to_scipy().toarray() @ scale
    d = graph.out_counts.astype(float)
    wanted = (S + S @ S + S @ S @ S) * np.outer(d, d) ** 0.4
    everyone = np.arange(60)
    assert np.abs(score.against(everyone, everyone) - wanted).max() < 0.02 * np.abs(wanted).max()


@pytest.mark.parametrize("nodes", [40, 1500])  # fewer nodes than corruptions, and more
def test_ranks_are_those_of_brute_force(nodes: int) -> None:
    graph = random_graph(nodes, degree=8, isolated=4)
    held = hold_out(graph, 0.3, repeat=0, seed=0)
    X = np.random.default_rng(0).integers(-1, 2, (nodes, 3)).astype(np.float32)  # many ties
    trial = links._Trial.from_held_out(graph, held, corruptions=1000, ranked=70)
    ranks = np.concatenate([trial._ranks({"dot": PairScore(X)}, block)["dot"] for block in range(trial.blocks)])
    whole = graph.to_scipy().toarray() > 0
    for offset, (rank, fixed, true) in enumerate(zip(ranks, trial.fixed, trial.true, strict=True)):
        rng = np.random.default_rng((*held.key, 2, offset // links.SHARING))
        drawn = rng.choice(graph.nodes, min(1000, graph.nodes), replace=False)
        against = [X[fixed] @ X[w] for w in drawn if w != fixed and not whole[fixed, w]]
        mine = X[fixed] @ X[true]
        assert rank == 1 + sum(s > mine for s in against) + sum(s == mine for s in against) / 2


def test_random_and_equal_vectors_tell_nothing() -> None:
    """However a sum is rounded: a collapsed embedding must not look perfect."""
    graph, equal = random_graph(2000, degree=10), np.random.default_rng(0).standard_normal(77)
    for make, slack, hits in (
        (lambda g: random_control(g.nodes, 64), 0.02, 0.07),
        (lambda g: np.tile(equal, (g.nodes, 1)), 0.0, 0.0),
    ):
        figures = evaluate_links(graph, make, scores=["dot", "cosine"], repeats=2)
        for name in ("dot", "cosine"):
            assert abs(figures[name].mean("auc") - 0.5) <= slack
            assert abs(figures[name].mean("mr") / 500 - 1) < 0.05
            assert figures[name].mean("hits@50") <= hits


def test_the_command(tmp_path: Path) -> None:
    graph = write_csv(tmp_path / "g.csv", ring_of_cliques(6, 8))
    typed = ("evaluate", "links", graph, "--dim", "4", "--json", "--repeats", "2", "--set", "power=2")
    one, three = (works(*typed, "--threads", threads).figures for threads in ("1", "3"))
    assert one["scores"] == three["scores"], "threads change nothing"
    works("evaluate", "links", graph, "--bipartite", "--dim", "4")
    assert one["method"] == "refine" and one["settings"]["power"] == 2 and one["repeats"] == 2
    by_name = {each["score"]: each for each in one["scores"]}
    assert list(by_name) == list(SCORES)
    assert by_name["cosine"]["auc"]["mean"] > 0.8 > by_name["degree"]["auc"]["mean"]
    shown = works("evaluate", "links", graph, "--method", "rbqr", "--scores", "cosine").out
    assert shown.splitlines()[0].split() == ["score", "AUC", "AP", "MR", "MRR", "HITS@1", "HITS@10", "HITS@50"]
    assert [line.split()[0] for line in shown.splitlines()[1:3]] == ["cosine", "degree"]
    refuses("evaluate", "links", graph, "--directed", "--turned", "1.5", folder=tmp_path, expected=("--turned 1.5",))
    refuses("evaluate", "links", graph, "--set", "seed=5", folder=tmp_path, expected=("'seed'",))


REFERENCE = {  # AUC with 30% held out: research figures of cosine, spectral score and degree product
    "ppi": (0.874, 0.886, 0.883),
    "wikipedia-pos": (0.827, 0.901, 0.913),
}


@pytest.mark.parametrize("name", list(REFERENCE))
def test_figures_on_real_graphs(name: str) -> None:
    path = data_folder() / f"{name}.mat"
    figures = evaluate_links(path, scores=["cosine", "spectral"], ranked=64, preset="paper", log_weights=True)
    cosine, spectral, degree = REFERENCE[name]
    assert figures["cosine"].mean("auc") == pytest.approx(cosine, abs=0.01)
    assert figures["degree"].mean("auc") == pytest.approx(degree, abs=0.01)
    assert figures["spectral"].mean("auc") > max(spectral, figures["degree"].mean("auc"))
    # Freed of their mean, the default's vectors have lost the degrees; the library's score gives them back.
    default = evaluate_links(path, scores=["cosine", "cosine-degree"], ranked=64)
    assert default["cosine"].mean("auc") < degree < degree + 0.01 < default["cosine-degree"].mean("auc")
