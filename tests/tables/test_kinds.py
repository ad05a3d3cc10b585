"""Step 3: the kind of a column follows from its values and, where they do not tell, from its name."""

from __future__ import annotations

import pytest

from graphrefine.tables.kinds import Kind, detect_kinds, find_kind


@pytest.mark.parametrize(
    ("values", "name", "kind"),
    [
        (["1", "2", "5"], None, Kind.INTEGER),
        (["1", "2.5"], None, Kind.NUMBER),
        (["a", "1"], None, Kind.TEXT),
        ([], None, Kind.TEXT),
        (["2024-01-05", "2024-01-06T10:00:00Z"], None, Kind.DATE),
        (["20240105", "20240206"], None, Kind.DATE),
        (["1082040961", "1082155839"], None, Kind.TIME),
        ([str(at) for at in range(8)], None, Kind.ROW_NUMBER),
        (["1", "2", "3"], None, Kind.INTEGER),  # three in a row are an accident
        (["2500000", "90", "17"], None, Kind.INTEGER),
        (["0", "1"], "index", Kind.ROW_NUMBER),
        (["x", "y"], "id", Kind.ROW_NUMBER),
    ],
)
def test_kinds(values: list[str], name: str | None, kind: Kind) -> None:
    assert find_kind(values, name) == kind


def test_columns_of_records() -> None:
    """A delimiter at the end of every line makes no column; a decimal comma is a number, but where commas split."""
    rows = [["a", "1,5", ""], ["b", "2", ""]]
    columns = detect_kinds(rows, None, ";")
    assert [(column.label, column.is_numeric) for column in columns] == [(0, False), (1, True)]
    named = detect_kinds(rows, ["node", "x", "y"], ",")
    assert [(column.label, column.values) for column in named] == [("node", ["a", "b"]), ("x", ["1,5", "2"]), ("y", [])]
