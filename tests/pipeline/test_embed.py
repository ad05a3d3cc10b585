"""`graphrefine.embed` takes what the command line takes, says what it understood, and refuses what it would ignore."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import graphrefine
from cli_runs import works
from graphrefine.errors import ArgumentWarning, InputError, KeywordError
from graphrefine.evaluate import evaluate_labels, evaluate_links, evaluate_reconstruction
from graphrefine.evaluate.compare import compare

RATINGS = "date;rating;film;user\n2024-01-01;5;alien;ann\n2024-01-02;1;brazil;ann\n2024-01-03;4;alien;bob\n"
RING = [(i, (i + 1) % 6) for i in range(6)]


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.dat"
    path.write_text(RATINGS, encoding="utf-8")
    return path


def test_options_of_reading_are_those_of_the_command_line(ratings: Path, tmp_path: Path) -> None:
    reading: dict[str, Any] = {
        "format": "csv", "source": "user", "target": "film", "weights": "rating", "delimiter": ";",
    }  # fmt: skip
    ours = graphrefine.embed(ratings, 2, header=True, bipartite=True, **reading)
    typed = [word for name, value in reading.items() for word in (f"--{name}", value)]
    works("embed", ratings, "-o", tmp_path / "out", "--dim", "2", "--bipartite", "--header", *typed)
    theirs = graphrefine.load(tmp_path / "out")
    assert ours.names.tolist() == theirs.names.tolist() == ["ann", "bob", "alien", "brazil"]
    assert np.array_equal(ours.vectors, theirs.vectors) and ours.recipe == theirs.recipe
    unweighted = graphrefine.embed(ratings, 2, header=True, bipartite=True, **{**reading, "weights": False})
    assert not np.array_equal(unweighted.vectors, ours.vectors)


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"weights": "x"}, "weights"), ({"weights": False}, "weights"), ({"header": False}, "header"),
        ({"nodes": 9}, "nodes"), ({"format": "csv"}, "format"), ({"directed": True}, "directed"), ({"time": 2}, "time"),
    ],
)  # fmt: skip
def test_options_that_a_graph_would_ignore_are_refused(options: dict[str, Any], argument: str) -> None:
    graph = graphrefine.read(RING)
    for function in (graphrefine.read, graphrefine.embed, graphrefine.tune, evaluate_links):
        with pytest.raises(InputError) as caught:
            function(graph, **options)
        assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("options", "near"),
    [({"dimm": 8}, "dim"), ({"wieghts": "x"}, "weights"), ({"method": "deepwalk", "windw": 5}, "window")],
)
def test_a_wrong_keyword_of_embed_names_the_near_one(options: dict[str, Any], near: str) -> None:
    with pytest.raises(KeywordError, match=rf"did you mean '{near}'\?") as caught:
        graphrefine.embed(RING, **options)
    assert isinstance(caught.value, TypeError) and isinstance(caught.value, InputError)


def test_numbers_of_numpy_are_numbers() -> None:
    theirs: dict[str, Any] = {"dim": np.int64(2), "seed": np.uint32(3), "threads": np.int8(1), "power": np.int16(2)}
    theirs |= {"negative": np.float32(2), "center": np.False_, "learn": np.False_, "filter": np.array([0.0, 1.0])}
    ours: dict[str, Any] = {
        "dim": 2, "seed": 3, "threads": 1, "power": 2, "negative": 2.0, "center": False, "filter": (0.0, 1.0),
    }  # fmt: skip
    with_theirs, with_ours = graphrefine.embed(RING, **theirs), graphrefine.embed(RING, **ours)
    assert with_theirs.recipe == with_ours.recipe and np.array_equal(with_theirs.vectors, with_ours.vectors)
    assert json.loads(json.dumps(with_theirs.recipe))["seed"] == 3
    walks = graphrefine.embed(RING, 2, method="deepwalk", window=np.int64(2), walks=np.uint8(2), length=np.int32(5))
    assert (walks.recipe["window"], walks.recipe["walks"]) == (2, 2)


@pytest.mark.parametrize("name", ["dim", "seed", "threads", "power", "order"])
@pytest.mark.parametrize("value", [True, np.True_, 2.0, "2"])
def test_truth_values_and_text_are_no_whole_numbers(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{name}=.* must be a whole number"):
        graphrefine.embed(RING, **{"dim": 2, name: value})


def test_a_graph_that_says_that_it_is_directed_is_embedded_so() -> None:
    ring = networkx.DiGraph(RING)
    embedding = graphrefine.embed(ring, 2)
    assert embedding.recipe["directed"] is True and "directed, as the graph says" in embedding.recipe["reading"]
    with pytest.raises(InputError, match="as it says itself; read it with directed=False") as refused:
        graphrefine.embed(ring, 2, method="netmf")
    assert refused.value.argument == "directed"
    for directed in (True, False):
        assert graphrefine.embed(ring, 2, directed=directed).recipe["directed"] is directed
    assert graphrefine.embed(graphrefine.read(ring), 2).recipe["directed"] is True


def test_a_default_length_is_reduced_with_a_warning() -> None:
    club = networkx.karate_club_graph()
    for preset in (None, "paper"):
        with pytest.warns(ArgumentWarning, match="dim is reduced from 128 to 34"):
            assert graphrefine.embed(club, preset=preset).dim == 34
    for call in (lambda: graphrefine.embed(club, 128), lambda: graphrefine.tune(club, dims=[128])):
        with pytest.raises(InputError, match="choose dim=34 or less"):
            call()


def whole(number: int) -> Any:
    """A whole number of NumPy's, which is no int to the type checker."""
    return np.int64(number)


def test_results_hold_plain_numbers() -> None:
    edges = [(i, j) for i in range(24) for j in range(i) if i // 8 == j // 8 or i == j + 8]
    embedding, labels = graphrefine.embed(edges, 4), [i // 8 for i in range(24)]
    count: dict[str, Any] = {"seed": whole(3), "threads": np.uint8(1)}
    results: list[Any] = [
        evaluate_labels(embedding, labels, ratios=[np.float64(0.5)], repeats=whole(2), **count),
        evaluate_links(edges, dim=whole(2), repeats=whole(1), corruptions=whole(9), ranked=whole(9), **count),
        evaluate_reconstruction(edges, embedding, top=[whole(5)], sample=whole(10), **count),
        graphrefine.tune(edges, labels, dims=[whole(2)], budget=whole(20), **count),
        compare(edges, labels=labels, methods=["refine"], dims=[whole(2)], repeats=whole(2), **count),
    ]
    for result in results:
        assert json.loads(json.dumps(result.to_dict()))
    layered = graphrefine.embed(edges, 2, method="harp", base_settings={"window": whole(2)})
    assert layered.recipe["base_settings"] == {"window": 2}
