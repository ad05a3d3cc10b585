"""How a graph was read: every command that reads one says it in one line."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli_runs import ring_of_cliques, works
from graphrefine.cli.commands import cli

COMMANDS: dict[str, tuple[str, ...]] = {
    "embed": ("-o", "out", "--dim", "4"),
    "ingest": ("-o", "stored"),
    "compare": ("--labels", "labels.csv", "--methods", "refine", "--dims", "4", "--repeats", "2"),
    "tune": ("--labels", "labels.csv", "--dims", "4", "--budget", "1s"),
    "evaluate links": ("--dim", "4"),
    "evaluate reconstruction": ("--dim", "4"),
    "predict links": ("--top", "5"),
    "split": ("-o", "parts"),
    "live create": ("-o", "calls.live", "--dim", "4"),
}
ELSEWHERE = {
    "info": "the line is a row of its table, see below",
    "fold-in": "see test_fold_in.py",
    "explore": "see test_explore_command.py",
    "duplicates": "the graph is an option, see below",
    "communities": "the graph is an option, see below",
    "check": "the graph is an option, see below",
}
READING = (
    "read: csv with a header; edges 'caller' - 'callee', undirected; no weights; not used: 'city'; "
    "self-loops left out: 1"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    edges = ring_of_cliques().tolist()
    rows = [("caller", "callee", "city"), *((f"n{u}", f"n{v}", f"in {u % 3}") for u, v in edges), ("n3", "n3", "in 0")]
    (tmp_path / "calls.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(f"n{node},{node // 5}\n" for node in range(20)))
    return tmp_path


def readers(group: click.Group, above: str = "") -> Iterator[str]:
    """The commands with options of reading a graph."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from readers(command, f"{above}{name} ")
        elif {"source", "target", "delimiter"} <= {option.name for option in command.params}:
            yield above + name


def test_no_command_is_forgotten() -> None:
    assert sorted(readers(cli)) == sorted({*COMMANDS, *ELSEWHERE})


@pytest.mark.parametrize("command", COMMANDS)
def test_the_line_is_the_first_and_json_has_it(folder: Path, command: str) -> None:
    done = works(*command.split(), folder / "calls.csv", *COMMANDS[command])
    lines = done.err.splitlines()
    assert lines[0] == READING
    assert [line for line in lines[1:] if line.startswith("read: ") or "self-loops" in line] == []
    assert "read: " not in done.out
    shutil.rmtree(folder / "calls.live", ignore_errors=True)  # which is not replaced
    figures = works(*command.split(), folder / "calls.csv", *COMMANDS[command], "--json").figures
    assert figures["reading"] == READING.removeprefix("read: ")


@pytest.mark.parametrize("command", ["duplicates", "communities", "check"])
def test_commands_with_an_optional_graph_have_it(folder: Path, command: str) -> None:
    works("embed", folder / "calls.csv", "-o", "out", "--dim", "4")
    done = works(command, "out", "--graph", folder / "calls.csv")
    assert [line for line in done.err.splitlines() if line.startswith("read: ")] == [READING]
    figures = works(command, "out", "--graph", folder / "calls.csv", "--json").figures
    assert figures["reading"] == READING.removeprefix("read: ")


def test_info_has_it_in_its_table_and_labels_have_a_line_below(folder: Path) -> None:
    done = works("info", folder / "calls.csv")
    (row,) = [line for line in done.out.splitlines() if line.split()[0] == "read"]
    assert row.split(maxsplit=1) == READING.split(": ", 1)
    assert done.err == ""
    figures = works("info", folder / "calls.csv", "--json").figures
    assert figures["reading"] == READING.removeprefix("read: ")
    for command in ("compare", "tune"):
        done = works(command, folder / "calls.csv", *COMMANDS[command])
        assert done.err.splitlines()[1] == (
            "labels: labels.csv, header, nodes 'node', labels 'label' (4 classes), 20 of 20 nodes labeled"
        )
