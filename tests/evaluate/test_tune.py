"""`graphrefine.tune`: what it finds, what it never sees, when it stops; and settings in files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import graphrefine
from cli_runs import refuses, works, write_csv
from graphrefine.errors import FormatError, InputError
from graphrefine.evaluate import Labels, as_labels, judges
from graphrefine.evaluate.judges import PENALTIES, make_split
from graphrefine.evaluate.tune import TrialVectors, Tuning, parse_seconds, plan_stages, tune
from graphrefine.graph.graph import Graph
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.pipeline.settings import read_config, write_config
from graphrefine.refine.settings import RefineSettings

BLOCKS, SIZE = 4, 30


def edges_of_blocks(seed: int = 0) -> NDArray[np.int64]:
    """A few groups, in which edges are dense, and a ring through all nodes."""
    rng = np.random.default_rng(seed)
    n = BLOCKS * SIZE
    group = np.arange(n) % BLOCKS
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < np.where(group[i] == group[j], 0.12, 0.02)
    ring = np.arange(n)
    return np.concatenate([np.stack([i[kept], j[kept]], 1), np.stack([ring, (ring + 1) % n], 1)])


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph.from_edges(*edges_of_blocks().T)


@pytest.fixture(scope="module")
def labels() -> NDArray[np.int64]:
    """The group, and for a few nodes another one."""
    rng = np.random.default_rng(1)
    group = np.arange(BLOCKS * SIZE) % BLOCKS
    return np.where(rng.random(len(group)) < 0.1, rng.integers(0, BLOCKS, len(group)), group)


def trail(tuning: Tuning) -> list[tuple[dict[str, Any], tuple[float, ...]]]:
    return [(trial.changes, trial.scores) for trial in tuning.trail]


def test_the_default_is_tried_first_and_never_beats_the_result(graph: Graph, labels: NDArray[np.int64]) -> None:
    tuning = tune(graph, labels, dims=[8])
    assert tuning.trail[0].settings == RefineSettings(dim=8)
    assert tuning.trail[0].changes == {} and tuning.trail[0].score == tuning.default_score
    assert tuning.score >= tuning.default_score
    assert tuning.complete and tuning.seconds < tuning.budget
    leaders = [trial for trial in tuning.trail if trial.leads]
    assert leaders[-1].settings == tuning.best and [t.score for t in leaders] == sorted(t.score for t in leaders)
    assert len({trial.settings for trial in tuning.trail}) == len(tuning.trail), "nothing is tried twice"
    assert {trial.settings.dim for trial in tuning.trail} == {8}
    assert {trial.settings.dim for trial in tune(graph, labels, dims=[4, 8]).trail} == {4, 8}


@pytest.mark.parametrize("by_labels", [True, False])
def test_the_same_seed_gives_the_same_trail_on_any_number_of_threads(
    graph: Graph, labels: NDArray[np.int64], by_labels: bool
) -> None:
    given = labels if by_labels else None
    first, second = (tune(graph, given, dims=[8], threads=threads) for threads in (1, 2))
    assert trail(first) == trail(second) and first.best == second.best
    assert trail(tune(graph, given, dims=[8], seed=1)) != trail(first)


class Planted(TrialVectors):
    """Vectors that tell the labels for one setting only; noise, a little of the truth in it, for all others."""

    good: ClassVar[dict[str, Any]] = {"negative": 5.0}

    def make(self, settings: RefineSettings) -> NDArray[np.float32]:
        noise = np.random.default_rng(settings.seed).standard_normal((self.graph.nodes, settings.dim))
        share = 3.0 if all(getattr(settings, name) == value for name, value in self.good.items()) else 0.3
        group = np.eye(BLOCKS, settings.dim)[np.arange(self.graph.nodes) % BLOCKS]
        return (noise + share * group).astype(np.float32)


def test_what_is_better_is_found_and_what_is_hopeless_is_given_up(
    graph: Graph, labels: NDArray[np.int64], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphrefine.evaluate.tune.TrialVectors", Planted)
    tuning = tune(graph, labels, dims=[8])
    assert tuning.changes == {"quality": "fast", "negative": 5.0}
    assert tuning.score > tuning.default_score + 20
    monkeypatch.setattr(Planted, "good", {"negative": 1e9})  # nothing that is tried
    assert tune(graph, labels, dims=[8]).changes == {}
    monkeypatch.setattr(Planted, "good", {"filter": RefineSettings().filter})  # only the default's filter is any good
    tuning = tune(graph, labels, dims=[8])
    others = [trial for trial in tuning.trail if "filter" in trial.changes]
    assert others and all(trial.stopped and len(trial.scores) < judges.FOLDS for trial in others)
    assert tuning.changes == {}


@pytest.mark.parametrize("weighted", [False, True])
def test_work_that_trials_share_changes_no_bit(weighted: bool) -> None:
    source, target = edges_of_blocks().T
    weights = np.random.default_rng(2).uniform(0.5, 4, len(source)) if weighted else None
    graph = Graph.from_edges(source, target, weights, names=np.arange(BLOCKS * SIZE + 3))  # three without edges
    vectors, default = TrialVectors(graph, threads=1), RefineSettings(dim=16)
    candidates = [replace(default, **changes) for stage in plan_stages(graph, [16, 8]).values() for changes in stage]
    for settings in [default, *candidates, default]:
        expected = embed_graph(graph, settings, threads=1)[0].vectors
        np.testing.assert_array_equal(vectors.make(settings), expected)


def with_others(labels: Labels, rows: NDArray[np.int64], seed: int) -> Labels:
    """Other labels for some nodes, of which some are of a class of their own."""
    rng = np.random.default_rng(seed)
    indicator = np.column_stack([labels.indicator.toarray(), np.zeros(len(labels.names), bool)])
    indicator[rows] = False
    indicator[rows, rng.integers(0, indicator.shape[1], len(rows))] = True
    return replace(as_labels(indicator), classes=(*labels.classes, "new"))


@pytest.mark.parametrize("split_seed", [0, 3])
def test_labels_of_test_nodes_are_never_seen(graph: Graph, labels: NDArray[np.int64], split_seed: int) -> None:
    known = as_labels(labels)
    train, test, _ = make_split(len(labels), 0.5, repeat=0, seed=split_seed)
    first = tune(graph, known, train=0.5, split_seed=split_seed, dims=[8])
    changed = tune(graph, with_others(known, test, 7), train=0.5, split_seed=split_seed, dims=[8])
    assert trail(changed) == trail(first) and changed.best == first.best and changed.protocol == first.protocol
    named = tune(graph, known, train=train.tolist(), dims=[8])
    assert trail(named) == trail(first), "the part is that of evaluate labels"
    alone = Labels(known.names[train], known.indicator[train], known.classes, by_row=False, source="memory")
    assert trail(tune(graph, alone, dims=[8])) == trail(first), "labels that are not there cannot be seen"
    leaking = tune(graph, with_others(known, train[:10], 7), train=0.5, split_seed=split_seed, dims=[8])
    assert trail(leaking) != trail(first), "or the labels do not count at all"


def test_large_label_sets_are_sampled(graph: Graph, labels: NDArray[np.int64], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judges, "MOST_NODES", 60)
    monkeypatch.setattr(judges, "MOST_CLASSES", 2)
    judge = judges.make_label_judge(graph, as_labels(labels), train=None, split_seed=0, C=1.0, seed=0)
    assert judge.indicator.shape[1] == 2 and 20 <= len(judge.rows) <= 60
    assert judge.indicator.sum(axis=1).min() == 1


def test_the_penalty_is_chosen_once_for_all(graph: Graph, labels: NDArray[np.int64]) -> None:
    tuning = tune(graph, labels, dims=[8], C="cv")
    C = float(tuning.protocol.rpartition("C = ")[2])
    assert C in PENALTIES
    by_hand = {C: tune(graph, labels, dims=[8], C=C) for C in PENALTIES}
    assert trail(by_hand[C]) == trail(tuning)
    first_two = {C: sum(by.trail[0].scores[:2]) for C, by in by_hand.items()}
    assert first_two[C] == max(first_two.values()) > min(first_two.values())


def test_links_are_judged_without_the_edges_that_are_held_out(graph: Graph) -> None:
    judge = judges.make_link_judge(graph, seed=0)
    assert judge.graph.edges == graph.edges - round(graph.edges * judges.HELD_OUT)
    tuning = tune(graph, dims=[8])
    assert tuning.measure == "AUC"
    gain = tuning.score - tuning.default_score
    assert gain == 0 or gain > judge.least_gain(tuning.default_score)


def test_budgets_are_read_as_people_write_them() -> None:
    for given, seconds in {"60s": 60, "2 min": 120, "1h": 3600, ".5s": 0.5, "7": 7, 3: 3.0}.items():
        assert parse_seconds(given) == seconds
    wrong: list[Any] = ["", "soon", "0", "-5", "1 2", "60x", "s", "nan", "inf", 0, -1.0, True, None, "1m30s"]
    for given in wrong:
        with pytest.raises(InputError, match="budget="):
            parse_seconds(given)


def test_the_search_ends_where_the_next_trial_would_not_fit(
    graph: Graph, labels: NDArray[np.int64], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"budget=1e-05s is too small: one trial takes [\d.e-]+ s"):
        tune(graph, labels, budget=1e-5)
    whole = tune(graph, labels, dims=[8])
    left = iter([True, True, False])
    monkeypatch.setattr("graphrefine.evaluate.tune._Search.has_time", lambda self: next(left))
    part = tune(graph, labels, dims=[8])
    assert trail(part) == trail(whole)[:3] and not part.complete


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"labels": None, "train": 0.5}, "train=0.5"),
        ({"dims": []}, "dims="),
        ({"dims": [8, 8]}, "dims="),
        ({"dims": [500]}, "dim=500"),
        ({"seed": -1}, "seed=-1"),
        ({"train": 1.5}, "train=1.5"),
        ({"train": 0.05}, "6 training nodes"),
        ({"train": ["nobody"]}, "'nobody'"),
        ({"C": 0.0}, "C=0.0"),
        ({"labels": np.zeros(BLOCKS * SIZE, int)}, "one label"),
        ({"graph": np.eye(30, 20) + np.eye(30, 20, 1), "bipartite": True, "labels": None}, "bipartite"),
        ({"graph": Graph.from_edges(*edges_of_blocks().T, directed=True)}, "directed"),
    ],
)
def test_bad_input_is_refused(graph: Graph, labels: NDArray[np.int64], options: dict[str, Any], fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        tune(**{"graph": graph, "labels": labels, **options})


def test_settings_come_back_from_a_file(tmp_path: Path) -> None:
    settings = RefineSettings(dim=8, filter=(0.0, 1.0, 0.5), negative=5.0)
    write_config(tmp_path / "s.json", "refine", settings)
    method, options = read_config(tmp_path / "s.json")
    assert method == "refine" and RefineSettings(**options) == settings
    wrong: list[str | None] = ['{"dimm": 3}', '{"dim": "3"}', '{"dim": true}', '{"power": NaN}', '{"dim": 3, "dim": 4}']
    wrong += ['{"log_weights": 1}', '{"filter": ["a"]}', '{"method": ["refine"]}', "[1]", "{", None]
    for text in wrong:
        (tmp_path / "s.json").unlink() if text is None else (tmp_path / "s.json").write_text(text)
        with pytest.raises(FormatError, match=r"s\.json"):
            read_config(tmp_path / "s.json")


def test_the_command_writes_what_embed_takes(tmp_path: Path, labels: NDArray[np.int64]) -> None:
    edges, settings = write_csv(tmp_path / "g.csv", edges_of_blocks()), tmp_path / "s.json"
    known = tmp_path / "l.csv"
    known.write_text("node,label\n" + "".join(f"{node},{label}\n" for node, label in enumerate(labels)))
    done = works("tune", edges, "--labels", known, "--train", "0.6", "--dims", "8", "-o", settings, "--json").figures
    direct = tune(graphrefine.read(edges), str(known), train=0.6, dims=[8])
    assert done["best"] == json.loads(json.dumps(direct.to_dict()["best"]))
    assert done["changes"] == json.loads(json.dumps(direct.changes))
    assert [trial["score"] for trial in done["trail"]] == [trial.score for trial in direct.trail]
    works("embed", edges, "--config", settings, "-o", tmp_path / "v.npy")
    made = direct.embed(graphrefine.read(edges))
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), made.vectors)
    works("embed", edges, "--config", settings, "--dim", "4", "--set", "seed=9", "-o", tmp_path / "w")
    recipe = graphrefine.load(tmp_path / "w").recipe
    assert (recipe["dim"], recipe["seed"]) == (4, 9)
    lines = works("tune", edges, "--dims", "8", "--budget", "1m").out.splitlines()
    assert lines[1].split()[:2] == ["1", "default"] and lines[-1].startswith("best: ")
    refuses("tune", edges, "--train", "0.5", folder=tmp_path, expected=("--train 0.5",))
    refuses("tune", edges, "-o", "no/such/place.json", folder=tmp_path, expected=("no/such",))
