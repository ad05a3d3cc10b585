"""The options of reading are listed once, in `ReadOptions`: all others agree with that list."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import click
import pytest

import graphrefine
from graphrefine.cli.options import READING, THREADS, Option
from graphrefine.errors import InputError
from graphrefine.readers.options import ReadKeywords, ReadOptions


@pytest.mark.parametrize("function", [graphrefine.read, graphrefine.ingest])
def test_signatures_list_every_option_with_its_default(function: Any) -> None:
    keywords = inspect.signature(function).parameters
    listed = {name: each.default for name, each in keywords.items() if each.kind is each.KEYWORD_ONLY}
    listed.pop("memory", None)
    assert listed == {each.name: each.default for each in fields(ReadOptions)}


def test_a_keyword_that_is_no_option_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="wieght"):
        graphrefine.read("edges.csv", wieght="cost")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="wieght"):
        graphrefine.ingest("edges.csv", tmp_path / "edges.grf", wieght="cost")  # type: ignore[call-arg]


def test_keywords_have_the_types_of_the_options() -> None:
    options, keywords = get_type_hints(ReadOptions), get_type_hints(ReadKeywords)
    assert list(options) == list(keywords)
    with_none = {each.name: options[each.name] | None for each in fields(ReadOptions) if isinstance(each.default, str)}
    assert {**options, **with_none} == keywords


@pytest.mark.parametrize("function", [graphrefine.read, graphrefine.ingest])
def test_docstrings_name_every_option(function: Any) -> None:
    lines = str(function.__doc__).split("Parameters\n")[1].split("Examples\n")[0].split("\n")
    named = {name for line in lines if re.match(r" {4}\S", line) for name in line.strip().split(", ")}
    assert {each.name for each in fields(ReadOptions)} <= named


def test_command_line_takes_every_option_with_its_default_and_help() -> None:
    options: dict[str, Option] = {str(option.name): option for option in (*READING, THREADS)}
    assert list(options) == [each.name for each in fields(ReadOptions)]
    for each in fields(ReadOptions):
        option = options[each.name]
        context = click.Context(click.Command("read", params=[option]))
        help_record = option.get_help_record(context)
        assert option.get_default(context) == each.default and help_record is not None
        assert str(option.help).startswith(each.metadata["help"].removesuffix("."))
        default = each.metadata["otherwise"] or each.default
        assert (f"[default: {default}]" in help_record[1]) == (default is not False), help_record


EDGES = "a,b\n1,2\n2,3\n"
MATRIX = ",a,b,c\na,0,1,2\nb,1,0,0\nc,2,0,0\n"


@pytest.mark.parametrize(
    ("text", "options", "argument"),
    [
        (EDGES, {"format": "doc"}, "format"),
        (EDGES, {"comments": "\u00a7"}, "comments"),
        (EDGES, {"variable": "x"}, "variable"),
        (EDGES, {"threads": 0}, "threads"),
        (EDGES, {"directed": True, "bipartite": True}, "directed"),
        (MATRIX, {"time": "when"}, "time"),
    ],
)
def test_errors_name_the_argument(text: str, options: dict[str, Any], argument: str, tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        graphrefine.read(path, **options)
    assert caught.value.argument == argument
