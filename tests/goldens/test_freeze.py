"""What is read and offered is what was recorded, but for the differences that ``intended.json`` lists with a reason.

``freeze.py`` says more; ``PYTHONPATH=tests python -m goldens.freeze`` prints the differences alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graphrefine
from goldens import freeze

RECORDED: dict[str, Any] = {"a/1": {"graph": "00"}, "a/2": {"error": "FormatError"}, "b/1": {"graph": "11"}}
KNOWN = set(RECORDED)


def compare(found: dict[str, Any], intended: dict[str, str], *, whole: bool = True) -> freeze.Report:
    return freeze.compare(RECORDED, found, KNOWN | set(found), intended, whole=whole)


def test_all_is_as_recorded() -> None:
    report = freeze.check(workers=1)
    assert report.is_good, str(report)


def test_ids_of_the_record_are_sorted_and_of_every_group() -> None:
    names = list(freeze.load_table(freeze.READINGS))
    assert names == sorted(names)
    groups = ("corpus/", "fuzz/", "docs/", "old/", *(f"tables/{kind}/" for kind in freeze.TABLES))
    counts = {group: sum(name.startswith(group) for name in names) for group in groups}
    assert all(counts.values())
    assert {kind: counts[f"tables/{kind}/"] for kind in freeze.TABLES} == freeze.TABLES


def test_reasons_are_one_line_each() -> None:
    for entry, reason in freeze.load_table(freeze.INTENDED).items():
        assert reason.strip() and "\n" not in reason, entry


def test_the_record_of_the_same_is_good() -> None:
    report = compare(dict(RECORDED), {})
    assert report.is_good and str(report) == "differences: 0 unexpected, 0 intended, 0 stale"


def test_a_changed_digest_is_reported() -> None:
    report = compare({**RECORDED, "a/1": {"graph": "01"}}, {})
    assert [each.id for each in report.unexpected] == ["a/1"] and not report.is_good
    assert 'DIFFERENT a/1\n  before {"graph":"00"}\n  now    {"graph":"01"}' in str(report)


def test_cases_that_came_or_went_are_reported() -> None:
    report = freeze.compare(RECORDED, {"a/1": RECORDED["a/1"], "c": 1}, {"a/1", "a/2", "c"}, {}, whole=True)
    assert [(each.id, each.before, each.after) for each in report.unexpected] == [
        ("b/1", RECORDED["b/1"], freeze.ABSENT),
        ("c", freeze.ABSENT, 1),
    ]


@pytest.mark.parametrize("entry", ["a/1", "a/*", "*"])
def test_a_listed_difference_is_intended(entry: str) -> None:
    report = compare({**RECORDED, "a/1": {"graph": "01"}}, {entry: "better"})
    assert report.is_good and [each.id for each in report.expected] == ["a/1"]


@pytest.mark.parametrize("entry", ["a/2", "b/*", "no such case"])
def test_a_listed_difference_that_is_not_there_is_reported(entry: str) -> None:
    report = compare(dict(RECORDED), {entry: "better"})
    assert report.stale == [entry] and not report.is_good
    assert f"STALE {entry}" in str(report)


def test_a_check_of_a_part_leaves_groups_alone() -> None:
    intended = {"a/1": "ran", "a/2": "did not run", "a/*": "may be of others", "gone": "no case"}
    assert compare({"a/1": RECORDED["a/1"]}, intended, whole=False).stale == ["a/1"]


def test_a_case_that_cannot_be_run_here_is_no_difference() -> None:
    report = compare({**RECORDED, "a/1": None}, {})
    assert report.is_good and report.skipped == ["a/1"]


def test_graphs_are_told_apart() -> None:
    def read(*edges: tuple[Any, ...], **options: Any) -> Any:
        return freeze.describe_graph(graphrefine.read(list(edges), **options))["graph"]

    same = read(("a", "b"), ("b", "c"))
    assert same == read(("b", "c"), ("a", "b"))
    others = [
        read((1, 2), (2, 3)),
        read(("a", "b"), ("a", "c")),
        read(("a", "b", 2.0), ("b", "c", 1.0)),
        read(("a", "b"), ("b", "c"), directed=True),
        read(("a", "b"), ("b", "c"), bipartite=True),
        read(("a", "b"), ("b", "c"), nodes=["d"]),
        read(("a", "b"), ("b", "d")),
    ]
    assert len({same, *others}) == 8


def test_the_program_exits_with_1_where_something_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = freeze.load_table(freeze.READINGS)
    only = "corpus/None"
    assert freeze.main(["--only", only, "--workers", "1"]) == 0
    tables: dict[str, dict[str, Any]] = {
        freeze.READINGS: {**recorded, only: {"graph": "changed"}},
        freeze.SURFACE: {},
        freeze.INTENDED: {},
    }
    for name, table in tables.items():
        (tmp_path / name).write_text(freeze.write_table(table), encoding="utf-8")
    monkeypatch.setattr(freeze, "HERE", tmp_path)
    monkeypatch.setattr(freeze, "list_cases", freeze.list_corpus_cases)
    assert freeze.main(["--check", "--only", only, "--workers", "1"]) == 1
    assert "DIFFERENT corpus/None" in capsys.readouterr().out
    (tmp_path / freeze.INTENDED).write_text(json.dumps({only: "a test"}), encoding="utf-8")
    assert freeze.main(["--only", only, "--workers", "1"]) == 0
