"""What is read and offered is what was recorded, but for the differences that ``intended.json`` lists with a reason.

``freeze.py`` says more; ``PYTHONPATH=tests python -m goldens.freeze`` prints the differences alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldens import freeze, freeze_readings, freeze_surface

RECORDED: dict[str, Any] = {"a/1": {"graph": "00"}, "a/2": {"error": "FormatError"}, "b/1": {"graph": "11"}}


def compare(found: dict[str, Any], intended: dict[str, str], *, whole: bool = True) -> freeze.Report:
    return freeze.compare(RECORDED, {**RECORDED, **found}, intended, whole=whole)


def test_all_is_as_recorded() -> None:
    report = freeze.check()
    assert report.is_good, str(report)


def test_the_record_has_every_group_and_reasons_are_one_line_each() -> None:
    for table, groups in ((freeze.READINGS, freeze_readings.GROUPS), (freeze.SURFACE, freeze_surface.GROUPS)):
        names = list(freeze.load_table(table))
        assert names == sorted(names)
        assert {f"{name.partition('/')[0]}/" for name in names} == set(groups)
    for entry, reason in freeze.load_table(freeze.INTENDED).items():
        assert reason.strip() and "\n" not in reason, entry


@pytest.mark.parametrize(
    ("found", "intended", "unexpected", "expected", "stale"),
    [
        ({}, {}, [], [], []),
        ({"a/1": {"graph": "01"}}, {}, ["a/1"], [], []),
        ({"c": 1}, {}, ["c"], [], []),
        ({"a/1": None}, {}, [], [], []),
        *(({"a/1": {"graph": "01"}}, {entry: "better"}, [], ["a/1"], []) for entry in ("a/1", "a/*", "*")),
        *(({}, {entry: "better"}, [], [], [entry]) for entry in ("a/2", "b/*", "no such case")),
    ],
)
def test_differences_are_reported_once(
    found: dict[str, Any], intended: dict[str, str], unexpected: list[str], expected: list[str], stale: list[str]
) -> None:
    report = compare(found, intended)
    assert [each.id for each in report.unexpected] == unexpected
    assert [each.id for each in report.expected] == expected
    assert report.stale == stale and report.is_good == (not unexpected and not stale)
    assert report.skipped == [name for name, value in found.items() if value is None]
    assert all(f"DIFFERENT {name}" in str(report) for name in unexpected)


def test_a_case_that_went_is_a_difference_and_a_check_of_a_part_leaves_groups_alone() -> None:
    intended = {"a/1": "ran", "a/2": "did not run", "a/*": "may be of others", "gone": "no case"}
    (gone,) = freeze.compare(RECORDED, {name: RECORDED[name] for name in ("a/1", "a/2")}, {}, whole=True).unexpected
    assert (gone.id, gone.before, gone.after) == ("b/1", RECORDED["b/1"], freeze.ABSENT)
    part = {"a/1": RECORDED["a/1"]}
    assert freeze.compare(part, part, intended, whole=False).stale == ["a/1"]


def test_graphs_are_told_apart() -> None:
    def read(*edges: tuple[Any, ...], **options: Any) -> Any:
        return freeze_readings.read_graph(list(edges), **options)["graph"]

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
    only = "corpus/None"
    assert freeze.main(["--only", only]) == 0
    recorded = {**freeze.load_table(freeze.READINGS), only: {"graph": "changed"}}
    for name, table in ((freeze.READINGS, recorded), (freeze.SURFACE, {}), (freeze.INTENDED, {})):
        (tmp_path / name).write_text(freeze.write_table(table), encoding="utf-8")
    monkeypatch.setattr(freeze, "HERE", tmp_path)
    assert freeze.main(["--only", only]) == 1
    assert f"DIFFERENT {only}" in capsys.readouterr().out
    (tmp_path / freeze.INTENDED).write_text(json.dumps({only: "a test"}), encoding="utf-8")
    assert freeze.main(["--only", only]) == 0
