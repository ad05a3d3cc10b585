"""No command replaces what it reads, under whatever name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli_runs import contents, refuses, works
from graphrefine.cli.commands import cli
from graphrefine.cli.options import check_not_input
from graphrefine.embedding.embedding import load
from graphrefine.errors import OutputError

CALLS = (  # IN is the input that the output would replace; other is another file
    "embed IN", "embed other --nodes IN", "embed other --features IN", "embed other --config IN",
    "fold-in IN --into other", "fold-in other --into IN", "map IN", "map other --labels IN", "ingest IN",
    "ingest other IN", "ingest other --nodes IN", "tune IN", "tune other --labels IN", "compare IN",
    "compare other --labels IN", "live create IN", "live export IN", "live backup IN", "predict labels IN other",
    "predict labels other IN", "predict links IN", "predict links other --nodes IN", "split IN",
    "split other --nodes IN", "neighbors IN ann", "neighbors other --from IN", "neighbors other --vectors IN",
    "neighbors other ann --labels IN", "neighbors other ann --exclude-linked IN", "communities IN",
    "communities other --graph IN", "duplicates IN", "duplicates other --graph IN", "drift IN other", "drift other IN",
)  # fmt: skip
NO_INPUT = {"demo"}


def _list_writers(group: click.Group = cli, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Every command that has an output, with the words that call it."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _list_writers(command, (*words, name))
        elif any(each.name == "output" for each in command.params):
            yield " ".join((*words, name))


def test_every_command_that_writes_is_tested() -> None:
    assert {name for name in _list_writers() if not any(call.startswith(f"{name} ") for call in CALLS)} == NO_INPUT


@pytest.mark.parametrize("call", CALLS)
def test_an_output_that_is_an_input_is_refused(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("a,b\n")
    Path("other").write_text("c,d\n")
    words = [*call.replace("IN", "x.csv").split(), "-o", str(tmp_path / "x.csv")]
    refuses(*words, folder=tmp_path, expected=("x.csv: is an input", "would be replaced"))


def test_links_and_folders_are_seen_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("a,b\n")
    Path("folder").mkdir()
    Path("folder/part.csv").write_text("a,b\n")
    Path("link.csv").symlink_to("x.csv")
    Path("way").symlink_to("folder")
    os.link("x.csv", "twin.csv")
    for source, output, problem in (
        ("folder/../x.csv", "x.csv", "is an input"),
        ("x.csv", "link.csv", "is an input"),
        ("link.csv", "x.csv", "is an input"),
        ("x.csv", "twin.csv", "is an input"),
        ("folder", "way", "is an input"),
        ("folder", "way/part.csv", "is a part of folder"),
        ("way/part.csv", "folder", "contains way/part.csv"),
    ):
        with pytest.raises(OutputError, match=f"^{output}: {problem}"):
            check_not_input(output, [None, "-", source])
    check_not_input("new", ["x.csv", "folder", "missing", "a\0b", "x" * 300])


def test_outputs_beside_inputs_are_written(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("a,b\nb,c\nc,a\n")
    for _ in range(2):  # the second time, all outputs are there
        works("ingest", tmp_path, "-o", tmp_path / "g.grf")
        works("embed", tmp_path / "g.csv", "-o", tmp_path / "E", "--dim", "2")
        works("drift", tmp_path / "E", tmp_path / "E", "-o", tmp_path / "E.tsv")
    works("convert", tmp_path / "E", tmp_path / "E")  # the same vectors
    works("embed", tmp_path / "g.csv", "-o", tmp_path / "E", "--align-to", tmp_path / "E")  # newer ones
    (tmp_path / "new.csv").write_text("d,a\n")
    works("fold-in", tmp_path / "new.csv", "--into", tmp_path / "E", "-o", tmp_path / "E", "--extend")  # and more
    assert load(tmp_path / "E").names.tolist() == ["a", "b", "c", "d"]
    works("convert", tmp_path / "E", tmp_path / "E.parquet")


def test_convert_replaces_nothing_by_less(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("a,b\nb,c\nc,a\n")
    works("embed", tmp_path / "g.csv", "-o", tmp_path / "E", "--dim", "2")
    works("convert", tmp_path / "E", tmp_path / "x.npz")
    before = contents(tmp_path)
    for call, problem in (
        (("E", "E/vectors.npy"), "is a part of"),
        (("E/vectors.npy", "E"), "contains"),
        (("x.npz", "x.npz", "--to", "npy"), "is an input"),
    ):
        source, target, *options = call
        expected = (f"{target}: {problem}", "would be replaced")
        refuses("convert", tmp_path / source, tmp_path / target, *options, folder=tmp_path, expected=expected)
    assert contents(tmp_path) == before
