"""`graphrefine info`, `convert`, `evaluate labels` and `demo`, and the help of every command."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

import graphrefine
from cli_runs import check_refused, contents, refuses, ring_of_cliques, run, spawn, works, write_csv
from graphrefine import __version__
from graphrefine.cli.commands import cli
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.evaluate import evaluate_labels

EDGES = ring_of_cliques()


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "edges.csv", EDGES)


# info


@pytest.mark.parametrize("directed", [False, True])
def test_info_counts_what_numpy_counts(tmp_path: Path, directed: bool) -> None:
    rng = np.random.default_rng(0)
    listed = rng.integers(0, 60, (100, 2))
    weights = rng.integers(2, 9, 100)
    path = write_csv(tmp_path / "g.csv", np.column_stack([listed, weights]))
    options = ["--nodes", "65", *(["--directed"] if directed else [])]
    figures = works("info", path, *options, "--json").figures

    matrix = np.zeros((65, 65))
    np.add.at(matrix, tuple(listed.T), weights)
    np.fill_diagonal(matrix, 0)
    if not directed:
        matrix = np.maximum(matrix, matrix.T)
    components, member_of = connected_components(sp.csr_array(matrix), directed=directed, connection="weak")
    counts = (matrix > 0).sum(axis=1)
    linked = matrix[matrix > 0]
    assert figures["nodes"] == 65 and figures["directed"] is directed and figures["weighted"] is True
    assert figures["edges"] == len(linked) // (1 if directed else 2)
    assert figures["isolated"] == int((matrix + matrix.T == 0).all(axis=1).sum()) > 4
    assert figures["weights"] == {"min": linked.min(), "max": linked.max()}
    assert figures["components"] == components
    assert figures["largest_component"] == np.bincount(member_of).max()
    quantiles = {f"{q:g}": np.quantile(counts, q) for q in (0, 0.25, 0.5, 0.75, 0.9, 0.99, 1)}
    assert figures["degree_quantiles"] == pytest.approx(quantiles)
    assert figures["records"] == 100
    assert figures["self_loops"] == int((listed[:, 0] == listed[:, 1]).sum())
    predicted = figures["predicted"]
    assert predicted["dim"] == (64 if directed else 65)
    assert predicted["compute_seconds"] > 0 and 10 < predicted["peak_mb"] < 2000


def test_info_for_a_person(edges: Path) -> None:
    done = works("info", edges, "--nodes", "22", "--threads", "1", "--dim", "4")
    lines = dict(re.split(" {2,}", line.strip(), maxsplit=1) for line in done.out.splitlines())
    assert lines["graph"] == str(edges)
    assert lines["nodes"] == "22 (2 isolated)"
    assert lines["edges"] == f"{len(EDGES)} undirected"
    assert lines["weights"] == "none"
    assert lines["components"] == "3, the largest of 20 nodes"
    assert lines["degree"].startswith("0%: 0, 25%: 4, 50%: 4, ") and lines["degree"].endswith("100%: 5")
    cost = r"dim 4 takes about .* on 1 thread and [0-9,]+ MB, reading and writing aside"
    assert re.fullmatch(cost, lines["embedding"])
    assert done.err == "note: nodes without edges, their vectors zero: 2\n"


# convert


def test_convert_tells_what_it_wrote_and_what_it_lost(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    Embedding(["ann", "bob", "007", "d-é"], vectors, {"seed": 4}).save(tmp_path / "start")
    done = works("convert", tmp_path / "start", tmp_path / "x.csv")
    assert done.err == "" and "x.csv: 4 nodes x 3" in done.out
    done = works("convert", tmp_path / "x.csv", tmp_path / "x.npy")
    assert done.err.startswith("warning: a .npy file holds vectors only") and done.err.count("\n") == 1
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), vectors)


def test_convert_writes_underscores_for_blanks_where_asked_for(tmp_path: Path) -> None:
    Embedding(["ada", "bob b"], [[1, 2], [3, 4]]).save(tmp_path / "x.npz")
    typed = ("convert", tmp_path / "x.npz", tmp_path / "x.vec")
    refuses(*typed, folder=tmp_path, expected=("'bob b'", "--blank-names 'replace'"))
    done = works(*typed, "--blank-names", "replace")
    assert "underscores in 1 names" in done.err
    assert (tmp_path / "x.vec").read_text() == "2 2\nada 1 2\nbob_b 3 4\n"


# evaluate labels


@pytest.fixture(scope="module")
def labeled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an embedding of eight cliques, and the clique of each node as table and as matrix."""
    folder = tmp_path_factory.mktemp("labeled")
    cliques = ring_of_cliques(8, 10)
    embedding = graphrefine.embed(cliques, dim=8)
    embedding.save(folder / "vectors")
    clique = np.arange(80) // 10
    (folder / "labels.csv").write_text("node,label\n" + "".join(f"{i},c{c}\n" for i, c in enumerate(clique)))
    scipy.io.savemat(folder / "labels.mat", {"group": sp.csr_array(np.eye(8)[clique]), "other": np.ones(3)})
    return folder


def test_labels_from_table_and_matrix(labeled: Path) -> None:
    options = ["--ratios", "0.3,0.7", "--repeats", "3", "--C", "10", "--seed", "1", "--json"]
    table = works("evaluate", "labels", labeled / "vectors", labeled / "labels.csv", *options).figures
    matrix = works("evaluate", "labels", labeled / "vectors", labeled / "labels.mat", *options).figures
    assert table["ratios"] == matrix["ratios"]
    assert table["ratios"][1]["micro_f1"]["mean"] > 95, "cliques are easy"
    again = evaluate_labels(
        load(labeled / "vectors"), labeled / "labels.csv", ratios=(0.3, 0.7), repeats=3, C=10, seed=1
    )
    assert table == {"embedding": str(labeled / "vectors"), **again.to_dict()}


def test_the_defaults_are_the_papers(labeled: Path) -> None:
    done = works("evaluate", "labels", labeled / "vectors", labeled / "labels.csv")
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[:6]] == ["train", "10%", "30%", "50%", "70%", "90%"]
    assert "C = 1, 10 random splits a ratio, seed 0" in lines[6]
    assert "nodes without labels left out (0)" in lines[6]
    reading = "header, nodes 'node', labels 'label' (8 classes), 80 of 80 nodes labeled"
    assert done.err == f"labels: {labeled / 'labels.csv'}, {reading}\n"


def test_columns_and_header_of_labels(labeled: Path, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    rows = (labeled / "labels.csv").read_text().splitlines()[1:]
    path.write_text("who,year,area\n" + "".join(f"{row.replace(',', ',2001,')}\n" for row in rows))
    options = ("--repeats", "2", "--ratios", "0.5", "--json")
    expected = works("evaluate", "labels", labeled / "vectors", labeled / "labels.csv", *options).figures
    command = ("evaluate", "labels", labeled / "vectors", path, *options)
    done = works(*command, "--label-column", "area")
    assert done.figures["ratios"] == expected["ratios"]
    reading = f"{path}, header, nodes 'who', labels 'area' (8 classes), 80 of 80 nodes labeled"
    assert done.figures["labels_reading"] == reading
    by_place = works(*command, "--node-column", "0", "--label-column", "2", "--labels-header").figures
    assert by_place["ratios"] == expected["ratios"]
    columns = "'who', 'year', 'area'"
    refuses(*command, folder=labeled, expected=("wide.csv, line 1: ", columns, "--label-column"))
    refuses(*command, "--label-column", "x", folder=labeled, expected=("'x'", "--label-column", columns))


def test_a_header_that_nothing_decides_is_refused_with_both_options(labeled: Path, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("wer,was\nzoe,x\nyan,y\n0,z\n")
    ways_out = ("line 1: ", "'wer', 'was'", "(--labels-header/--no-labels-header)")
    refuses("evaluate", "labels", labeled / "vectors", path, folder=labeled, expected=ways_out)
    graph = tmp_path / "graph.csv"
    graph.write_text("".join(f"{i},{i + 1}\n" for i in range(9)))
    refuses("tune", graph, "--labels", path, folder=labeled, expected=ways_out)
    refuses("tune", graph, "--labels-header", folder=labeled, expected=("--labels-header is for --labels",))
    vectors = labeled / "vectors"
    done = works("neighbors", vectors, "1", "--labels", path, "--label", "z", "--no-labels-header", "--json")
    assert [near["node"] for near in done.figures["results"][0]["neighbors"]] == [0]
    assert done.figures["labels_reading"].endswith("no header, nodes in column 0, labels in column 1 (4 classes), "
                                                   "1 of 80 nodes labeled, 3 labeled nodes unknown")  # fmt: skip
    assert done.err == f"labels: {done.figures['labels_reading']}\n"
    refuses(
        "neighbors", vectors, "1", "--label-column", "x", folder=labeled, expected=("--label-column is for --labels",)
    )
    picture = tmp_path / "map.svg"
    done = works("map", vectors, "--labels", labeled / "labels.csv", "-o", picture, "--json")
    assert "80 of 80 nodes labeled" in done.figures["labels_reading"]


# demo


def test_demo_beats_its_control_and_draws_a_map(tmp_path: Path) -> None:
    figures = works("demo", "-o", tmp_path / "a" / "b", "--json").figures
    scores = {name: score["micro_f1"] for name, score in figures["scores"].items()}
    assert (figures["nodes"], figures["dim"], figures["seed"]) == (1797, 64, 0)
    assert scores["REFINE"] > 93 and scores["random control"] < 15
    assert figures["map"] == str(tmp_path / "a" / "b" / "map.png")
    assert Path(figures["map"]).read_bytes().startswith(b"\x89PNG") and Path(figures["map"]).stat().st_size > 20_000
    assert list(contents(tmp_path)) == ["a", "a/b", "a/b/map.png"]


def test_demo_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrefine.display.plots.can_draw", lambda: False)
    done = works("demo", "-o", tmp_path / "x")
    assert re.search(r"REFINE +9\d\.\d +9\d\.\d\n", done.out) and "map" not in done.out
    assert 'pip install "graphrefine[plot]"' in done.err
    assert contents(tmp_path) == {}


def test_demo_finds_a_bad_folder_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrefine.datasets.digits.digits_graph", None)
    (tmp_path / "file").write_text("")
    refuses("demo", "-o", tmp_path / "file" / "x", folder=tmp_path, expected=("cannot be made a folder",))
    check_refused(run("demo", "-o", "/proc/x"), "/proc", "cannot be made a folder")


# help and usage


def _commands(group: click.Group, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    found: dict[tuple[str, ...], click.Command] = {}
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found |= _commands(command, (*path, name))
        found[(*path, name)] = command
    return found


COMMANDS = _commands(cli)


@pytest.mark.parametrize("path", COMMANDS)
def test_help_lists_every_option_and_first_the_four_that_matter(path: tuple[str, ...]) -> None:
    done = works(*path, "--help")
    assert done.err == "" and done.out.startswith(f"Usage: graphrefine {' '.join(path)} ")
    assert all(len(line) <= 80 for line in done.out.splitlines())
    command = COMMANDS[path]
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert all(
        each.help and spelling in done.out for each in options for spelling in (*each.opts, *each.secondary_opts)
    )
    if isinstance(command, click.Group) or len(options) <= 4:
        return
    first = [each.opts[0] for name in command.first for each in options if each.name == name]  # type: ignore[attr-defined]
    lines = done.out.partition("\nMain options:\n")[2].splitlines()
    listed = [line.split()[0].rstrip(",") for line in lines[: lines.index("")] if line.startswith("  -")]
    assert listed == first and len(first) == 4


def test_usage_and_completion() -> None:
    assert works("--version").out == f"graphrefine, version {__version__}\n"
    assert works().out == works("--help").out, "no command: the help"
    listed = works().out.split("Commands:")[1].strip().split("\n")
    assert [line.split()[0] for line in listed] == list(cli.commands)
    asked = {"_GRAPHREFINE_COMPLETE": "bash_complete", "COMP_WORDS": "graphrefine em", "COMP_CWORD": "1"}
    done = spawn(env=asked)
    assert (done.code, done.out) == (0, "plain,embed\n")


def test_a_bug_shows_its_traceback(tmp_path: Path, edges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> NDArray[Any]:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("graphrefine.pipeline.embed_run.EmbedRun.embed", broken)
    with pytest.raises(ZeroDivisionError):
        run("embed", edges, "-o", tmp_path / "out")
