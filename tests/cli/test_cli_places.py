"""No command replaces what it reads: every input of every command, under every name that it has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from graphrefine.cli.places import INPUTS, input_params

from cli_runs import contents, refuses, works
from graphrefine.cli.commands import cli
from graphrefine.embedding.embedding import load

Words = list[str]

NO_INPUTS = {  # what --help calls values that name nothing to read
    "A", "ADDRESS", "AMOUNT", "B", "C", "CHAR", "CHARS", "COLUMN", "COSINE", "COPY", "DIR", "FINGERPRINT", "K", "K,K,",
    "LABEL", "LAMBDA", "N", "NAME", "NAMES", "NODE", "N|none", "OUT", "PART", "Q", "R,R,", "SECONDS", "SETTING=VALUE",
    "SHARE", "SIZE", "T", "TEXT", "TIME", "X", "A,B,",
}  # fmt: skip


def _list_commands(group: click.Group = cli, words: tuple[str, ...] = ()) -> Iterator[tuple[Words, click.Command]]:
    """Every command that has an output, with the words that call it."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _list_commands(command, (*words, name))
        elif any(each.name == "output" for each in command.params):
            yield [*words, name], command


WRITERS = list(_list_commands())
CASES = [
    pytest.param(words, command, each, id=f"{'-'.join(words)}:{each.name}")
    for words, command in WRITERS
    for each in input_params(command)
]


def _make_call(words: Words, command: click.Command, read: click.Parameter, *, place: Path, output: Path) -> Words:
    """A call whose parameter ``read`` names a place, and whose other required ones name a file that is another."""
    values = {each: "other" for each in command.params if each.required or each is read}
    values |= {read: str(place)} | {each: str(output) for each in command.params if each.name == "output"}
    options = [f"{each.opts[-1]}={value}" for each, value in values.items() if isinstance(each, click.Option)]
    arguments = [values[each] for each in command.params if isinstance(each, click.Argument) and each in values]
    return [*words, *options, *arguments]


@pytest.mark.parametrize(("words", "command", "read"), CASES)
def test_an_output_that_is_an_input_is_refused(
    words: Words, command: click.Command, read: click.Parameter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place, folder = tmp_path / "x.csv", tmp_path / "folder"
    place.write_text("a,b\n")
    folder.mkdir()
    (folder / "part.csv").write_text("a,b\n")
    (tmp_path / "other").write_text("c,d\n")
    (tmp_path / "link.csv").symlink_to(place)
    (tmp_path / "way").symlink_to(folder)
    os.link(place, tmp_path / "twin.csv")
    same, inside, outside = "is an input", "is a part of", "holds"
    for source, output, problem in (
        (place, place, same),
        (Path("x.csv"), place, same),
        (Path("folder/../x.csv"), Path("x.csv"), same),
        (place, tmp_path / "link.csv", same),
        (tmp_path / "link.csv", place, same),
        (place, tmp_path / "twin.csv", same),
        (folder, tmp_path / "way", same),
        (folder, tmp_path / "way" / "part.csv", inside),
        (tmp_path / "way" / "part.csv", folder, outside),
    ):
        if read.name == "align_to" and problem == same:
            continue  # the output is a newer version of it
        call = _make_call(words, command, read, place=source, output=output)
        expected = (f"{output}: {problem}", "and would be replaced; choose another --output")
        refuses(*call, folder=tmp_path, expected=expected)


def test_all_commands_and_inputs_are_tested() -> None:
    ids = {str(case.id) for case in CASES}
    assert {
        "embed:graph", "embed:nodes", "embed:features", "embed:align_to", "embed:config", "fold-in:edges",
        "fold-in:old",
        "map:embedding", "map:labels", "ingest:edges", "ingest:nodes", "tune:graph", "tune:labels", "compare:graph",
        "compare:labels", "reproduce:data", "live-create:graph", "live-export:folder", "live-backup:folder",
        "predict-labels:embedding", "predict-labels:labels", "predict-links:graph", "split:graph", "split:nodes",
        "neighbors:embedding", "neighbors:listed", "neighbors:vectors", "neighbors:labels", "neighbors:unlinked",
        "communities:embedding", "communities:graph", "duplicates:embedding", "duplicates:graph", "drift:old",
        "drift:new",
    } <= ids  # fmt: skip
    assert [words for words, command in WRITERS if not list(input_params(command))] == [["demo"]]
    metavars = {(each.metavar or "").strip("[].") for _, command in WRITERS for each in command.params}
    assert metavars - INPUTS - NO_INPUTS == {""}, "is it a file that is read (INPUTS), or not (NO_INPUTS)?"


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
        (("E/vectors.npy", "E"), "holds"),
        (("x.npz", "x.npz", "--to", "npy"), "is an input"),
    ):
        source, target, *options = call
        expected = (f"{target}: {problem}", "would be replaced; choose another name")
        refuses("convert", tmp_path / source, tmp_path / target, *options, folder=tmp_path, expected=expected)
    assert contents(tmp_path) == before
